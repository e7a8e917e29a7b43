//===- RecognizeActivations.cpp - Gelu, swish, softplus and the like -------===//
#include "passes/graph/ChainMatching.h"

#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// The exp of 1 + exp(x), or null.
static ExpOp expPlusOne(Value value) {
  Value rest = stripNumber<AddOp>(value, 1.0);
  return rest ? rest.getDefiningOp<ExpOp>() : nullptr;
}

static FloatAttr number(PatternRewriter &rewriter, double value) { return rewriter.getF64FloatAttr(value); }

namespace {

/// log(1 + exp(x))
struct Softplus : OpRewritePattern<LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LogOp op, PatternRewriter &rewriter) const override {
    ExpOp exp = expPlusOne(op.getX());
    if (!exp)
      return rewriter.notifyMatchFailure(op, "expected the log of 1 + exp(x)");
    auto fused = SoftplusOp::create(rewriter, chainLocation(op, exp.getX()), op.getType(), exp.getX());
    rewriter.replaceOp(op, fused);
    return success();
  }
};

/// 1 / (1 + exp(-x)), as a division or a reciprocal
struct Sigmoid : RewritePattern {
  explicit Sigmoid(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto div = dyn_cast<DivOp>(op);
    if (!isa<ReciprocalOp>(op) && !(div && isClose(getSplatNumber(div.getX()), 1.0)))
      return rewriter.notifyMatchFailure(op, "expected a reciprocal");
    ExpOp exp = expPlusOne(op->getOperands().back());
    auto neg = exp ? exp.getX().getDefiningOp<NegOp>() : nullptr;
    if (!neg)
      return rewriter.notifyMatchFailure(op, "expected 1 + exp(-x)");
    auto fused = SigmoidOp::create(rewriter, chainLocation(op, neg.getX()), neg.getType(), neg.getX(), exp.getAccuracy());
    rewriter.replaceOp(op, fused);
    return success();
  }
};

/// clamp(x * a + b, 0, 1)
struct HardSigmoid : OpRewritePattern<ClampOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ClampOp op, PatternRewriter &rewriter) const override {
    auto add = op.getX().getDefiningOp<AddOp>();
    std::optional<double> beta = add ? getSplatNumber(add.getY()) : std::nullopt;
    if (!beta || op.getMin().convertToDouble() != 0.0 || op.getMax().convertToDouble() != 1.0)
      return rewriter.notifyMatchFailure(op, "expected a clamp to [0, 1] of a sum with a number");
    Product product = flattenProduct(add.getX());
    if (product.factors.size() != 1 || product.factors[0] == add.getX() || !(product.number > 0.0))
      return rewriter.notifyMatchFailure(op, "expected a multiple of one value");
    Value x = product.factors[0];
    auto fused = HardSigmoidOp::create(rewriter, chainLocation(op, x), op.getType(), x, number(rewriter, product.number), number(rewriter, *beta));
    rewriter.replaceOp(op, fused);
    return success();
  }
};

/// Everything whose root is a product.
struct ProductForms : RewritePattern {
  explicit ProductForms(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<MulOp, DivOp>(op))
      return rewriter.notifyMatchFailure(op, "expected a product or quotient");
    Product product = flattenProduct(op->getResult(0));
    for (Value factor : product.factors)
      if (Operation *kind = factor.getDefiningOp())
        for (auto match : {matchGelu, matchSwish, matchHardSwish, matchMish})
          if (succeeded(match(op, product, kind, rewriter)))
            return success();
    return rewriter.notifyMatchFailure(op, "expected the factors of an activation");
  }

private:
  using Match = LogicalResult(Operation *, const Product &, Operation *, PatternRewriter &);

  template <typename OpTy, typename... Args>
  static LogicalResult replace(Operation *op, PatternRewriter &rewriter, Value x, Args... args) {
    auto fused = OpTy::create(rewriter, chainLocation(op, x), op->getResult(0).getType(), x, args...);
    rewriter.replaceOp(op, fused);
    return success();
  }

  /// The cubic argument of the tanh form: sqrt(2 / pi) * (x + 0.044715 * x^3), or with x taken out.
  static Value tanhArgument(Value argument) {
    Product outer = flattenProduct(argument);
    constexpr double root = 0.79788456080286535588, cubic = 0.044715;
    if (!isClose(outer.number, root))
      return nullptr;
    for (Value factor : outer.factors) {
      auto add = factor.getDefiningOp<AddOp>();
      if (!add)
        continue;
      for (auto [x, rest] : {std::pair(add.getX(), add.getY()), std::pair(add.getY(), add.getX())}) {
        Product inner = flattenProduct(rest);
        if (outer.isExactly(root, {factor}) && inner.isExactly(cubic, {x, x, x}))
          return x;
        if (isClose(getSplatNumber(x), 1.0) && inner.factors.size() == 2 && inner.isExactly(cubic, {inner.factors[0], inner.factors[0]}) &&
            outer.isExactly(root, {factor, inner.factors[0]}))
          return inner.factors[0];
      }
    }
    return nullptr;
  }

  /// 0.5 * x * (1 + erf(x / sqrt(2))) and the tanh form
  static LogicalResult matchGelu(Operation *op, const Product &product, Operation *kind, PatternRewriter &rewriter) {
    Value function = stripNumber<AddOp>(kind->getResult(0), 1.0);
    if (auto erf = function ? function.getDefiningOp<ErfOp>() : nullptr) {
      Product argument = flattenProduct(erf.getX());
      if (argument.factors.size() == 1 && isClose(argument.number, 0.70710678118654752440) &&
          product.isExactly(0.5, {argument.factors[0], kind->getResult(0)}))
        return replace<GeluOp>(op, rewriter, argument.factors[0]);
    }
    if (auto tanh = function ? function.getDefiningOp<TanhOp>() : nullptr)
      if (Value x = tanhArgument(tanh.getX()); x && product.isExactly(0.5, {x, kind->getResult(0)}))
        return replace<GeluTanhOp>(op, rewriter, x);
    return failure();
  }

  /// x * sigmoid(alpha * x)
  static LogicalResult matchSwish(Operation *op, const Product &product, Operation *kind, PatternRewriter &rewriter) {
    auto sigmoid = dyn_cast<SigmoidOp>(kind);
    if (!sigmoid || product.factors.size() != 2)
      return failure();
    if (product.isExactly(1.0, {sigmoid.getX(), sigmoid}))
      return replace<SwishOp>(op, rewriter, sigmoid.getX(), number(rewriter, 1.0), sigmoid.getAccuracyAttr());
    Product argument = flattenProduct(sigmoid.getX());
    if (argument.factors.size() != 1 || !product.isExactly(1.0, {argument.factors[0], sigmoid}))
      return failure();
    return replace<SwishOp>(op, rewriter, argument.factors[0], number(rewriter, argument.number), sigmoid.getAccuracyAttr());
  }

  /// x * hard_sigmoid(x), x * clamp(x + 3, 0, 6) / 6, and the latter without the x
  static LogicalResult matchHardSwish(Operation *op, const Product &product, Operation *kind, PatternRewriter &rewriter) {
    if (auto hard = dyn_cast<HardSigmoidOp>(kind)) {
      bool sixth = isClose(hard.getAlpha().convertToDouble(), 1.0 / 6.0) && isClose(hard.getBeta().convertToDouble(), 0.5);
      return sixth && product.isExactly(1.0, {hard.getX(), hard}) ? replace<HardSwishOp>(op, rewriter, hard.getX()) : failure();
    }
    auto clamp = dyn_cast<ClampOp>(kind);
    Value x = clamp ? stripNumber<AddOp>(clamp.getX(), 3.0) : Value();
    if (!x || clamp.getMin().convertToDouble() != 0.0 || clamp.getMax().convertToDouble() != 6.0)
      return failure();
    if (product.isExactly(1.0 / 6.0, {x, clamp}))
      return replace<HardSwishOp>(op, rewriter, x);
    if (product.isExactly(1.0 / 6.0, {clamp}))
      return replace<HardSigmoidOp>(op, rewriter, x, number(rewriter, 1.0 / 6.0), number(rewriter, 0.5));
    return failure();
  }

  /// x * tanh(softplus(x))
  static LogicalResult matchMish(Operation *op, const Product &product, Operation *kind, PatternRewriter &rewriter) {
    auto tanh = dyn_cast<TanhOp>(kind);
    auto softplus = tanh ? tanh.getX().getDefiningOp<SoftplusOp>() : nullptr;
    return softplus && product.isExactly(1.0, {softplus.getX(), tanh}) ? replace<MishOp>(op, rewriter, softplus.getX()) : failure();
  }
};

} // namespace

void kiln::populateActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<Softplus, Sigmoid, HardSigmoid, ProductForms>(patterns.getContext());
}
