//===- RecognizeNormalizations.cpp - Softmax, layer norm, RMS norm ---------===//
#include "dialects/nn/Dims.h"
#include "passes/graph/ChainMatching.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// The reduction behind a broadcast, when it is of this kind.
static ReduceOp reductionOf(Value value, ReduceKind kind) {
  auto reduce = skipBroadcast(value).getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == kind ? reduce : nullptr;
}

/// x in x - max(x) along the axes, or the value itself: softmax does not change when a row moves.
static Value withoutMax(Value value, ArrayRef<int64_t> axes) {
  auto sub = value.getDefiningOp<SubOp>();
  ReduceOp max = sub ? reductionOf(sub.getY(), ReduceKind::Max) : nullptr;
  return max && max.getInput() == sub.getX() && max.getAxes() == axes ? sub.getX() : value;
}

/// d in 1 / d, broadcast before or after.
static Value reciprocalOf(Value value) {
  auto reciprocal = value.getDefiningOp<ReciprocalOp>();
  if (!reciprocal)
    reciprocal = skipBroadcast(value).getDefiningOp<ReciprocalOp>();
  if (reciprocal)
    return reciprocal.getX();
  auto div = skipBroadcast(value).getDefiningOp<DivOp>();
  return div && isClose(getSplatNumber(div.getX()), 1.0) ? div.getY() : Value();
}

/// (numerator, denominator) of a / b, a * (1 / b) or (1 / b) * a.
static SmallVector<std::pair<Value, Value>> quotients(Operation *op) {
  SmallVector<std::pair<Value, Value>> found;
  if (auto div = dyn_cast<DivOp>(op))
    found.push_back({div.getX(), div.getY()});
  if (auto mul = dyn_cast<MulOp>(op))
    for (auto [a, b] : {std::pair(mul.getX(), mul.getY()), std::pair(mul.getY(), mul.getX())})
      if (Value divisor = reciprocalOf(b))
        found.push_back({a, divisor});
  return found;
}

namespace {

/// exp(x) / sum(exp(x)), with or without the max
struct Softmax : RewritePattern {
  explicit Softmax(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    for (auto [numerator, denominator] : quotients(op)) {
      auto exp = numerator.getDefiningOp<ExpOp>();
      ReduceOp sum = reductionOf(denominator, ReduceKind::Sum);
      if (!exp || !sum || sum.getInput() != numerator || sum.getAxes().size() != 1)
        continue;
      if (!numerator.hasNUses(2))
        return rewriter.notifyMatchFailure(op, "expected the exp to have no user outside the softmax");
      Value x = withoutMax(exp.getX(), sum.getAxes());
      auto fused = SoftmaxOp::create(rewriter, chainLocation(op, x), exp.getType(), x, sum.getAxes()[0], exp.getAccuracy());
      rewriter.replaceOp(op, fused);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected an exp divided by its sum along one axis");
  }
};

/// log(softmax(x))
struct LogOfSoftmax : OpRewritePattern<LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LogOp op, PatternRewriter &rewriter) const override {
    auto softmax = op.getX().getDefiningOp<SoftmaxOp>();
    if (!softmax || !softmax->hasOneUse())
      return rewriter.notifyMatchFailure(op, "expected the log of a softmax without other users");
    Location loc = rewriter.getFusedLoc({softmax.getLoc(), op.getLoc()});
    auto fused = LogSoftmaxOp::create(rewriter, loc, op.getType(), softmax.getInput(), softmax.getAxis(), softmax.getAccuracy());
    rewriter.replaceOp(op, fused);
    return success();
  }
};

/// y - log(sum(exp(y))), with or without the max in y
struct LogSoftmax : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SubOp op, PatternRewriter &rewriter) const override {
    auto log = skipBroadcast(op.getY()).getDefiningOp<LogOp>();
    ReduceOp sum = log ? reductionOf(log.getX(), ReduceKind::Sum) : nullptr;
    auto exp = sum ? sum.getInput().getDefiningOp<ExpOp>() : nullptr;
    if (!exp || exp.getX() != op.getX() || sum.getAxes().size() != 1)
      return rewriter.notifyMatchFailure(op, "expected y - log(sum(exp(y))) along one axis");
    Value x = withoutMax(op.getX(), sum.getAxes());
    auto fused = LogSoftmaxOp::create(rewriter, chainLocation(op, x), op.getType(), x, sum.getAxes()[0], exp.getAccuracy());
    rewriter.replaceOp(op, fused);
    return success();
  }
};

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon), and without the mean
struct Normalize : RewritePattern {
  explicit Normalize(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  /// x * x or x^2, in that x.
  static Value squareOf(Value value) {
    Product product = flattenProduct(value);
    bool square = product.factors.size() == 2 && product.factors[0] == product.factors[1] && product.number == 1.0;
    return square ? product.factors[0] : Value();
  }

  /// (variance, epsilon) of sqrt(variance + epsilon).
  static std::pair<Value, double> variancePlusEpsilon(Value deviation) {
    auto sqrt = skipBroadcast(deviation).getDefiningOp<SqrtOp>();
    auto add = sqrt ? skipBroadcast(sqrt.getX()).getDefiningOp<AddOp>() : nullptr;
    if (!add)
      return {nullptr, 0.0};
    if (auto epsilon = getSplatNumber(add.getY()))
      return {add.getX(), *epsilon};
    auto epsilon = getSplatNumber(add.getX());
    return epsilon ? std::pair(Value(add.getY()), *epsilon) : std::pair(Value(), 0.0);
  }

  static bool areTrailing(ArrayRef<int64_t> axes, int64_t rank) {
    return !axes.empty() && llvm::equal(axes, llvm::seq<int64_t>(rank - axes.size(), rank));
  }

  /// The value that is normalized when it is centered: x of x - mean(x).
  static Value centeredSource(Value value, ArrayRef<int64_t> axes) {
    auto sub = value.getDefiningOp<SubOp>();
    ReduceOp mean = sub ? reductionOf(sub.getY(), ReduceKind::Mean) : nullptr;
    return mean && mean.getInput() == sub.getX() && mean.getAxes() == axes ? sub.getX() : Value();
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    for (auto [numerator, denominator] : quotients(op)) {
      auto [variance, epsilon] = variancePlusEpsilon(denominator);
      ReduceOp mean = variance ? reductionOf(variance, ReduceKind::Mean) : nullptr;
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (!mean || squareOf(mean.getInput()) != numerator || !areTrailing(mean.getAxes(), type.getRank()))
        continue;
      uint64_t axis = mean.getAxes().front();
      DimExprs dims = getDims(type);
      auto scaleType = makeTensorType(ArrayRef(dims).drop_front(axis), type.getElementType());
      Value one = SplatOp::create(rewriter, op->getLoc(), scaleType, FloatAttr::get(type.getElementType(), 1.0));
      FloatAttr epsilonAttr = rewriter.getF64FloatAttr(epsilon);
      Operation *fused;
      if (Value x = centeredSource(numerator, mean.getAxes()))
        fused = LayerNormOp::create(rewriter, chainLocation(op, x), type, x, one, Value(), axis, epsilonAttr.getValue());
      else
        fused = RmsNormOp::create(rewriter, chainLocation(op, numerator), type, numerator, one, axis, epsilonAttr.getValue());
      rewriter.replaceOp(op, fused);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a value divided by its deviation over trailing dimensions");
  }
};

/// The parameter behind a broadcast to a normalized tensor, in the shape of the normalized dimensions; null when it has others.
static Value parameterOf(PatternRewriter &rewriter, Value value, Type type, uint64_t axis) {
  Value small = skipBroadcast(value);
  DimExprs have = getDims(small.getType()), want = getDims(type);
  want.erase(want.begin(), want.begin() + axis);
  while (have.size() > want.size() && getConstantDim(have.front()) == 1)
    have.erase(have.begin());
  if (have != want)
    return nullptr;
  RankedTensorType parameter = makeTensorType(want, getElementTypeOrSelf(type));
  return small.getType() == parameter ? small : ReshapeOp::create(rewriter, value.getLoc(), parameter, small);
}

/// norm(x) * scale, where the norm has no scale yet
template <typename NormOp> struct NormScale : OpRewritePattern<MulOp> {
  using OpRewritePattern<MulOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [value, factor] : {std::pair(op.getX(), op.getY()), std::pair(op.getY(), op.getX())}) {
      auto norm = value.template getDefiningOp<NormOp>();
      if (!norm || !norm->hasOneUse() || !isClose(getSplatNumber(norm.getScale()), 1.0) || norm->getNumOperands() != 2)
        continue;
      Value scale = parameterOf(rewriter, factor, op.getType(), norm.getAxis());
      if (!scale)
        continue;
      // The scale may be defined after the norm.
      Operation *scaled = rewriter.clone(*norm);
      scaled->setOperand(1, scale);
      scaled->setLoc(rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}));
      rewriter.replaceOp(op, scaled);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a norm without scale, times a value of the normalized shape");
  }
};

/// layer_norm(x, scale) + bias
struct NormBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (auto [value, addend] : {std::pair(op.getX(), op.getY()), std::pair(op.getY(), op.getX())}) {
      auto norm = value.getDefiningOp<LayerNormOp>();
      if (!norm || !norm->hasOneUse() || norm.getBias())
        continue;
      Value bias = parameterOf(rewriter, addend, op.getType(), norm.getAxis());
      if (!bias || (norm.getAxis() == 0 && !getConstant(bias)))
        continue;
      auto biased = LayerNormOp::create(rewriter, rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}), norm.getType(), norm.getInput(),
                                        norm.getScale(), bias, norm.getAxis(), norm.getEpsilon());
      rewriter.replaceOp(op, biased);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a layer norm without bias, plus a value of the normalized shape");
  }
};

} // namespace

void kiln::populateNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<Softmax, LogOfSoftmax, LogSoftmax, Normalize, NormScale<LayerNormOp>, NormScale<RmsNormOp>, NormBias>(patterns.getContext());
}
