//===- SetTarget.cpp - A pass for tests: --kiln-set-target=name=NAME -------===//
#include "compiler/target/SetTarget.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/ModuleAttributeNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace kiln {

namespace {
struct SetTarget : PassWrapper<SetTarget, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SetTarget)
  SetTarget() = default;
  SetTarget(const SetTarget &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "kiln-set-target"; }
  StringRef getDescription() const override { return "Gives the module a target, by name or from a file; for tests of single passes"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<kernel::KernelDialect>(); }

  void runOnOperation() override {
    std::string error;
    std::vector<kernel::TargetAttr> targets = makeTargets(&getContext(), {name}, error);
    if (targets.empty()) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    getOperation()->setAttr(kernel::targetAttrName, targets.front());
  }

  Option<std::string> name{*this, "name", llvm::cl::desc("The target: a name that --target takes, or a file"), llvm::cl::init("generic")};
};
} // namespace

void registerSetTarget() { PassRegistration<SetTarget>(); }

} // namespace kiln
