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
// What is looked for are the bodies of the composites themselves (CompositeBodies.cpp); what has scales, masks and operands of several shapes is in
// RecognizeNormalizations.cpp and RecognizeAttention.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/graph/ChainMatching.h"
#include "passes/graph/CompositeBodies.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace kiln;

namespace kiln {
#define GEN_PASS_DEF_RECOGNIZECOMPOSITES
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// Any operation that ends the body of a composite.
struct RaiseBody : RewritePattern {
  RaiseBody(MLIRContext *context, ArrayRef<CompositeBody> bodies) : RewritePattern(MatchAnyOpTypeTag(), 1, context), bodies(bodies) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    for (const CompositeBody &body : bodies)
      if (Operation *whole = body.raise(rewriter, op)) {
        rewriter.replaceOp(op, whole);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "expected the last operation of a composite's body");
  }

  ArrayRef<CompositeBody> bodies;
};
} // namespace

namespace {
struct RecognizeCompositesPass : kiln::impl::RecognizeCompositesBase<RecognizeCompositesPass> {
  void runOnOperation() override {
    std::vector<CompositeBody> bodies = buildCompositeBodies(&getContext());
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseBody>(&getContext(), ArrayRef(bodies));
    populateNormalizationPatterns(patterns);
    populateRowMovementPatterns(patterns);
    populateAttentionPatterns(patterns);
    populateLossPatterns(patterns);
    RewritePatternSet last(&getContext());
    populateCrossEntropyPatterns(last);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) || failed(applyPatternsGreedily(getOperation(), std::move(last))))
      signalPassFailure();
  }
};
} // namespace
