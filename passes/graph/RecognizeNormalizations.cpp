//===- RecognizeNormalizations.cpp - What stands around a norm's body ------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/graph/BodyMatching.h"
#include "passes/graph/ChainMatching.h"
#include "passes/graph/EvaluateScalar.h"
#include "passes/graph/Terms.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {

/// mean(x^2) - mean(x)^2 is mean((x - mean(x))^2), which loses no digits when the mean is large against the deviation, is never negative, and is
/// the form that the bodies of the norms have.
struct Variance : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;

  /// y of y^2.
  static Value squareRoot(Value value) {
    Product product = viewProduct(value, Depth::Tree);
    bool isSquare = product.number == 1.0 && product.factors.size() == 1 && product.factors[0].exponent == 2.0;
    return isSquare ? product.factors[0].value : Value();
  }
  static ReduceOp meanOf(Value value) {
    auto mean = value ? skipBroadcast(value).getDefiningOp<ReduceOp>() : ReduceOp();
    return mean && mean.getKind() == ReduceKind::Mean ? mean : nullptr;
  }

  LogicalResult matchAndRewrite(SubOp op, PatternRewriter &rewriter) const override {
    ReduceOp square = meanOf(op.getX()), mean = meanOf(squareRoot(op.getY()));
    Value x = square ? squareRoot(square.getInput()) : Value();
    if (!mean || mean.getInput() != x || mean.getAxes() != square.getAxes() || square.getType() != op.getType() || mean.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expected mean(x * x) - mean(x) * mean(x) over the same axes");
    Location loc = chainLocation(op, x);
    Value centered = SubOp::create(rewriter, loc, x.getType(), x, BroadcastToOp::create(rewriter, loc, x.getType(), mean));
    Value squared = MulOp::create(rewriter, loc, x.getType(), centered, centered);
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), ReduceKind::Mean, squared, mean.getAxes());
    return success();
  }
};

/// Zeros added to what goes into a softmax: ONNX's body of attention adds them where there is no mask.
struct SoftmaxOfSumWithZero : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &rewriter) const override {
    auto add = op.getInput().getDefiningOp<AddOp>();
    for (unsigned side : {0, 1})
      if (add && getUniformNumber(add->getOperand(side)) == 0.0) {
        rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().set(add->getOperand(1 - side)); });
        return success();
      }
    return rewriter.notifyMatchFailure(op, "expected a sum with zeros");
  }
};
} // namespace

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

static bool narrowsExactly(APFloat number, Type half) {
  bool loses = false;
  number.convert(cast<FloatType>(half).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return !loses;
}

/// The numbers of a small constant in a narrower type; null when that does not hold them all.
static ElementsAttr narrowConstant(Value value, Type half) {
  ElementsAttr attr = getConstant(value);
  if (!attr || attr.getNumElements() > (1 << 16))
    return nullptr;
  ConstantData data(attr);
  std::vector<char> bytes(2 * data.numElements());
  for (int64_t i = 0; i < data.numElements(); ++i) {
    if (!narrowsExactly(APFloat(data.asDouble(i)), half))
      return nullptr;
    storeNumber(&bytes[2 * i], half, data.asDouble(i));
  }
  return makeConstant(withElementType(value.getType(), half), std::move(bytes));
}

/// What a value of f32 was, or may be, in a narrower type: a value, a number or a constant; null when that does not hold it.
static OpFoldResult narrowExactly(Value value, Type half) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  if (auto cast = value.getDefiningOp<CastOp>())
    return cast.getX().getType().getElementType() == half ? OpFoldResult(cast.getX()) : OpFoldResult();
  if (auto splat = value.getDefiningOp<SplatOp>()) {
    APFloat number = cast<FloatAttr>(splat.getValue()).getValue();
    return narrowsExactly(number, half) ? OpFoldResult(FloatAttr::get(half, number.convertToDouble())) : OpFoldResult();
  }
  return OpFoldResult(narrowConstant(value, half));
}

static Value materialize(PatternRewriter &rewriter, Location loc, RankedTensorType type, OpFoldResult narrow) {
  if (auto number = dyn_cast_or_null<FloatAttr>(dyn_cast<Attribute>(narrow)))
    return SplatOp::create(rewriter, loc, type, number);
  auto constant = dyn_cast_or_null<ElementsAttr>(dyn_cast<Attribute>(narrow));
  Value value = constant ? Value(ConstantOp::create(rewriter, loc, constant)) : cast<Value>(narrow);
  return value.getType() == type ? value : Value(ReshapeOp::create(rewriter, loc, type, value));
}

namespace {

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
      if (!bias)
        continue;
      auto biased = LayerNormOp::create(rewriter, rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}), norm.getType(), norm.getInput(),
                                        norm.getScale(), bias, norm.getAxis(), norm.getEpsilon());
      rewriter.replaceOp(op, biased);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a layer norm without bias, plus a value of the normalized shape");
  }
};

/// A norm in f32 between casts from and to f16 or bf16 becomes the norm of that type, which computes in f32 itself.
template <typename NormOp> struct NormOfHalf : OpRewritePattern<CastOp> {
  using OpRewritePattern<CastOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    Type half = op.getType().getElementType();
    auto norm = op.getX().getDefiningOp<NormOp>();
    if (!norm || !norm->hasOneUse() || !norm.getType().getElementType().isF32() || !(half.isF16() || half.isBF16()))
      return rewriter.notifyMatchFailure(op, "expected a norm in f32 that becomes f16 or bf16");
    auto cast = norm.getInput().template getDefiningOp<CastOp>();
    // If others need the value in f32, it exists in f32 anyway, and a norm of f32 needs no conversions.
    if (!cast || !cast->hasOneUse() || cast.getX().getType().getElementType() != half)
      return rewriter.notifyMatchFailure(op, "expected an input that was of the type of the result, and that nobody else needs in f32");
    SmallVector<OpFoldResult> narrow;
    for (Value parameter : norm->getOperands().drop_front()) {
      narrow.push_back(narrowExactly(parameter, half));
      if (!narrow.back())
        return rewriter.notifyMatchFailure(op, "expected parameters that the result's type holds");
    }
    SmallVector<Value> operands = {cast.getX()};
    for (auto [parameter, form] : llvm::zip_equal(norm->getOperands().drop_front(), narrow))
      operands.push_back(materialize(rewriter, norm.getLoc(), withElementType(parameter.getType(), half), form));
    Location loc = rewriter.getFusedLoc({norm.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, NormOp::create(rewriter, loc, TypeRange(op.getType()), operands, norm->getAttrs()));
    return success();
  }
};

} // namespace

void kiln::populateNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<Variance, SoftmaxOfSumWithZero, NormBias>(patterns.getContext());
  patterns.add<NormScale<LayerNormOp>, NormScale<RmsNormOp>, NormOfHalf<LayerNormOp>, NormOfHalf<RmsNormOp>>(patterns.getContext());
}
