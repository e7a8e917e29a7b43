//===- ChooseKernels.cpp - The target's first matching kernel for each group -===//
//
//   nn.group(%x) : ... { nn.softmax }
// becomes
//   nn.group(%x) {kernel = "softmax_rows", reason = "kept whole: ..."} : ... { nn.softmax }
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/lowering/KernelTable.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHOOSEKERNELS
#include "passes/Passes.h.inc"

static LogicalResult chooseKernel(nn::GroupOp group, kernel::TargetAttr target, bool plainest) {
  Operation *anchor = getAnchor(group);
  SmallVector<const KernelRow *> rows = llvm::to_vector(llvm::make_pointer_range(getKernelTable()));
  if (plainest)
    std::reverse(rows.begin(), rows.end());
  for (const KernelRow *row : rows) {
    std::string reason;
    if (!row->matches(group, anchor, target, reason))
      continue;
    group.setKernel(row->name);
    group.setReason(plainest ? "the least special kernel was asked for" : reason);
    return success();
  }
  InFlightDiagnostic error = group.emitError("no kernel of target '") << target.getName() << "' computes ";
  return anchor ? error << anchor->getName() << " of type " << anchor->getResult(0).getType() : error << "this group";
}

namespace {
struct ChooseKernels : impl::ChooseKernelsBase<ChooseKernels> {
  using ChooseKernelsBase::ChooseKernelsBase;
  void runOnOperation() override {
    kernel::TargetAttr target = kernel::getTarget(getOperation());
    if (!target) {
      getOperation().emitError("expected the module attribute kernel.target");
      return signalPassFailure();
    }
    bool ok = true;
    getOperation().walk([&](nn::GroupOp group) { ok &= succeeded(chooseKernel(group, target, plainest)); });
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
