//===- VerifyKernel.cpp - The promise of the kernel stage ------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Refusal.h"
#include "passes/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_VERIFYKERNEL
#include "passes/Passes.h.inc"

/// Buffers are flat; memory comes from the workspace or, small and static, from the stack.
static LogicalResult verifyOp(Operation *op) {
  if (isa<nn::NNDialect>(op->getDialect()))
    return op->emitOpError("is an nn operation after the kernel stage");
  if (isa<memref::AllocOp>(op))
    return op->emitOpError("allocates after memory planning");
  for (Value value : op->getResults())
    if (auto type = dyn_cast<MemRefType>(value.getType()); type && type.getRank() != 1)
      return op->emitOpError("has a buffer of rank ") << type.getRank() << "; expected flat buffers";
  return success();
}

static LogicalResult verifyLaunch(kernel::LaunchOp launch, const SymbolTable &symbols) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  if (!kernel || kernel.isExternal())
    return launch.emitOpError("launches an unknown kernel '") << launch.getKernel() << "'";
  unsigned count = kernel.getNumArguments();
  if (count < 2 || !kernel.getArgumentTypes()[count - 2].isIndex() || !kernel.getArgumentTypes()[count - 1].isIndex() || kernel.getNumResults())
    return launch.emitOpError("launches '") << launch.getKernel() << "', which is not a kernel: its last arguments must be its range of tasks";
  TypeRange expected = TypeRange(kernel.getArgumentTypes()).drop_back(2);
  if (TypeRange(launch.getOperandTypes()).drop_back() != expected)
    return launch.emitOpError("passes operands that do not fit kernel '") << launch.getKernel() << "'";
  return success();
}

namespace {
struct VerifyKernel : impl::VerifyKernelBase<VerifyKernel> {
  void runOnOperation() override {
    bool ok = true;
    SymbolTable symbols(getOperation());
    getOperation().walk([&](Operation *op) {
      ok &= succeeded(verifyOp(op));
      if (auto launch = dyn_cast<kernel::LaunchOp>(op))
        ok &= succeeded(verifyLaunch(launch, symbols));
    });
    if (llvm::range_size(llvm::make_filter_range(*getOperation().getBody(), [](Operation &op) { return isa<kernel::EntryOp>(op); })) != 1) {
      kernel::emitRefusal(getOperation()) << "expected one kernel.entry after the kernel stage";
      ok = false;
    }
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
