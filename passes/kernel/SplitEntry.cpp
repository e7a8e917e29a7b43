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
// What a C++ compiler does to a function takes longer than linearly in its size. Addresses are cheap and are computed again in each region that
// uses them; what has other results stays outside, where all regions see it.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"

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
  void findStatusCells();
  void moveIntoPart(Operation &op);
  Value findInPart(Value value);

  Block &block;
  const SymbolTable &symbols;
  unsigned partLaunches;
  /// Cells that kernels report faults in: they are cleared where they are defined, once.
  llvm::DenseSet<Value> statusCells;
  scf::ExecuteRegionOp part;
  unsigned launches = 0;
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

/// The value in the open region, computed there when it is an address.
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

void Splitter::moveIntoPart(Operation &op) {
  op.walk([&](Operation *user) {
    launches += isa<kernel::LaunchOp>(user);
    for (OpOperand &operand : user->getOpOperands())
      operand.set(findInPart(operand.get()));
  });
  op.moveBefore(part.getRegion().front().getTerminator());
}

void Splitter::run() {
  findStatusCells();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isAddress(op))
      continue;
    // What others see, or is declared for the whole run, stays outside and between the regions around it.
    bool stays = op.getNumResults() != 0 || op.hasTrait<OpTrait::IsTerminator>();
    if (stays || launches >= partLaunches)
      part = {};
    if (stays)
      continue;
    if (!part) {
      OpBuilder b(&op);
      part = scf::ExecuteRegionOp::create(b, op.getLoc(), TypeRange(), /*no_inline=*/true);
      b.createBlock(&part.getRegion());
      scf::YieldOp::create(b, op.getLoc());
      inPart.clear();
      launches = 0;
    }
    moveIntoPart(op);
  }
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
