//===- VerifyGraph.cpp - The promise of the graph stage --------------------===//
#include "passes/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_VERIFYGRAPH
#include "passes/Passes.h.inc"

/// Every dynamic dimension must have its expression of the symbols.
static LogicalResult verifyDimsKnown(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape() && !isa_and_nonnull<nn::DimsAttr>(tensor.getEncoding()))
      return op->emitOpError("has a result of type ") << type << " with a dimension that no symbol describes";
  }
  return success();
}

namespace {
struct VerifyGraph : impl::VerifyGraphBase<VerifyGraph> {
  void runOnOperation() override {
    bool ok = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        if (!isa<nn::NNDialect, func::FuncDialect>(op->getDialect())) {
          op->emitOpError("is not an nn operation after the graph stage");
          ok = false;
        }
        ok &= succeeded(verifyDimsKnown(op));
      });
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace kiln
