//===- QuantizedProducts.cpp - Products of quantised numbers in bytes ------===//
//
//   %r = nn.quantized_matmul %a, %w zero_points %za, %zw : tensor<2x8xui8>, tensor<8x16xi8> -> tensor<2x16xi32>
//
// becomes, if %w and %zw are constants and %za is one number,
//
//   %p = nn.matmul %a, (%w - %zw) : tensor<2x8xui8>, tensor<8x16xi8> -> tensor<2x16xi32>
//   %r = nn.add %p, -%za * (sum of the weights of each column)
//
// Unsigned bytes of the left side stay unsigned and signed ones become it, or the other way round where the target's first step of bytes is for signed ones.
//
// Sides that are both computed, with one zero point each, are multiplied as they are. With %v = %w counted from the middle of its range,
//
//   %p = nn.matmul %a, %v : tensor<2x8xui8>, tensor<8x16xi8> -> tensor<2x16xi32>
//   %r = %p - %za * (sum of each column of %v) - %zv * (sum of each row of %a - %za)
//
// Otherwise it is the product of (%a - %za) and (%w - %zw), in f32 where that is exact.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/QuantizedProducts.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include <numeric>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// From here on a sum of products of bytes may leave 32 bits.
static constexpr int64_t mostProducts = 65536;

//===- Constants that are broadcast ----------------------------------------===//

std::optional<SmallVector<double>> nn::getNumbersAlong(Value value, unsigned axis) {
  if (std::optional<double> number = getSplatNumber(value))
    return SmallVector<double>{*number};
  auto type = cast<RankedTensorType>(value.getType());
  if (auto transpose = value.getDefiningOp<TransposeOp>())
    return getNumbersAlong(transpose.getInput(), transpose.getPermutation()[axis]);
  if (auto broadcast = value.getDefiningOp<BroadcastToOp>()) {
    RankedTensorType small = broadcast.getInput().getType();
    int64_t added = type.getRank() - small.getRank();
    return static_cast<int64_t>(axis) < added ? std::nullopt : getNumbersAlong(broadcast.getInput(), axis - added);
  }
  // A vector that became a row or a column.
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    ElementsAttr constant = getConstant(reshape.getInput());
    if (!constant || !type.hasStaticShape() || type.getNumElements() != type.getDimSize(axis))
      return std::nullopt;
    ConstantData data(constant);
    return llvm::map_to_vector(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return data.asDouble(i); });
  }
  ElementsAttr constant = getConstant(value);
  if (!constant || constant.getNumElements() == 0)
    return std::nullopt;
  ConstantData data(constant);
  int64_t inner = ShapedType::getNumElements(type.getShape().drop_front(axis + 1)), size = type.getDimSize(axis);
  SmallVector<double> numbers;
  for (int64_t i = 0; i < size; ++i)
    numbers.push_back(data.asDouble(i * inner));
  for (int64_t i = 0; i < data.numElements(); ++i)
    if (data.asDouble(i) != numbers[i / inner % size])
      return std::nullopt;
  return numbers;
}

/// The single number that a value repeats; null when it may have several.
static Value findRepeated(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastToOp, TransposeOp, ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  DimExprs dims = getDims(value.getType());
  bool isOne = llvm::all_of(dims, [](AffineExpr dim) { return getConstantDim(dim) == 1; });
  return isOne || value.getDefiningOp<SplatOp>() ? value : Value();
}

static bool isUniform(Value value) { return getSplatNumber(value) || findRepeated(value); }

static TypedAttr numberAttr(Type element, double number) {
  if (isa<FloatType>(element))
    return FloatAttr::get(element, number);
  return IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(static_cast<int64_t>(number)), false, true));
}

Value nn::getUniform(OpBuilder &builder, Value value) {
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(value));
  if (std::optional<double> number = getSplatNumber(value))
    return SplatOp::create(builder, value.getLoc(), scalar, numberAttr(scalar.getElementType(), *number));
  Value repeated = findRepeated(value);
  return !repeated || repeated.getType() == scalar ? repeated : Value(ReshapeOp::create(builder, value.getLoc(), scalar, repeated));
}

//===- Weights -------------------------------------------------------------===//

namespace {
/// Constant weights without their zero points, and their sums.
struct ByteWeights {
  RankedTensorType type;
  std::vector<int8_t> values;
  /// Along `axis`, the result's columns.
  SmallVector<int64_t> sums;
};
} // namespace

/// Nullopt when the weights are not constant or do not fit signed bytes. `axis` counts the columns.
static std::optional<ByteWeights> readWeights(Value weight, Value zero, unsigned axis) {
  ElementsAttr constant = getConstant(weight);
  auto zeros = getNumbersAlong(zero, axis);
  if (!constant || constant.getNumElements() == 0 || !zeros)
    return std::nullopt;
  ConstantData data(constant);
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t inner = ShapedType::getNumElements(type.getShape().drop_front(axis + 1)), columns = type.getDimSize(axis);
  if (data.numElements() / columns >= mostProducts)
    return std::nullopt;
  ByteWeights weights{withElementType(type, IntegerType::get(type.getContext(), 8)), std::vector<int8_t>(data.numElements()), SmallVector<int64_t>(columns, 0)};
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  const auto *bytes = reinterpret_cast<const int8_t *>(data.bytes().data());
  for (int64_t start = 0, column = 0; start < data.numElements(); start += inner, column = column + 1 == columns ? 0 : column + 1) {
    auto zero = static_cast<int32_t>((*zeros)[zeros->size() == 1 ? 0 : column]);
    int32_t lowest = 0, highest = 0, sum = 0;
    for (int64_t i = start; i < start + inner; ++i) {
      int32_t value = (isUnsigned ? static_cast<uint8_t>(bytes[i]) : bytes[i]) - zero;
      weights.values[i] = static_cast<int8_t>(value);
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
      sum += value;
    }
    if (lowest < -128 || highest > 127)
      return std::nullopt;
    weights.sums[column] += sum;
  }
  return weights;
}

/// The same with `more` zeros behind each run along dimension `axis`.
static void padWeights(ByteWeights &weights, unsigned axis, int64_t more) {
  ArrayRef<int64_t> shape = weights.type.getShape();
  int64_t inner = ShapedType::getNumElements(shape.drop_front(axis + 1)), run = shape[axis] * inner;
  std::vector<int8_t> padded;
  for (size_t i = 0; i < weights.values.size(); i += run) {
    padded.insert(padded.end(), weights.values.begin() + i, weights.values.begin() + i + run);
    padded.insert(padded.end(), more * inner, 0);
  }
  SmallVector<int64_t> grown(shape);
  grown[axis] += more;
  weights.type = RankedTensorType::get(grown, weights.type.getElementType());
  weights.values = std::move(padded);
}

/// How many zeros make it a multiple of the bytes that one sum takes.
static int64_t missing(int64_t size) { return llvm::alignTo(size, bytesPerSum) - size; }

//===- Products of bytes ---------------------------------------------------===//

namespace {
/// The left side in the bytes that the target multiplies, with its zero point as a tensor of rank 0.
struct ByteOperand {
  Value value, zero;
};
} // namespace

/// Bytes of the other signedness with another beginning: -128 is 0.
static Value toSignedness(OpBuilder &builder, Location loc, Value value, Type byte) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == byte)
    return value;
  Value top = SplatOp::create(builder, loc, type, numberAttr(type.getElementType(), 128));
  return BitcastOp::create(builder, loc, withElementType(type, byte), XorOp::create(builder, loc, type, value, top));
}

static Value toSigned(OpBuilder &builder, Location loc, Value value) { return toSignedness(builder, loc, value, builder.getI8Type()); }

/// The bytes of left sides: those of the first step of the target that multiplies bytes by signed ones.
static Type leftByte(OpBuilder &builder, Operation *op) {
  kernel::TargetAttr target = kernel::getTarget(op);
  for (kernel::StepAttr step : target ? target.getSteps() : ArrayRef<kernel::StepAttr>())
    if (step.getLhs().isInteger(8) && step.getRhs().isSignlessInteger(8))
      return step.getLhs();
  return builder.getIntegerType(8, /*isSigned=*/false);
}

static ByteOperand readOperand(OpBuilder &builder, Operation *op, Value value, Value zero) {
  Location loc = op->getLoc();
  Type byte = leftByte(builder, op);
  return {toSignedness(builder, loc, value, byte), toSignedness(builder, loc, getUniform(builder, zero), byte)};
}

static AffineMap constants(OpBuilder &builder, ArrayRef<int64_t> values) {
  return AffineMap::get(0, 0, llvm::map_to_vector(values, [&](int64_t v) { return builder.getAffineConstantExpr(v); }), builder.getContext());
}

/// The operand with a border of its zero point.
static Value padOperand(OpBuilder &builder, Location loc, const ByteOperand &operand, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (llvm::all_of(low, [](int64_t n) { return n == 0; }) && llvm::all_of(high, [](int64_t n) { return n == 0; }))
    return operand.value;
  auto type = cast<RankedTensorType>(operand.value.getType());
  DimExprs dims = getDims(type);
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] = simplifyDim(dims[i] + (low[i] + high[i]));
  return PadOp::create(builder, loc, makeTensorType(dims, type.getElementType()), operand.value, operand.zero, constants(builder, low),
                       constants(builder, high), SmallVector<int64_t>(dims.size(), 0), PadMode::Constant);
}

/// A constant of i32 with one number for each index of dimension `axis`, in the rank of the result.
static Value alongAxis(OpBuilder &builder, Location loc, ArrayRef<int32_t> numbers, int64_t rank, unsigned axis) {
  SmallVector<int64_t> shape(rank - axis, 1);
  shape[0] = numbers.size();
  return ConstantOp::create(builder, loc, makeConstantOf<int32_t>(RankedTensorType::get(shape, builder.getI32Type()), numbers));
}

/// sums - zero * (the weights' sums along `axis` of the result).
static Value subtractZero(OpBuilder &builder, Location loc, Value product, Value zero, ArrayRef<int64_t> sums, unsigned axis) {
  auto type = cast<RankedTensorType>(product.getType());
  auto spread = [&](Value value) { return BroadcastToOp::create(builder, loc, type, value); };
  std::optional<double> number = getSplatNumber(zero);
  int64_t factor = number ? -static_cast<int64_t>(*number) : -1;
  if (factor == 0 || llvm::all_of(sums, [](int64_t sum) { return sum == 0; }))
    return product;
  Value addend = alongAxis(builder, loc, llvm::map_to_vector(sums, [&](int64_t sum) { return static_cast<int32_t>(factor * sum); }), type.getRank(), axis);
  if (!number) {
    auto small = cast<RankedTensorType>(addend.getType());
    Value wide = CastOp::create(builder, loc, RankedTensorType::get({}, builder.getI32Type()), zero);
    addend = MulOp::create(builder, loc, small, addend, BroadcastToOp::create(builder, loc, small, wide));
  }
  return AddOp::create(builder, loc, type, product, spread(addend));
}

static Value makeWeights(OpBuilder &builder, Location loc, const ByteWeights &weights) {
  return ConstantOp::create(builder, loc, makeConstantOf<int8_t>(weights.type, weights.values));
}

//===- Products of computed bytes ------------------------------------------===//

static Value toWide(OpBuilder &builder, Location loc, Value value) {
  return CastOp::create(builder, loc, withElementType(value.getType(), builder.getI32Type()), value);
}

/// The sums along a dimension, which stays with size one.
static Value sumAlong(OpBuilder &builder, Location loc, Value wide, unsigned dimension) {
  DimExprs dims = getDims(wide.getType());
  dims[dimension] = builder.getAffineConstantExpr(1);
  return ReduceOp::create(builder, loc, makeTensorType(dims, builder.getI32Type()), ReduceKind::Sum, wide, ArrayRef<int64_t>{dimension});
}

/// sum - zero * part, with both spread to the shape of the sum.
static Value subtractScaled(OpBuilder &builder, Location loc, Value sum, Value zero, Value part) {
  Type type = part.getType();
  Value scaled = MulOp::create(builder, loc, type, part, BroadcastToOp::create(builder, loc, type, toWide(builder, loc, zero)));
  return SubOp::create(builder, loc, sum.getType(), sum, BroadcastToOp::create(builder, loc, sum.getType(), scaled));
}

static Value multiplyComputed(OpBuilder &builder, QuantizedMatmulOp op) {
  Location loc = op.getLoc();
  auto [lhs, lhsZero] = readOperand(builder, op, op.getLhs(), op.getLhsZero());
  Value rhs = toSigned(builder, loc, op.getRhs()), rhsZero = toSigned(builder, loc, getUniform(builder, op.getRhsZero()));
  auto isAt = [](Value zero, bool isMiddle) { return getSplatNumber(zero) == (isMiddle ? 128.0 : 0.0); };
  bool isUnsigned = op.getRhs().getType().getElementType().isUnsignedInteger();
  bool isLhsUnsigned = op.getLhs().getType().getElementType().isUnsignedInteger();
  bool isLhsZero = lhs == op.getLhs() ? isAt(op.getLhsZero(), false) : getSplatNumber(op.getLhsZero()) == (isLhsUnsigned ? 128.0 : -128.0);
  unsigned lhsRank = op.getLhs().getType().getRank(), rhsRank = op.getRhs().getType().getRank();
  Value sum = MatmulOp::create(builder, loc, op.getType(), lhs, rhs);
  if (!isLhsZero)
    sum = subtractScaled(builder, loc, sum, lhsZero, sumAlong(builder, loc, toWide(builder, loc, rhs), rhsRank - 2));
  if (isAt(op.getRhsZero(), isUnsigned))
    return sum;
  Value wide = toWide(builder, loc, lhs);
  if (!isLhsZero)
    wide = SubOp::create(builder, loc, wide.getType(), wide, BroadcastToOp::create(builder, loc, wide.getType(), toWide(builder, loc, lhsZero)));
  return subtractScaled(builder, loc, sum, rhsZero, sumAlong(builder, loc, wide, lhsRank - 1));
}

//===- Products of wider numbers -------------------------------------------===//

/// The fastest type in which sums of so many products of differences of bytes are exact.
static Type sumType(OpBuilder &builder, AffineExpr products) {
  auto count = getConstantDim(products);
  return count && *count * 255 * 255 < 1 << 24 ? Type(builder.getF32Type()) : Type(builder.getI32Type());
}

/// value - zero in a wider type.
static Value centre(OpBuilder &builder, Location loc, Value value, Value zero, Type wide) {
  Type type = withElementType(value.getType(), wide);
  Value result = CastOp::create(builder, loc, type, value);
  return getSplatNumber(zero) == 0.0 ? result : Value(SubOp::create(builder, loc, type, result, CastOp::create(builder, loc, type, zero)));
}

static Value toSum(OpBuilder &builder, Location loc, Type type, Value product) {
  return product.getType() == type ? product : Value(CastOp::create(builder, loc, type, product));
}

//===- nn.quantized_matmul -------------------------------------------------===//

/// Whether both sides are computed bytes with one zero point each.
static bool isComputed(QuantizedMatmulOp op) {
  auto depth = getConstantDim(getDims(op.getLhs().getType()).back());
  return !getConstant(op.getRhs()) && op.getLhs().getType().getRank() >= 2 && isUniform(op.getLhsZero()) && isUniform(op.getRhsZero()) &&
         (!depth || *depth < mostProducts);
}

bool nn::isByteProduct(QuantizedMatmulOp op) {
  RankedTensorType rhs = op.getRhs().getType();
  return isComputed(op) || (rhs.getRank() == 2 && isUniform(op.getLhsZero()) && readWeights(op.getRhs(), op.getRhsZero(), 1));
}

FailureOr<SmallVector<Value>> QuantizedMatmulOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  if (isComputed(*this))
    return SmallVector<Value>{multiplyComputed(builder, *this)};
  auto weights = getRhs().getType().getRank() == 2 && isUniform(getLhsZero()) ? readWeights(getRhs(), getRhsZero(), 1) : std::nullopt;
  if (!weights) {
    Type wide = sumType(builder, getDims(getLhs().getType()).back());
    Value lhs = centre(builder, loc, getLhs(), getLhsZero(), wide), rhs = centre(builder, loc, getRhs(), getRhsZero(), wide);
    return SmallVector<Value>{toSum(builder, loc, getType(), MatmulOp::create(builder, loc, withElementType(getType(), wide), lhs, rhs))};
  }
  ByteOperand operand = readOperand(builder, getOperation(), getLhs(), getLhsZero());
  SmallVector<int64_t> low(getType().getRank(), 0), high(low);
  high.back() = missing(weights->type.getDimSize(0));
  if (high.back())
    padWeights(*weights, 0, high.back());
  Value product = MatmulOp::create(builder, loc, getType(), padOperand(builder, loc, operand, low, high), makeWeights(builder, loc, *weights));
  return SmallVector<Value>{subtractZero(builder, loc, product, operand.zero, weights->sums, getType().getRank() - 1)};
}

//===- nn.quantized_conv ---------------------------------------------------===//

/// The taps of a window that kernels write out.
static constexpr int64_t mostDepthwiseTaps = 49;

/// Whether each group has one input channel: then every channel of the result has a window of its own.
static bool isDepthwise(QuantizedConvOp op) { return op.getWeight().getType().getShape()[1] == 1 && op.getGroups() != 1; }

static bool hasByteWindows(QuantizedConvOp op) {
  ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
  return !isDepthwise(op) || ShapedType::getNumElements(shape.drop_front(2)) <= mostDepthwiseTaps;
}

bool nn::isByteProduct(QuantizedConvOp op) {
  return hasByteWindows(op) && isUniform(op.getInputZero()) && readWeights(op.getWeight(), op.getWeightZero(), 0);
}

namespace {
/// The input of a convolution of bytes: what its kernels need of channels and borders.
class ByteInput {
public:
  ByteInput(OpBuilder &builder, QuantizedConvOp op)
      : builder(builder), op(op), operand(readOperand(builder, op, op.getInput(), op.getInputZero())), spatial(op.getStrides().size()),
        channels(op.getLayout() == Layout::ChannelsLast ? spatial + 1 : 1) {}
  /// With `more` channels of zeros for each group, and `columns` behind each line of pixels.
  Value make(int64_t more, int64_t columns);
  Value zero() const { return operand.zero; }
  size_t channelAxis() const { return channels; }

private:
  Value repeatChannels(Value value, int64_t times);
  /// The value with its border and `more` channels along dimension `channelDim`; the groups may be a dimension before it.
  Value pad(Value value, size_t channelDim, int64_t more, int64_t columns = 0);

  OpBuilder &builder;
  QuantizedConvOp op;
  ByteOperand operand;
  size_t spatial, channels;
};
} // namespace

static Value reshapeTo(OpBuilder &builder, Location loc, Value value, const DimExprs &dims) {
  return ReshapeOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(value)), value);
}

/// Each channel `times` times side by side.
Value ByteInput::repeatChannels(Value value, int64_t times) {
  DimExprs dims = getDims(value.getType()), single = dims, spread, merged = dims;
  AffineExpr count = builder.getAffineConstantExpr(times);
  single.insert(single.begin() + channels + 1, builder.getAffineConstantExpr(1));
  spread = single;
  spread[channels + 1] = count;
  merged[channels] = simplifyDim(dims[channels] * times);
  value = reshapeTo(builder, op.getLoc(), value, single);
  value = BroadcastToOp::create(builder, op.getLoc(), makeTensorType(spread, getElementTypeOrSelf(value)), value);
  return reshapeTo(builder, op.getLoc(), value, merged);
}

Value ByteInput::pad(Value value, size_t channelDim, int64_t more, int64_t columns) {
  size_t rank = cast<RankedTensorType>(value.getType()).getRank(), first = channels == 1 ? channelDim + 1 : 1;
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < spatial; ++i) {
    low[first + i] = op.getPads()[i];
    high[first + i] = op.getPads()[spatial + i];
  }
  high[first + spatial - 1] += columns;
  high[channelDim] = more;
  return padOperand(builder, op.getLoc(), {value, operand.zero}, low, high);
}

Value ByteInput::make(int64_t more, int64_t columns) {
  auto groups = static_cast<int64_t>(op.getGroups());
  ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
  if (isDepthwise(op))
    return pad(weight[0] == groups ? operand.value : repeatChannels(operand.value, weight[0] / groups), channels, 0);
  if (more == 0 || groups == 1)
    return pad(operand.value, channels, more, columns);
  DimExprs split = getDims(operand.value.getType());
  split[channels] = builder.getAffineConstantExpr(weight[1]);
  split.insert(split.begin() + channels, builder.getAffineConstantExpr(groups));
  Value padded = pad(reshapeTo(builder, op.getLoc(), operand.value, split), channels + 1, more);
  DimExprs merged = getDims(padded.getType());
  merged.erase(merged.begin() + channels);
  merged[channels] = builder.getAffineConstantExpr(groups * (weight[1] + more));
  return reshapeTo(builder, op.getLoc(), padded, merged);
}

/// Whether steps go along the lines of a window, in which the one or two channels of neighbouring taps lie side by side: columns of zeros that fill up a line
/// are fewer than channels of zeros would be.
static bool hasLines(QuantizedConvOp op) {
  ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
  return op.getGroups() == 1 && (shape[1] == 1 || shape[1] == 2) && shape.size() > 2 && shape.back() > 1 && op.getDilations().back() == 1;
}

/// Groups whose channels are no multiple of four, as fewer groups that have one: the weights of a group's other members are zeros. A tile has as many more
/// columns, and no channel is added to the input. Returns how many became one.
static int64_t mergeGroups(ByteWeights &weights, int64_t groups) {
  ArrayRef<int64_t> shape = weights.type.getShape();
  int64_t inside = shape[1], together = bytesPerSum / std::gcd(inside, bytesPerSum);
  if (groups == 1 || together == 1 || groups % together != 0)
    return 1;
  int64_t filters = shape[0] / groups, part = ShapedType::getNumElements(shape.drop_front(1));
  std::vector<int8_t> merged(weights.values.size() * together, 0);
  for (int64_t i = 0; i < shape[0]; ++i)
    std::copy_n(weights.values.begin() + i * part, part, merged.begin() + (i * together + i / filters % together) * part);
  SmallVector<int64_t> grown(shape);
  grown[1] *= together;
  weights.type = RankedTensorType::get(grown, weights.type.getElementType());
  weights.values = std::move(merged);
  return together;
}

FailureOr<SmallVector<Value>> QuantizedConvOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  auto convolve = [&](Type element, Value input, Value weight, ArrayRef<int64_t> pads, int64_t groups) {
    return ConvOp::create(builder, loc, withElementType(getType(), element), input, weight, getStrides(), getDilations(), pads, groups, getLayout());
  };
  auto weights = hasByteWindows(*this) && isUniform(getInputZero()) ? readWeights(getWeight(), getWeightZero(), 0) : std::nullopt;
  if (!weights) {
    DimExprs shape = getDims(getWeight().getType());
    Type wide = sumType(builder, simplifyDim(getNumElements(ArrayRef(shape).drop_front(), getContext())));
    Value input = centre(builder, loc, getInput(), getInputZero(), wide), weight = centre(builder, loc, getWeight(), getWeightZero(), wide);
    return SmallVector<Value>{toSum(builder, loc, getType(), convolve(wide, input, weight, getPads(), getGroups()))};
  }
  ByteInput input(builder, *this);
  bool alone = isDepthwise(*this);
  int64_t groups = alone ? weights->type.getDimSize(0) : static_cast<int64_t>(getGroups()) / mergeGroups(*weights, getGroups());
  int64_t inside = weights->type.getDimSize(1), columns = hasLines(*this) ? missing(inside * weights->type.getShape().back()) / inside : 0;
  int64_t more = alone || hasLines(*this) ? 0 : missing(inside);
  if (columns)
    padWeights(*weights, getStrides().size() + 1, columns);
  if (more)
    padWeights(*weights, 1, more);
  Value product = convolve(builder.getI32Type(), input.make(more, columns), makeWeights(builder, loc, *weights),
                           SmallVector<int64_t>(2 * getStrides().size(), 0), groups);
  return SmallVector<Value>{subtractZero(builder, loc, product, input.zero(), weights->sums, input.channelAxis())};
}

//===- Numbers -------------------------------------------------------------===//

FailureOr<SmallVector<Value>> QuantizeOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  Type real = getX().getType();
  Value scaled = getSplatNumber(getScale()) == 1.0 ? getX() : Value(DivOp::create(builder, loc, real, getX(), getScale()));
  Value rounded = RoundOp::create(builder, loc, real, scaled);
  if (getSplatNumber(getZeroPoint()) != 0.0)
    rounded = AddOp::create(builder, loc, real, rounded, CastOp::create(builder, loc, real, getZeroPoint()));
  auto low = builder.getF64FloatAttr(lowestOf(getType())), high = builder.getF64FloatAttr(highestOf(getType()));
  return SmallVector<Value>{CastOp::create(builder, loc, getType(), ClampOp::create(builder, loc, real, rounded, low, high))};
}

FailureOr<SmallVector<Value>> DequantizeOp::decompose(OpBuilder &builder) {
  Value centred = centre(builder, getLoc(), getX(), getZeroPoint(), builder.getI32Type());
  Value number = CastOp::create(builder, getLoc(), getType(), centred);
  return SmallVector<Value>{MulOp::create(builder, getLoc(), getType(), number, getScale())};
}

bool QuantizeOp::hasFusedKernel(kernel::TargetAttr) { return true; }
bool DequantizeOp::hasFusedKernel(kernel::TargetAttr) { return true; }
