//===- AnnotateValueRanges.cpp - Ranges as attributes ----------------------===//
//
//   %r = nn.relu %x : tensor<4xf32>
// becomes
//   %r = nn.relu %x {range = "[0, inf] or NaN"} : tensor<4xf32>
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/OperationAttributeNames.h"
#include "passes/Passes.h"
#include "passes/analysis/ValueRangeAnalysis.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_ANNOTATEVALUERANGES
#include "passes/Passes.h.inc"

namespace {
struct AnnotateValueRanges : impl::AnnotateValueRangesBase<AnnotateValueRanges> {
  void runOnOperation() override {
    ValueRanges ranges(getOperation());
    getOperation().walk([&](Operation *op) {
      if (op->getNumResults() == 0 || !isa<RankedTensorType>(op->getResult(0).getType()))
        return;
      std::string text;
      for (Value result : op->getResults())
        text += (text.empty() ? "" : "; ") + ranges.get(result).str();
      op->setAttr(nn::valueRangeAttrName, StringAttr::get(&getContext(), text));
    });
  }
};
} // namespace

} // namespace kiln
