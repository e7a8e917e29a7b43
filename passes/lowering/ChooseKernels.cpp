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

static LogicalResult chooseKernel(nn::GroupOp group, kernel::TargetAttr target) {
  Operation *anchor = getAnchor(group);
  for (const KernelRow &row : getKernelTable()) {
    std::string reason;
    if (!row.matches(group, anchor, target, reason))
      continue;
    group.setKernel(row.name);
    group.setReason(reason);
    return success();
  }
  InFlightDiagnostic error = group.emitError("no kernel of target '") << target.getName() << "' computes ";
  return anchor ? error << anchor->getName() << " of type " << anchor->getResult(0).getType() : error << "this group";
}

namespace {
struct ChooseKernels : impl::ChooseKernelsBase<ChooseKernels> {
  void runOnOperation() override {
    kernel::TargetAttr target = kernel::getTarget(getOperation());
    if (!target) {
      getOperation().emitError("expected the module attribute kernel.target");
      return signalPassFailure();
    }
    bool ok = true;
    getOperation().walk([&](nn::GroupOp group) { ok &= succeeded(chooseKernel(group, target)); });
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
