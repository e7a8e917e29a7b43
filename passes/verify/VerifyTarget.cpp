//===- VerifyTarget.cpp - The promise of the target stage ------------------===//
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/target/choice/KernelTable.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_VERIFYTARGET
#include "passes/Passes.h.inc"

static LogicalResult verifyDecided(Operation &op) {
  if (auto loop = dyn_cast<nn::LoopOp>(op))
    return success(llvm::all_of(loop.getBody().front(), [](Operation &inner) { return succeeded(verifyDecided(inner)); }));
  if (auto group = dyn_cast<nn::GroupOp>(op)) {
    if (!group.getPlan() || !group.getReason())
      return group.emitOpError("is a group without a plan or a reason after the target stage");
    std::string fault = findPlanFault(group);
    return fault.empty() ? success() : group.emitOpError("has a plan that its kernel cannot follow: ") << fault;
  }
  if (isa<nn::ConstantOp, nn::ReshapeOp, nn::ChooseOp, nn::YieldOp, func::ReturnOp>(op))
    return success();
  return op.emitOpError("is outside of a group after the target stage");
}

namespace {
struct VerifyTarget : impl::VerifyTargetBase<VerifyTarget> {
  void runOnOperation() override {
    bool ok = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Operation &op : function.getBody().front())
        ok &= succeeded(verifyDecided(op));
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
