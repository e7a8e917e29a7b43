//===- RecognizeQuantized.cpp - Products between dequantised numbers -------===//
//
//   %a = nn.dequantize %x, %sx, %zx
//   %b = nn.dequantize %w, %sw, %zw                      (%w, %zw: constants)
//   %c = nn.conv %a, %b ...
//   %r = nn.quantize (nn.relu (%c + %bias)), %s, %z
//
// becomes (shortened: casts and broadcasts stand between)
//
//   %c = nn.quantized_conv %x, %w zero_points %zx, %zw ...
//   %q = nn.round (nn.relu ((%c + %bias / (%sx * %sw)) * (%sx * %sw / %s)))
//   %r = nn.clamp (%q + %z)
//
// if bytes can be multiplied so (QuantizedProducts.h). Where they cannot, what lies beside a product decomposes here, so that the passes behind see its
// arithmetic: constant weights fold, and factors go into weights.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/QuantizedProducts.h"
#include "dialects/nn/Scalar.h"
#include "passes/Passes.h"
#include "passes/graph/BlockProducts.h"
#include "passes/graph/EvaluateMovement.h"
#include "passes/graph/PatternReasons.h"
#include "passes/graph/Shortlists.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_RECOGNIZEQUANTIZED
#include "passes/Passes.h.inc"
} // namespace kiln

//===- Products ------------------------------------------------------------===//

namespace {
/// Dequantised numbers: of a left side with one scale and one zero point, of weights with one for each column.
struct Dequantized {
  Value integer, scale, zero;
};
} // namespace

/// Whether an operation only moves numbers, between which a border may have zeros.
static bool movesNumbers(Operation *op) {
  if (auto pad = dyn_cast_or_null<PadOp>(op))
    return pad.getMode() == PadMode::Constant && getSplatNumber(pad.getValue()) == 0.0;
  return isa_and_nonnull<TransposeOp, ReshapeOp, SliceOp>(op);
}

/// The dequantisation behind what only moves numbers; null when there is none. A border has the zero point, of which there is one then.
static DequantizeOp findDequantize(Value value) {
  bool isPadded = false;
  for (; movesNumbers(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    isPadded |= isa<PadOp>(value.getDefiningOp());
  auto op = value.getDefiningOp<DequantizeOp>();
  bool isUniform = !isPadded || (op && getSplatNumber(op.getScale()) && getSplatNumber(op.getZeroPoint()));
  return op && isUniform && getElementTypeOrSelf(op.getX()).isInteger(8) && op.getType().getElementType().isF32() ? op : DequantizeOp();
}

/// What moves a constant does it now.
static Value evaluateNow(OpBuilder &builder, Operation *move) {
  auto type = cast<RankedTensorType>(move->getResult(0).getType());
  ElementsAttr constant = move->getOperand(0).getDefiningOp<ConstantOp>() ? getConstant(move->getOperand(0)) : ElementsAttr();
  FailureOr<std::vector<char>> bytes = constant && type.hasStaticShape() ? evaluateMovement(move, ConstantData(constant)) : FailureOr<std::vector<char>>();
  return failed(bytes) ? Value() : ConstantOp::create(builder, move->getLoc(), makeConstant(type, std::move(*bytes))).getResult();
}

/// A constant that is spread, and then perhaps transposed, as a constant of its own; null for anything else.
static Value spreadNow(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<BroadcastToOp, TransposeOp>(op))
    return {};
  Value inner = isa<TransposeOp>(op) ? spreadNow(builder, op->getOperand(0)) : Value();
  if (!inner)
    return evaluateNow(builder, op);
  Operation *moved = builder.clone(*op);
  moved->setOperand(0, inner);
  return evaluateNow(builder, moved);
}

/// What moves another operand; a constant is moved now, and a number that is the same everywhere stays one.
static Value cloneOn(OpBuilder &builder, Operation *view, Value operand) {
  RankedTensorType type = withElementType(view->getResult(0).getType(), getElementTypeOrSelf(operand));
  if (auto splat = operand.getDefiningOp<SplatOp>())
    return SplatOp::create(builder, view->getLoc(), type, splat.getValue());
  // Numbers of columns are found again behind slices and reshapes only where they stand.
  if (Value spread = isa<TransposeOp>(view) ? Value() : spreadNow(builder, operand))
    operand = spread;
  Operation *moved = builder.clone(*view);
  moved->setOperand(0, operand);
  moved->getResult(0).setType(type);
  Value now = evaluateNow(builder, moved);
  return now ? now : moved->getResult(0);
}

/// A padding of quantised numbers, whose border is the zero point.
static Dequantized padQuantized(OpBuilder &builder, PadOp pad, const Dequantized &inner) {
  auto splat = [&](Value number) -> Value {
    RankedTensorType type = withElementType(pad.getType(), getElementTypeOrSelf(number));
    Value uniform = getUniform(builder, number);
    if (auto op = uniform.getDefiningOp<SplatOp>())
      return SplatOp::create(builder, pad.getLoc(), type, op.getValue());
    return BroadcastToOp::create(builder, pad.getLoc(), type, uniform);
  };
  RankedTensorType type = withElementType(pad.getType(), getElementTypeOrSelf(inner.integer));
  Value integer = PadOp::create(builder, pad.getLoc(), type, inner.integer, getUniform(builder, inner.zero), pad.getLow(), pad.getHigh(), pad.getInterior(),
                                PadMode::Constant);
  return {integer, splat(inner.scale), splat(inner.zero)};
}

/// What a value that findDequantize knows dequantises, moved as the value is.
static Dequantized readDequantized(OpBuilder &builder, Value value) {
  if (auto op = value.getDefiningOp<DequantizeOp>())
    return {op.getX(), op.getScale(), op.getZeroPoint()};
  Operation *view = value.getDefiningOp();
  Dequantized inner = readDequantized(builder, view->getOperand(0));
  if (auto pad = dyn_cast<PadOp>(view))
    return padQuantized(builder, pad, inner);
  return {cloneOn(builder, view, inner.integer), cloneOn(builder, view, inner.scale), cloneOn(builder, view, inner.zero)};
}

/// Whether sums may be multiplied by the factor in place of what they are summed from: it neither overflows nor loses bits.
static bool isUsable(float factor) { return std::isnormal(factor); }

/// The product with its scales in place of that of dequantised numbers. `axis` counts the columns of the weights, `resultAxis` those of the result.
template <typename OpTy, typename Make>
static LogicalResult raiseProduct(OpTy op, PatternRewriter &rewriter, unsigned axis, unsigned resultAxis, Make make) {
  DequantizeOp left = findDequantize(op->getOperand(0)), right = findDequantize(op->getOperand(1));
  std::optional<double> leftScale = left ? getSplatNumber(left.getScale()) : std::nullopt;
  if (!leftScale || !right || !getConstant(right.getX()))
    return rewriter.notifyMatchFailure(op, "expected a dequantised operand with one scale and dequantised constant weights");
  Location loc = op.getLoc();
  Dequantized lhs = readDequantized(rewriter, op->getOperand(0)), rhs = readDequantized(rewriter, op->getOperand(1));
  auto rightScales = getNumbersAlong(rhs.scale, axis);
  if (!rightScales)
    return rewriter.notifyMatchFailure(op, "expected a constant scale for each column of the weights");
  SmallVector<float> factors = llvm::map_to_vector(*rightScales, [&](double scale) { return static_cast<float>(*leftScale) * static_cast<float>(scale); });
  if (!llvm::all_of(factors, isUsable))
    return rewriter.notifyMatchFailure(op, "expected scales whose products are normal numbers");
  auto whole = make(withElementType(op.getType(), rewriter.getI32Type()), lhs, rhs);
  if (!isByteProduct(whole)) {
    rewriter.eraseOp(whole);
    return rewriter.notifyMatchFailure(op, "expected constant weights");
  }
  SmallVector<int64_t> shape(op.getType().getRank() - resultAxis, 1);
  shape[0] = factors.size();
  Value scale = ConstantOp::create(rewriter, loc, makeConstantOf<float>(RankedTensorType::get(shape, rewriter.getF32Type()), factors));
  Value sum = CastOp::create(rewriter, loc, op.getType(), whole->getResult(0));
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), sum, BroadcastToOp::create(rewriter, loc, op.getType(), scale));
  return success();
}

/// Whether a product is the first one of an attention in real numbers, which is one kernel: a softmax of it goes into another product as it is.
static bool beginsAttention(MatmulOp op) {
  Operation *user = op;
  while (user->hasOneUse() && !isa<SoftmaxOp, QuantizeOp>(user) && (user == op || isa<ScalarBody, ReshapeOp, TransposeOp>(user)))
    user = *user->user_begin();
  return isa<SoftmaxOp>(user) && llvm::any_of(user->getUsers(), [](Operation *next) { return isa<MatmulOp>(next); });
}

/// The product of two computed sides with one scale each.
static LogicalResult raiseComputed(MatmulOp op, PatternRewriter &rewriter) {
  DequantizeOp left = findDequantize(op.getLhs()), right = findDequantize(op.getRhs());
  std::optional<double> leftScale = left ? getSplatNumber(left.getScale()) : std::nullopt, rightScale = right ? getSplatNumber(right.getScale()) : std::nullopt;
  if (!leftScale || !rightScale || getConstant(right.getX()) || beginsAttention(op))
    return rewriter.notifyMatchFailure(op, "expected two dequantised operands with one scale each, and no attention in real numbers");
  Location loc = op.getLoc();
  float factor = static_cast<float>(*leftScale) * static_cast<float>(*rightScale);
  if (!isUsable(factor))
    return rewriter.notifyMatchFailure(op, "expected scales whose product is a normal number");
  Dequantized lhs = readDequantized(rewriter, op.getLhs()), rhs = readDequantized(rewriter, op.getRhs());
  auto whole = QuantizedMatmulOp::create(rewriter, loc, withElementType(op.getType(), rewriter.getI32Type()), lhs.integer, rhs.integer, lhs.zero, rhs.zero);
  if (!isByteProduct(whole)) {
    rewriter.eraseOp(whole);
    return rewriter.notifyMatchFailure(op, "expected one zero point for each side");
  }
  Value sum = CastOp::create(rewriter, loc, op.getType(), whole);
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), sum, SplatOp::create(rewriter, loc, op.getType(), rewriter.getF32FloatAttr(factor)));
  return success();
}

static LogicalResult raiseMatmul(MatmulOp op, PatternRewriter &rewriter) {
  if (succeeded(raiseComputed(op, rewriter)))
    return success();
  return raiseProduct(op, rewriter, 1, op.getType().getRank() - 1, [&](RankedTensorType type, const Dequantized &lhs, const Dequantized &rhs) {
    return QuantizedMatmulOp::create(rewriter, op.getLoc(), type, lhs.integer, rhs.integer, lhs.zero, rhs.zero);
  });
}

static LogicalResult raiseConv(ConvOp op, PatternRewriter &rewriter) {
  unsigned channels = op.getLayout() == Layout::ChannelsLast ? op.getType().getRank() - 1 : 1;
  return raiseProduct(op, rewriter, 0, channels, [&](RankedTensorType type, const Dequantized &input, const Dequantized &weight) {
    return QuantizedConvOp::create(rewriter, op.getLoc(), type, input.integer, weight.integer, input.zero, weight.zero, op.getStrides(),
                                   op.getDilations(), op.getPads(), op.getGroups(), op.getLayout());
  });
}

/// isUsable for all products of a scale with those of weights.
static bool hasUsableFactors(double scale, Value weightScales) {
  if (std::optional<double> number = getSplatNumber(weightScales))
    return isUsable(static_cast<float>(scale) * static_cast<float>(*number));
  while (isa_and_nonnull<BroadcastToOp, ReshapeOp, TransposeOp>(weightScales.getDefiningOp()))
    weightScales = weightScales.getDefiningOp()->getOperand(0);
  ElementsAttr constant = getConstant(weightScales);
  if (!constant)
    return false;
  ConstantData data(constant);
  return llvm::all_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) {
    return isUsable(static_cast<float>(scale) * static_cast<float>(data.asDouble(i)));
  });
}

/// Takes a transposed convolution of dequantised numbers apart, so that the convolution inside is one of them.
static LogicalResult splitConvTranspose(ConvTransposeOp op, PatternRewriter &rewriter) {
  DequantizeOp left = findDequantize(op.getInput()), right = findDequantize(op.getWeight());
  std::optional<double> scale = left ? getSplatNumber(left.getScale()) : std::nullopt;
  if (!scale || !right || !getConstant(right.getX()))
    return rewriter.notifyMatchFailure(op, "expected a dequantised operand with one scale and dequantised constant weights");
  // Weights that are not finite are taken apart in another way, for which they have to be constants in real numbers.
  if (!hasUsableFactors(*scale, right.getScale()))
    return rewriter.notifyMatchFailure(op, "expected scales whose products are normal numbers");
  FailureOr<SmallVector<Value>> parts = op.decompose(rewriter);
  if (failed(parts))
    return failure();
  rewriter.replaceOp(op, *parts);
  return success();
}

//===- Requantisation ------------------------------------------------------===//

namespace {
/// sum * factor + bias, clamped, with numbers for each index of `axis`.
struct ScaledSum {
  Value sum;
  unsigned axis;
  SmallVector<double> factor, bias = {};
  std::optional<std::pair<double, double>> clamp = std::nullopt;
};
} // namespace

/// The dimension along which a product has its columns, from its sums.
static std::optional<unsigned> columnAxis(Value sum) {
  Operation *op = sum.getDefiningOp();
  if (auto conv = dyn_cast_or_null<QuantizedConvOp>(op))
    return conv.getLayout() == Layout::ChannelsLast ? conv.getType().getRank() - 1 : 1;
  return isa_and_nonnull<QuantizedMatmulOp>(op) ? std::optional<unsigned>(cast<RankedTensorType>(sum.getType()).getRank() - 1) : std::nullopt;
}

static std::optional<ScaledSum> readScaledSum(Value value) {
  if (!value.hasOneUse())
    return std::nullopt;
  if (auto mul = value.getDefiningOp<MulOp>()) {
    auto cast = mul.getX().getDefiningOp<CastOp>();
    auto axis = cast && cast->hasOneUse() && cast.getX().hasOneUse() ? columnAxis(cast.getX()) : std::nullopt;
    auto factor = axis ? getNumbersAlong(mul.getY(), *axis) : std::nullopt;
    return factor ? std::optional(ScaledSum{cast.getX(), *axis, *factor}) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, ReluOp, ClampOp>(op))
    return std::nullopt;
  auto inner = readScaledSum(op->getOperand(0));
  if (!inner || inner->clamp)
    return std::nullopt;
  if (auto clamp = dyn_cast<ClampOp>(op)) {
    inner->clamp = {clamp.getMin().convertToDouble(), clamp.getMax().convertToDouble()};
  } else if (isa<ReluOp>(op)) {
    inner->clamp = {0, INFINITY};
  } else {
    auto bias = inner->bias.empty() ? getNumbersAlong(op->getOperand(1), inner->axis) : std::nullopt;
    if (!bias)
      return std::nullopt;
    inner->bias = *bias;
  }
  return inner;
}

static double at(ArrayRef<double> numbers, size_t i) { return numbers[numbers.size() == 1 ? 0 : i]; }

/// The bias in units of the factor, if it is a whole number of them everywhere, as quantisers write it.
static std::optional<SmallVector<int32_t>> readWholeBias(const ScaledSum &scaled) {
  SmallVector<int32_t> whole;
  for (size_t i = 0; i < std::max(scaled.bias.size(), scaled.factor.size()); ++i) {
    double units = at(scaled.bias, i) / at(scaled.factor, i), nearest = std::nearbyint(units);
    // The products of two and of one rounded number differ by so much.
    if (!(std::fabs(units - nearest) <= std::fabs(nearest) * 0x1p-22) || std::fabs(nearest) > 0x1p30)
      return std::nullopt;
    whole.push_back(static_cast<int32_t>(nearest));
  }
  return whole;
}

template <typename T> static Value spreadAlong(OpBuilder &builder, Location loc, ArrayRef<T> numbers, Type element, RankedTensorType like, unsigned axis) {
  SmallVector<int64_t> shape(like.getRank() - axis, 1);
  shape[0] = numbers.size();
  Value constant = ConstantOp::create(builder, loc, makeConstantOf<T>(RankedTensorType::get(shape, element), numbers));
  return BroadcastToOp::create(builder, loc, withElementType(like, element), constant);
}

static SmallVector<float> divideAll(ArrayRef<double> numbers, double divisor) {
  return llvm::map_to_vector(numbers, [&](double number) { return static_cast<float>(number / divisor); });
}

/// The activation of a scaled sum in steps of the result's scale.
static Value clampScaled(OpBuilder &builder, Value value, const ScaledSum &scaled, double scale) {
  if (!scaled.clamp)
    return value;
  auto [low, high] = *scaled.clamp;
  if (low == 0 && high == INFINITY)
    return ReluOp::create(builder, value.getLoc(), value.getType(), value);
  return ClampOp::create(builder, value.getLoc(), value.getType(), value, builder.getF64FloatAttr(low / scale), builder.getF64FloatAttr(high / scale));
}

/// quantize(clamp(x)) -> quantize(x), where the bounds lie at the ends of the result's range or beyond: rounding is monotone, so that saturation is the
/// same clamp.
static LogicalResult dropClamp(QuantizeOp op, PatternRewriter &rewriter) {
  std::optional<double> scale = getSplatNumber(op.getScale()), zero = getSplatNumber(op.getZeroPoint());
  Operation *clamp = op.getX().getDefiningOp();
  if (!isa_and_nonnull<ReluOp, ClampOp>(clamp) || !scale || !(*scale > 0) || !zero)
    return rewriter.notifyMatchFailure(op, "expected a clamped value, one scale and one zero point");
  auto bounded = dyn_cast<ClampOp>(clamp);
  float divisor = static_cast<float>(*scale), low = bounded ? static_cast<float>(bounded.getMin().convertToDouble()) : 0;
  float high = bounded ? static_cast<float>(bounded.getMax().convertToDouble()) : INFINITY;
  if (std::nearbyint(low / divisor) + *zero > lowestOf(op.getType()) || std::nearbyint(high / divisor) + *zero < highestOf(op.getType()))
    return rewriter.notifyMatchFailure(op, "expected bounds outside of the result's range");
  rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(clamp->getOperand(0)); });
  return success();
}

/// quantize(sum * factor + bias) -> (sum + whole bias) * (factor / scale), rounded: one multiplication for each element.
static LogicalResult requantize(QuantizeOp op, PatternRewriter &rewriter) {
  auto scaled = readScaledSum(op.getX());
  std::optional<double> scale = getSplatNumber(op.getScale());
  if (!scaled || !scale || !(*scale > 0) || *scale == 1)
    return rewriter.notifyMatchFailure(op, "expected a scaled sum and one scale other than 1");
  SmallVector<float> factors = divideAll(scaled->factor, *scale), biases = divideAll(scaled->bias, *scale);
  bool isRepresented = llvm::all_of(factors, isUsable) && llvm::all_of(biases, [](float bias) { return std::isfinite(bias); });
  if (!isRepresented)
    return rewriter.notifyMatchFailure(op, "expected factors that are normal numbers in units of the scale");
  Location loc = rewriter.getFusedLoc({op.getX().getLoc(), op.getLoc()});
  RankedTensorType real = op.getX().getType();
  Type f32 = real.getElementType();
  auto whole = scaled->bias.empty() ? std::nullopt : readWholeBias(*scaled);
  Value sum = scaled->sum;
  if (whole)
    sum = AddOp::create(rewriter, loc, sum.getType(), sum, spreadAlong<int32_t>(rewriter, loc, *whole, rewriter.getI32Type(), real, scaled->axis));
  Value value = CastOp::create(rewriter, loc, real, sum);
  value = MulOp::create(rewriter, loc, real, value, spreadAlong<float>(rewriter, loc, factors, f32, real, scaled->axis));
  if (!whole && !scaled->bias.empty())
    value = AddOp::create(rewriter, loc, real, value, spreadAlong<float>(rewriter, loc, biases, f32, real, scaled->axis));
  value = clampScaled(rewriter, value, *scaled, *scale);
  Value one = SplatOp::create(rewriter, loc, real, FloatAttr::get(f32, 1.0));
  rewriter.replaceOpWithNewOp<QuantizeOp>(op, op.getType(), value, one, op.getZeroPoint());
  return success();
}

/// sum * factor + bias -> (sum + whole bias) * factor, where no nn.quantize follows: one rounding, whether the CPU multiplies and adds at once or not.
static LogicalResult joinBias(AddOp op, PatternRewriter &rewriter) {
  auto scaled = isa_and_nonnull<MulOp>(op.getX().getDefiningOp()) ? readScaledSum(op.getX()) : std::nullopt;
  auto bias = scaled ? getNumbersAlong(op.getY(), scaled->axis) : std::nullopt;
  if (!bias)
    return rewriter.notifyMatchFailure(op, "expected a scaled sum and a constant bias");
  scaled->bias = *bias;
  auto whole = readWholeBias(*scaled);
  if (!whole)
    return rewriter.notifyMatchFailure(op, "expected a bias of whole numbers in units of the factor");
  Location loc = rewriter.getFusedLoc({op.getX().getLoc(), op.getLoc()});
  auto type = cast<RankedTensorType>(op.getType()), sums = cast<RankedTensorType>(scaled->sum.getType());
  Value sum = AddOp::create(rewriter, loc, sums, scaled->sum, spreadAlong<int32_t>(rewriter, loc, *whole, rewriter.getI32Type(), type, scaled->axis));
  rewriter.replaceOpWithNewOp<MulOp>(op, type, CastOp::create(rewriter, loc, type, sum), op.getX().getDefiningOp()->getOperand(1));
  return success();
}

//===- The pass ------------------------------------------------------------===//

/// Whether a product of real numbers gives the value, through what a factor passes on its way into the weights.
static bool followsProduct(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<AddOp, SubOp, MulOp, DivOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<MatmulOp, ConvOp>(op);
}

/// Takes apart all operations of a kind that `wanted` picks.
template <typename OpTy> static void decompose(ModuleOp module, function_ref<bool(OpTy)> wanted) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) {
    if (wanted(op))
      ops.push_back(op);
  });
  for (OpTy op : ops) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> parts = op.decompose(builder);
    op->replaceAllUsesWith(*parts);
    op->erase();
  }
}

/// Rewrites each operation of a kind once, in order.
template <typename OpTy> static void rewriteAll(ModuleOp module, LogicalResult (*rewrite)(OpTy, PatternRewriter &)) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  for (OpTy op : ops)
    (void)applyOnce(op, [&](PatternRewriter &rewriter) { return rewrite(op, rewriter); });
}

namespace {
struct RecognizeQuantizedPass : kiln::impl::RecognizeQuantizedBase<RecognizeQuantizedPass> {
  using RecognizeQuantizedBase::RecognizeQuantizedBase;

  /// What the passes before this one did could not see the parts.
  LogicalResult fold() {
    OpPassManager passes("builtin.module");
    passes.addPass(createCanonicalizer());
    passes.addPass(createCSEPass());
    passes.addPass(createFoldConstants({budget}));
    passes.addPass(createSimplifyDataMovement());
    passes.addPass(createFoldConstants({budget}));
    return runPipeline(passes, getOperation());
  }
  void runOnOperation() override {
    bool isQuantized = getOperation().walk([](Operation *op) {
      return isa<QuantizeOp, DequantizeOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    }).wasInterrupted();
    if (!isQuantized)
      return;
    if (products) {
      rewriteAll(getOperation(), gatherIntegers);
      rewriteAll(getOperation(), raiseMatmul);
      rewriteAll(getOperation(), raiseBlockMatmul);
      rewriteAll(getOperation(), raiseBlockShortlist);
      rewriteAll(getOperation(), splitConvTranspose);
      rewriteAll(getOperation(), raiseConv);
    }
    // Biases are numbers once they are not dequantised any more.
    decompose<DequantizeOp>(getOperation(), [](DequantizeOp op) { return bool(getConstant(op.getX())); });
    if (failed(fold()))
      return signalPassFailure();
    if (products) {
      rewriteAll(getOperation(), requantize);
      rewriteAll(getOperation(), joinBias);
      rewriteAll(getOperation(), dropClamp);
    }
    decompose<QuantizeOp>(getOperation(), [](QuantizeOp op) { return followsProduct(op.getX()); });
    if (failed(fold()))
      signalPassFailure();
  }
};
} // namespace
