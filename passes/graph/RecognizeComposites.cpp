//===- RecognizeComposites.cpp - Exporters' chains as one operation --------===//
//
//   %m = nn.reduce max %x [1]
//   %e = nn.exp (%x - %m)
//   %s = nn.reduce sum %e [1]
//   %r = %e / %s                       (shortened: broadcasts stand between)
//
// becomes
//
//   %r = nn.softmax %x axis 1
//
// The patterns are the bodies of the composites themselves (CompositeBodies.cpp). Composites with scales, masks and operands of several shapes are in
// RecognizeNormalizations.cpp and RecognizeAttention.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/Passes.h"
#include "passes/graph/ChainMatching.h"
#include "passes/graph/CompositeBodies.h"
#include "passes/graph/PatternReasons.h"

using namespace mlir;
using namespace kiln;

namespace kiln {
#define GEN_PASS_DEF_RECOGNIZECOMPOSITES
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// Any operation that ends the body of a composite.
struct RaiseBody : RewritePattern {
  RaiseBody(MLIRContext *context, std::vector<CompositeBody> &bodies) : RewritePattern(MatchAnyOpTypeTag(), 1, context), bodies(bodies) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!mayEndBody(op))
      return rewriter.notifyMatchFailure(op, "expected an operation on floats behind another one");
    // To build the bodies takes longer than all other passes over a model of a few operations, of which many have no candidate.
    if (bodies.empty())
      bodies = buildCompositeBodies(getContext());
    for (const CompositeBody &body : bodies)
      if (Operation *whole = body.raise(rewriter, op)) {
        rewriter.replaceOp(op, whole);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "expected the last operation of a composite's body");
  }

private:
  /// A body has two operations at least, besides views.
  static bool mayEndBody(Operation *op) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
    return type && isa<FloatType>(type.getElementType()) && llvm::any_of(op->getOperands(), [](Value operand) {
             auto broadcast = operand.getDefiningOp<nn::BroadcastToOp>();
             return operand.getDefiningOp() && !(broadcast && isa<BlockArgument>(broadcast.getInput()));
           });
  }

  /// Empty until an operation may end one.
  std::vector<CompositeBody> &bodies;
};
} // namespace

/// `x < y || x == y` is one comparison, also for NaN.
template <typename Strict, typename Weak> static LogicalResult mergeComparisons(nn::OrOp op, PatternRewriter &rewriter) {
  auto strict = op.getX().getDefiningOp<Strict>();
  auto equal = op.getY().getDefiningOp<nn::EqualOp>();
  if (!strict || !equal) {
    strict = op.getY().getDefiningOp<Strict>();
    equal = op.getX().getDefiningOp<nn::EqualOp>();
  }
  if (!strict || !equal)
    return rewriter.notifyMatchFailure(op, "expected a comparison or equality");
  ValueRange compared = strict->getOperands();
  bool same = compared == equal->getOperands() || (compared[0] == equal.getY() && compared[1] == equal.getX());
  if (!same)
    return rewriter.notifyMatchFailure(op, "expected the same operands on both sides");
  rewriter.replaceOpWithNewOp<Weak>(op, op.getType(), compared[0], compared[1]);
  return success();
}

namespace {
struct RecognizeCompositesPass : kiln::impl::RecognizeCompositesBase<RecognizeCompositesPass> {
  void runOnOperation() override {
    std::vector<CompositeBody> bodies;
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseBody>(&getContext(), bodies);
    patterns.add(mergeComparisons<nn::LessOp, nn::LessEqualOp>);
    patterns.add(mergeComparisons<nn::GreaterOp, nn::GreaterEqualOp>);
    populateNormalizationPatterns(patterns);
    populateRowMovementPatterns(patterns);
    populateAttentionPatterns(patterns);
    populateLossPatterns(patterns);
    RewritePatternSet last(&getContext());
    populateCrossEntropyPatterns(last);
    if (failed(applyPatterns(getOperation(), std::move(patterns))) || failed(applyPatterns(getOperation(), std::move(last))))
      signalPassFailure();
  }
};
} // namespace
