//===- SplitEntry.cpp - A long entry as several functions ------------------===//
//
//   %a = memref.view %workspace[%c0]               scf.execute_region no_inline {
//   launch @k0(%x, %a)                               %a = memref.view %workspace[%c0]
//   %b = memref.view %workspace[%c64]      =>        launch @k0(%x, %a)
//   launch @k1(%a, %b)                               %b = memref.view %workspace[%c64]
//   ...                                              launch @k1(%a, %b)
//                                                    scf.yield }
//                                                  scf.execute_region no_inline { ... }
//
// A C++ compiler takes more than linear time in the size of a function. Addresses are cheap and are computed again in each region that
// uses them. Other values that only one region uses are computed in it. The rest stay outside, where all regions see them.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SPLITENTRY
#include "passes/Passes.h.inc"

namespace {

class Splitter {
public:
  Splitter(Block &block, const SymbolTable &symbols, unsigned partLaunches) : block(block), symbols(symbols), partLaunches(partLaunches) {}
  void run();

private:
  bool isAddress(Operation &op) const;
  bool isUsedOutsideOf(Operation &op, unsigned part) const;
  void findStatusCells();
  void assignParts();
  void movePart(ArrayRef<Operation *> members);
  Value findInPart(Value value);

  Block &block;
  const SymbolTable &symbols;
  unsigned partLaunches;
  /// The cells in which kernels report faults. They are cleared once, where they are defined.
  llvm::DenseSet<Value> statusCells;
  /// The members of each part, both from the last to the first.
  SmallVector<SmallVector<Operation *>> parts;
  llvm::DenseMap<Operation *, unsigned> partOf;
  scf::ExecuteRegionOp part;
  /// Addresses as the open region computes them.
  IRMapping inPart;
};

} // namespace

void Splitter::findStatusCells() {
  block.walk([&](kernel::LaunchOp launch) {
    auto callee = symbols.lookup<func::FuncOp>(launch.getKernel());
    for (unsigned i = 0, count = callee ? callee.getNumArguments() : 0; i < count && i < launch.getOperands_().size(); ++i)
      if (callee.getArgAttr(i, kernel::statusAttrName))
        statusCells.insert(launch.getOperands_()[i]);
  });
}

bool Splitter::isAddress(Operation &op) const {
  if (op.getNumResults() != 1 || op.getNumRegions() != 0)
    return false;
  if (isa<memref::ViewOp>(op))
    return !statusCells.contains(op.getResult(0));
  return isa<kernel::GetWeightOp, memref::CastOp, arith::ConstantOp>(op);
}

bool Splitter::isUsedOutsideOf(Operation &op, unsigned part) const {
  return llvm::any_of(op.getUsers(), [&](Operation *user) {
    auto found = partOf.find(block.findAncestorOpInBlock(*user));
    return found == partOf.end() || found->second != part;
  });
}

/// Goes from the last operation to the first, so that the users of a value are visited before its definition.
void Splitter::assignParts() {
  unsigned launches = 0;
  bool isOpen = false;
  for (Operation &op : llvm::reverse(block)) {
    if (isAddress(op))
      continue;
    // The operation may run at any time, so it does not end a part.
    bool isCell = llvm::any_of(op.getResults(), [&](Value result) { return statusCells.contains(result); });
    bool stays = isCell || op.hasTrait<OpTrait::IsTerminator>() || (op.getNumResults() != 0 && (!isOpen || isUsedOutsideOf(op, parts.size() - 1)));
    if (stays) {
      isOpen &= !isCell && isMemoryEffectFree(&op);
      continue;
    }
    // A value belongs to the part that uses it, even if the part becomes longer.
    if (!isOpen || (launches >= partLaunches && op.getNumResults() == 0)) {
      parts.emplace_back();
      isOpen = true;
      launches = 0;
    }
    op.walk([&](kernel::LaunchOp) { ++launches; });
    parts.back().push_back(&op);
    partOf[&op] = parts.size() - 1;
  }
}

/// The value as seen from the open region; addresses are computed again there.
Value Splitter::findInPart(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block || !isAddress(*op))
    return value;
  if (Value known = inPart.lookupOrNull(value))
    return known;
  for (Value operand : op->getOperands())
    findInPart(operand);
  OpBuilder b(part.getRegion().front().getTerminator());
  return b.clone(*op, inPart)->getResult(0);
}

/// Closes the region after its last member, when everything that the members use from outside is known.
void Splitter::movePart(ArrayRef<Operation *> members) {
  OpBuilder b(block.getParentOp()->getContext());
  b.setInsertionPointAfter(members.front());
  Location loc = members.front()->getLoc();
  part = scf::ExecuteRegionOp::create(b, loc, TypeRange(), /*no_inline=*/true);
  b.createBlock(&part.getRegion());
  Operation *end = scf::YieldOp::create(b, loc);
  inPart.clear();
  for (Operation *op : llvm::reverse(members)) {
    op->walk([&](Operation *user) {
      for (OpOperand &operand : user->getOpOperands())
        operand.set(findInPart(operand.get()));
    });
    op->moveBefore(end);
  }
}

void Splitter::run() {
  findStatusCells();
  assignParts();
  for (ArrayRef<Operation *> members : parts)
    movePart(members);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && isAddress(op))
      op.erase();
}

namespace {
struct SplitEntry : impl::SplitEntryBase<SplitEntry> {
  using SplitEntryBase::SplitEntryBase;
  void runOnOperation() override {
    SmallVector<Block *> longBlocks;
    getOperation().walk([&](kernel::EntryOp entry) {
      entry.walk([&](Block *block) {
        if (llvm::range_size(block->getOps<kernel::LaunchOp>()) + llvm::range_size(block->getOps<scf::IfOp>()) > mostLaunches)
          longBlocks.push_back(block);
      });
    });
    SymbolTable symbols(getOperation());
    for (Block *block : longBlocks)
      Splitter(*block, symbols, std::max(1u, static_cast<unsigned>(partLaunches))).run();
  }
};
} // namespace

} // namespace kiln
