//===- FoldScales.cpp - Constant factors folded into weights ---------------===//
//
//   %c = nn.conv %x, %w ...
//   %m = nn.mul %c, %scale          (%scale: a constant per channel, broadcast)
//   %r = nn.add %m, %shift
//
// becomes
//
//   %c = nn.conv %x, %w' ...        (%w' = %w * scale per output channel, a constant)
//   %r = nn.add %c, %shift
//
// An add between the two is first moved after the product, so that a bias or a normalization's mean does not prevent folding.
// A factor stays where it is if weights times the factor would overflow, or be so small that they lose bits.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/graph/EvaluateScalar.h"
#include "passes/graph/PatternReasons.h"

#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_FOLDSCALES
#include "passes/Passes.h.inc"
} // namespace kiln

/// One number per channel (or a single one for all), constant.
using ChannelNumbers = std::optional<SmallVector<double>>;

/// Where the channels of a contraction's result are; none for other operations.
static std::optional<unsigned> channelAxis(Operation *op) {
  if (auto conv = dyn_cast_or_null<ConvOp>(op))
    return conv.getLayout() == Layout::ChannelsFirst ? 1 : conv.getType().getRank() - 1;
  if (auto matmul = dyn_cast_or_null<MatmulOp>(op))
    return matmul.getRhs().getType().getRank() == 2 ? std::optional<unsigned>(matmul.getType().getRank() - 1) : std::nullopt;
  return std::nullopt;
}

/// The numbers of a value that differs along dimension `axis` of `rank` only.
static ChannelNumbers channelNumbers(Value value, unsigned axis, unsigned rank) {
  if (auto broadcast = value.getDefiningOp<BroadcastToOp>())
    value = broadcast.getInput();
  auto type = cast<RankedTensorType>(value.getType());
  if (auto number = getSplatNumber(value); number && isa<FloatType>(type.getElementType()))
    return SmallVector<double>{*number};
  ElementsAttr constant = getConstant(value);
  if (!constant || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1 && i + rank - type.getRank() != axis)
      return std::nullopt;
  ConstantData data(constant);
  SmallVector<double> numbers;
  for (int64_t i = 0; i < data.numElements(); ++i)
    numbers.push_back(data.asDouble(i));
  return numbers;
}

/// Numbers per channel as a value of this type.
static Value spreadNumbers(OpBuilder &builder, Location loc, ArrayRef<double> numbers, RankedTensorType type, unsigned axis) {
  if (numbers.size() == 1)
    return SplatOp::create(builder, loc, type, FloatAttr::get(type.getElementType(), numbers[0]));
  SmallVector<int64_t> shape(type.getRank() - axis, 1);
  shape[0] = numbers.size();
  auto small = RankedTensorType::get(shape, type.getElementType());
  int64_t bytes = elementBytes(type.getElementType());
  std::vector<char> data(numbers.size() * bytes);
  for (auto [i, number] : llvm::enumerate(numbers))
    storeNumber(&data[i * bytes], type.getElementType(), number);
  Value constant = ConstantOp::create(builder, loc, makeConstant(small, std::move(data)));
  return BroadcastToOp::create(builder, loc, type, constant);
}

static SmallVector<double> zipNumbers(ArrayRef<double> x, ArrayRef<double> y, function_ref<double(double, double)> function) {
  SmallVector<double> result;
  for (size_t i = 0; i < std::max(x.size(), y.size()); ++i)
    result.push_back(function(x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]));
  return result;
}

/// Whether all numbers are finite in a type of floats.
static bool areFinite(RankedTensorType type, ArrayRef<double> numbers) {
  double largest = APFloat::getLargest(cast<FloatType>(type.getElementType()).getFloatSemantics()).convertToDouble();
  return llvm::all_of(numbers, [&](double number) { return std::fabs(number) <= largest; });
}

/// The same, and none of them has lost bits because it is small.
static bool areNormal(RankedTensorType type, ArrayRef<double> numbers) {
  double least = APFloat::getSmallestNormalized(cast<FloatType>(type.getElementType()).getFloatSemantics()).convertToDouble();
  return areFinite(type, numbers) && llvm::all_of(numbers, [&](double number) { return std::fabs(number) >= least; });
}

namespace {
/// The magnitudes of a channel's weights that are finite and not zero.
struct Magnitudes {
  double least = HUGE_VAL, largest = 0;
};
} // namespace

/// Whether the finite ones of the weights remain finite and lose no bits because they are small, when each channel is multiplied by its factor. Of f16, whose
/// normal numbers begin at 2^-14, only the largest weight of a channel counts: what others lose is less than the rounding error of that one.
static bool canScale(ElementsAttr weight, unsigned axis, ArrayRef<double> factors) {
  ConstantData data(weight);
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t inner = ShapedType::getNumElements(type.getShape().drop_front(axis + 1)), channels = type.getDimSize(axis);
  SmallVector<Magnitudes> magnitudes(channels);
  for (int64_t first = 0, channel = 0; first < data.numElements(); first += inner, channel = channel + 1 == channels ? 0 : channel + 1)
    data.forEachDouble(first, inner, [&](double number) {
      if (!std::isfinite(number) || number == 0)
        return;
      magnitudes[channel].largest = std::max(magnitudes[channel].largest, std::fabs(number));
      magnitudes[channel].least = std::min(magnitudes[channel].least, std::fabs(number));
    });
  SmallVector<double> extremes;
  for (auto [channel, weights] : llvm::enumerate(magnitudes)) {
    double factor = factors[factors.size() == 1 ? 0 : channel];
    // Zeros and ones lose nothing, whatever the other factor is.
    if (weights.largest != 0 && factor != 0 && std::fabs(factor) != 1)
      extremes.append({weights.largest * factor, (type.getElementType().isF16() ? weights.largest : weights.least) * factor});
  }
  return areFinite(type, factors) && areNormal(type, extremes);
}

/// weight * factor, where the factor varies along dimension `axis` of the weight.
static ElementsAttr scaleWeight(ElementsAttr weight, unsigned axis, ArrayRef<double> factors) {
  ConstantData data(weight);
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t inner = ShapedType::getNumElements(type.getShape().drop_front(axis + 1)), channels = type.getDimSize(axis);
  int64_t bytes = elementBytes(type.getElementType());
  std::vector<char> out(data.numElements() * bytes);
  auto factorAt = [&](int64_t i) { return factors[factors.size() == 1 ? 0 : i / inner % channels]; };
  if (type.getElementType().isF32()) {
    auto *to = reinterpret_cast<float *>(out.data());
    ArrayRef<float> from = data.as<float>();
    for (int64_t i = 0; i < data.numElements(); ++i)
      to[i] = static_cast<float>(from[i] * factorAt(i));
  } else {
    for (int64_t i = 0; i < data.numElements(); ++i)
      storeNumber(&out[i * bytes], type.getElementType(), data.asDouble(i) * factorAt(i));
  }
  return makeConstant(type, std::move(out));
}

/// The contraction that defines a value, directly or through an add of a constant, if its weight is a constant with a single use.
static Operation *scalableSource(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse())
    return nullptr;
  if (isa<AddOp, SubOp, MulOp, DivOp>(op) && channelAxis(op->getOperand(0).getDefiningOp()))
    return scalableSource(op->getOperand(0));
  if (!channelAxis(op))
    return nullptr;
  Value weight = op->getOperand(1);
  if (auto transpose = weight.getDefiningOp<TransposeOp>(); transpose && transpose->hasOneUse())
    weight = transpose.getInput();
  auto constant = weight.getDefiningOp<ConstantOp>();
  return constant && getConstant(constant) && constant->hasOneUse() && isa<FloatType>(constant.getType().getElementType()) ? op : nullptr;
}

namespace {

/// contraction * constant -> contraction with a scaled weight.
struct ScaleIntoWeight : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp mul, PatternRewriter &rewriter) const override {
    for (auto [value, factor] : {std::pair(mul.getX(), mul.getY()), std::pair(mul.getY(), mul.getX())}) {
      Operation *op = value.getDefiningOp();
      if (!op || !channelAxis(op) || scalableSource(value) != op)
        continue;
      ChannelNumbers numbers = channelNumbers(factor, *channelAxis(op), mul.getType().getRank());
      if (!numbers)
        continue;
      Operation *source = op->getOperand(1).getDefiningOp();
      unsigned axis = isa<ConvOp>(op) ? 0 : 1;
      if (auto transpose = dyn_cast<TransposeOp>(source)) {
        axis = transpose.getPermutation()[axis];
        source = transpose.getInput().getDefiningOp();
      }
      auto constant = cast<ConstantOp>(source);
      if (!canScale(constant.getValue(), axis, *numbers))
        continue;
      rewriter.setInsertionPoint(constant);
      Location loc = rewriter.getFusedLoc({mul.getLoc(), op->getLoc()});
      rewriter.replaceOpWithNewOp<ConstantOp>(constant, scaleWeight(constant.getValue(), axis, *numbers));
      rewriter.modifyOpInPlace(op, [&] { op->setLoc(loc); });
      rewriter.replaceOp(mul, op);
      return success();
    }
    return rewriter.notifyMatchFailure(mul, "expected a contraction with a constant weight and a constant per channel, whose products are normal numbers");
  }
};

/// (v + b) * s -> v * s + b * s, when v's weight will take the factor.
struct MoveAddBehindScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp mul, PatternRewriter &rewriter) const override {
    for (auto [value, factor] : {std::pair(mul.getX(), mul.getY()), std::pair(mul.getY(), mul.getX())}) {
      auto add = value.getDefiningOp<AddOp>();
      Operation *source = add && add->hasOneUse() ? scalableSource(add.getX()) : nullptr;
      if (!source || source != add.getX().getDefiningOp())
        continue;
      RankedTensorType type = mul.getType();
      unsigned axis = *channelAxis(source);
      ChannelNumbers shift = channelNumbers(add.getY(), axis, type.getRank()), scale = channelNumbers(factor, axis, type.getRank());
      if (!shift || !scale)
        continue;
      SmallVector<double> numbers = zipNumbers(*shift, *scale, std::multiplies<double>());
      if (!areFinite(type, *scale) || !areFinite(type, numbers))
        continue;
      Value scaled = MulOp::create(rewriter, mul.getLoc(), type, add.getX(), factor);
      rewriter.replaceOpWithNewOp<AddOp>(mul, type, scaled, spreadNumbers(rewriter, add.getLoc(), numbers, type, axis));
      return success();
    }
    return rewriter.notifyMatchFailure(mul, "expected a constant added to a contraction");
  }
};

/// (v + a) + b -> v + (a + b) for constants a and b.
struct MergeAdds : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp outer, PatternRewriter &rewriter) const override {
    auto inner = outer.getX().getDefiningOp<AddOp>();
    std::optional<unsigned> axis = inner && inner->hasOneUse() ? channelAxis(inner.getX().getDefiningOp()) : std::nullopt;
    if (!axis)
      return rewriter.notifyMatchFailure(outer, "expected two adds after a contraction");
    RankedTensorType type = outer.getType();
    ChannelNumbers a = channelNumbers(inner.getY(), *axis, type.getRank()), b = channelNumbers(outer.getY(), *axis, type.getRank());
    if (!a || !b)
      return rewriter.notifyMatchFailure(outer, "expected constants per channel");
    SmallVector<double> numbers = zipNumbers(*a, *b, std::plus<double>());
    if (!areFinite(type, numbers))
      return rewriter.notifyMatchFailure(outer, "expected constants whose sums are finite");
    Value sum = spreadNumbers(rewriter, outer.getLoc(), numbers, type, *axis);
    rewriter.replaceOpWithNewOp<AddOp>(outer, type, inner.getX(), sum);
    return success();
  }
};

/// After a contraction, v - c -> v + (-c) and v / c -> v * (1 / c).
template <typename From, typename To> struct InvertConstant : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    Operation *source = scalableSource(op.getX());
    if (!source)
      return rewriter.notifyMatchFailure(op, "expected a contraction with a constant weight");
    unsigned axis = *channelAxis(source);
    ChannelNumbers numbers = channelNumbers(op.getY(), axis, op.getType().getRank());
    if (!numbers)
      return rewriter.notifyMatchFailure(op, "expected a constant per channel");
    for (double &number : *numbers)
      number = std::is_same_v<From, SubOp> ? -number : 1.0 / number;
    if (isa<DivOp>(op) && !areNormal(op.getType(), *numbers))
      return rewriter.notifyMatchFailure(op, "expected divisors whose inverses are normal numbers");
    Value inverse = spreadNumbers(rewriter, op.getLoc(), *numbers, op.getType(), axis);
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), op.getX(), inverse);
    return success();
  }
};

/// Puts the constant of a sum or product on the right, where the other patterns look for it.
template <typename OpTy> struct ConstantToTheRight : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto isConstant = [](Value value) {
      if (auto broadcast = value.getDefiningOp<BroadcastToOp>())
        value = broadcast.getInput();
      return getConstant(value) || value.getDefiningOp<SplatOp>();
    };
    if (!isConstant(op.getX()) || isConstant(op.getY()))
      return rewriter.notifyMatchFailure(op, "expected a constant on the left only");
    rewriter.modifyOpInPlace(op, [&] { op->setOperands({op.getY(), op.getX()}); });
    return success();
  }
};

struct FoldScalesPass : kiln::impl::FoldScalesBase<FoldScalesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleIntoWeight, MoveAddBehindScale, MergeAdds, InvertConstant<SubOp, AddOp>, InvertConstant<DivOp, MulOp>,
                 ConstantToTheRight<AddOp>, ConstantToTheRight<MulOp>>(&getContext());
    if (failed(applyPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
