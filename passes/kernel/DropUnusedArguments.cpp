//===- DropUnusedArguments.cpp - Sizes that a kernel does not use -----------===//
//
//   func @k(%x, %s0, %s1, %begin, %end)             func @k(%x, %s1, %begin, %end)
//   launch @k(%a, %n, %m) tasks(%t)            =>   launch @k(%a, %m) tasks(%t)      where @k does not use %s0
//
// Kernels are created with an argument for each of the model's symbols, of which most kernels use only a few.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Work.h"
#include "passes/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_DROPUNUSEDARGUMENTS
#include "passes/Passes.h.inc"

/// The positions of the operands from which a launch's work is computed.
static void markWork(kernel::LaunchOp launch, llvm::BitVector &used) {
  std::optional<AffineMap> work = kernel::getWork(launch);
  if (!work)
    return;
  unsigned first = launch.getOperands_().size() - work->getNumSymbols();
  for (unsigned i = 0; i < work->getNumSymbols(); ++i)
    if (work->isFunctionOfSymbol(i))
      used.set(first + i);
}

/// Rewrites the work in terms of the remaining symbols.
static void renumberWork(kernel::LaunchOp launch, const llvm::BitVector &unused) {
  std::optional<AffineMap> work = kernel::getWork(launch);
  if (!work)
    return;
  MLIRContext *context = launch.getContext();
  unsigned first = launch.getOperands_().size() - work->getNumSymbols(), left = 0;
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < work->getNumSymbols(); ++i)
    symbols.push_back(unused.test(first + i) ? getAffineConstantExpr(0, context) : getAffineSymbolExpr(left++, context));
  launch->setAttr(kernel::workAttrName, AffineMapAttr::get(work->replaceDimsAndSymbols({}, symbols, 0, left)));
}

/// Erases operations that have become unused, and then their operands.
static void eraseDead(llvm::SetVector<Operation *> candidates) {
  while (!candidates.empty()) {
    Operation *candidate = candidates.pop_back_val();
    if (!isOpTriviallyDead(candidate))
      continue;
    SmallVector<Value> operands(candidate->getOperands());
    candidate->erase();
    for (Value operand : operands)
      if (Operation *source = operand.getDefiningOp())
        candidates.insert(source);
  }
}

/// The arguments of type index that neither the kernel nor the work of its launches uses.
static llvm::BitVector findUnused(func::FuncOp kernel, ArrayRef<kernel::LaunchOp> launches) {
  // The range of tasks is given by the launch.
  unsigned count = kernel.getNumArguments() - 2;
  llvm::BitVector used(count);
  for (unsigned i = 0; i < count; ++i)
    if (!kernel.getArgument(i).use_empty() || !kernel.getArgument(i).getType().isIndex())
      used.set(i);
  for (kernel::LaunchOp launch : launches)
    markWork(launch, used);
  return used.flip();
}

static void dropOperands(kernel::LaunchOp launch, const llvm::BitVector &unused) {
  renumberWork(launch, unused);
  llvm::SetVector<Operation *> sources;
  SmallVector<Value> left;
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_()))
    if (!unused.test(i))
      left.push_back(operand);
    else if (Operation *source = operand.getDefiningOp())
      sources.insert(source);
  launch.getOperands_Mutable().assign(left);
  eraseDead(std::move(sources));
}

namespace {
struct DropUnusedArguments : impl::DropUnusedArgumentsBase<DropUnusedArguments> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<func::FuncOp, SmallVector<kernel::LaunchOp>> launches;
    getOperation().walk([&](kernel::LaunchOp launch) {
      auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
      if (kernel && !kernel.isExternal() && kernel.getNumArguments() == launch.getOperands_().size() + 2)
        launches[kernel].push_back(launch);
    });
    for (auto &[kernel, list] : launches) {
      llvm::BitVector unused = findUnused(kernel, list);
      if (unused.none())
        continue;
      for (kernel::LaunchOp launch : list)
        dropOperands(launch, unused);
      unused.resize(kernel.getNumArguments());
      if (failed(kernel.eraseArguments(unused)))
        return signalPassFailure();
    }
  }
};
} // namespace

} // namespace kiln
