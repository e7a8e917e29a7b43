//===- PatternReasons.cpp - Why patterns do not match ----------------------===//
#include "passes/graph/PatternReasons.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

namespace {
/// Has no state of its own, because a pass keeps a pointer to it and may run on any thread.
struct ReasonListener : RewriterBase::Listener {
  /// The pattern that the thread tries, and the operation that it tries it on.
  struct Attempt {
    StringRef pattern;
    Operation *op = nullptr;
  };
  static Attempt &current() {
    static thread_local Attempt attempt;
    return attempt;
  }

  void notifyPatternBegin(const Pattern &pattern, Operation *op) override {
    current() = {pattern.getDebugName().empty() ? StringRef(unnamedPattern) : pattern.getDebugName(), op};
  }
  void notifyPatternEnd(const Pattern &, LogicalResult) override { current() = {}; }

  void notifyMatchFailure(Location loc, function_ref<void(Diagnostic &)> describe) override {
    Attempt attempt = current();
    if (!attempt.op || !loc.getContext()->getRemarkEngine())
      return;
    Diagnostic reason(loc, DiagnosticSeverity::Remark);
    describe(reason);
    remark::missed(attempt.op->getLoc(), optionsFor(attempt.pattern, attempt.op)) << StringRef(reason.str());
  }

  void notifyOperationErased(Operation *op) override { remark::passed(op->getLoc(), optionsFor("", op)); }

private:
  static remark::RemarkOpts optionsFor(StringRef name, Operation *op) {
    return remark::RemarkOpts::name(name).category(matchCategory).function(op->getName().getStringRef());
  }
};
} // namespace

static RewriterBase::Listener *getListener() {
  static ReasonListener listener;
  return &listener;
}

LogicalResult applyPatterns(Operation *op, RewritePatternSet patterns) {
  GreedyRewriteConfig config;
  // Without a listener, the driver saves its calls for each pattern that it tries.
  if (op->getContext()->getRemarkEngine())
    config.setListener(getListener());
  return applyPatternsGreedily(op, std::move(patterns), config);
}

LogicalResult applyOnce(Operation *op, function_ref<LogicalResult(PatternRewriter &)> rewrite) {
  PatternRewriter rewriter(op->getContext());
  rewriter.setListener(getListener());
  rewriter.setInsertionPoint(op);
  ReasonListener::current() = {unnamedPattern, op};
  LogicalResult result = rewrite(rewriter);
  ReasonListener::current() = {};
  return result;
}

std::unique_ptr<Pass> createCanonicalizer() {
  GreedyRewriteConfig config;
  // The defaults of the pass, which are not those of the driver.
  config.setUseTopDownTraversal().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal).setListener(getListener());
  return createCanonicalizerPass(config);
}

} // namespace kiln
