//===- QuantizedConvolution.cpp - Convolutions of quantised numbers in bytes ---===//
//
//   %r = nn.quantized_conv %x, %w zero_points %zx, %zw ...
//
// becomes, if %w is constant and %zx one number, the nn.conv of %x with a border of %zx and the weights as signed bytes, in the forms that kernels of bytes
// have, minus what the zero points add (ByteOperands.h). Where a part of %zw is left, that needs the sum of each window of %x - %zx: a convolution of one place
// with ones adds channels, and places are added by slices, as many at a time as powers of two have. Windows of few channels, and those that each channel has
// of its own, are added by a convolution with ones.
//
// A computed %w is the right side of a product (nn.quantized_matmul) of the windows, side by side in memory, unless the sums are so short that f32 is exact.
//
// Otherwise it is the nn.conv of (%x - %zx) and (%w - %zw), in f32 where that is exact.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ByteOperands.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "dialects/nn/QuantizedProducts.h"
#include <numeric>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// The taps of a window that kernels write out.
static constexpr int64_t mostDepthwiseTaps = 49;

/// Whether each group has one input channel: then every channel of the result has a window of its own.
static bool isDepthwise(QuantizedConvOp op) { return op.getWeight().getType().getShape()[1] == 1 && op.getGroups() != 1; }

static bool hasByteWindows(QuantizedConvOp op) {
  ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
  return !isDepthwise(op) || ShapedType::getNumElements(shape.drop_front(2)) <= mostDepthwiseTaps;
}

bool nn::isByteProduct(QuantizedConvOp op) {
  return hasByteWindows(op) && isUniform(op.getInputZero()) && areByteWeights(op.getWeight(), op.getWeightZero(), 0);
}

namespace {
/// The input of a convolution of bytes: what its kernels need of channels and borders.
class ByteInput {
public:
  ByteInput(OpBuilder &builder, QuantizedConvOp op);
  /// With `more` channels of zeros for each group, and `columns` behind each line of pixels.
  Value make(int64_t more, int64_t columns);
  /// The sum of each window without its zero point, for each channel of the result or for all of them.
  Value sumWindows();
  Value zero() const { return operand.zero; }
  size_t channelAxis() const { return channels; }

private:
  Value repeatChannels(Value value, int64_t times);
  /// The channels of each group as a dimension of their own.
  Value splitGroups(Value value);
  /// The value with its border and `more` channels along dimension `channelDim`; the groups may be a dimension before it.
  Value pad(Value value, size_t channelDim, int64_t more, int64_t columns = 0);
  Value sumPlaces(Value value, size_t dim, int64_t count, int64_t apart);
  Value take(Value value, size_t dim, int64_t start, AffineExpr size, int64_t step = 1);
  Value sumByOnes();
  Value sumChannels();
  /// The first spatial dimension.
  size_t firstPlace() const { return channels == 1 ? 2 : 1; }

  OpBuilder &builder;
  QuantizedConvOp op;
  ByteOperand operand;
  size_t spatial, channels;
};
} // namespace

static Value reshapeTo(OpBuilder &builder, Location loc, Value value, const DimExprs &dims) {
  return ReshapeOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(value)), value);
}

ByteInput::ByteInput(OpBuilder &builder, QuantizedConvOp op)
    : builder(builder), op(op), spatial(op.getStrides().size()), channels(op.getLayout() == Layout::ChannelsLast ? spatial + 1 : 1) {
  Type byte = leftByte(builder, op);
  operand = {toSignedness(builder, op.getLoc(), op.getInput(), byte), toSignedness(builder, op.getLoc(), getUniform(builder, op.getInputZero()), byte)};
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

Value ByteInput::splitGroups(Value value) {
  DimExprs split = getDims(value.getType());
  split[channels] = builder.getAffineConstantExpr(op.getWeight().getType().getShape()[1]);
  split.insert(split.begin() + channels, builder.getAffineConstantExpr(static_cast<int64_t>(op.getGroups())));
  return reshapeTo(builder, op.getLoc(), value, split);
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
  Value padded = pad(splitGroups(operand.value), channels + 1, more);
  DimExprs merged = getDims(padded.getType());
  merged.erase(merged.begin() + channels);
  merged[channels] = builder.getAffineConstantExpr(groups * (weight[1] + more));
  return reshapeTo(builder, op.getLoc(), padded, merged);
}

//===- Weights -------------------------------------------------------------===//

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

//===- Sums of windows -----------------------------------------------------===//

/// `size` elements along a dimension.
Value ByteInput::take(Value value, size_t dim, int64_t start, AffineExpr size, int64_t step) {
  DimExprs dims = getDims(value.getType()), starts(dims.size(), builder.getAffineConstantExpr(0));
  if (start == 0 && step == 1 && dims[dim] == size)
    return value;
  SmallVector<int64_t> steps(dims.size(), 1);
  dims[dim] = size;
  starts[dim] = builder.getAffineConstantExpr(start);
  steps[dim] = step;
  return SliceOp::create(builder, op.getLoc(), makeTensorType(dims, getElementTypeOrSelf(value)), value, makeSymbolMap(starts, builder.getContext()), steps);
}

/// The sums of `count` elements along a dimension, each so far from the one before it.
Value ByteInput::sumPlaces(Value value, size_t dim, int64_t count, int64_t apart) {
  if (count == 1)
    return value;
  AffineExpr size = simplifyDim(getDim(value.getType(), dim) - (count - 1) * apart);
  Value half = sumPlaces(value, dim, count / 2, apart), first = take(half, dim, 0, size);
  Value sum = AddOp::create(builder, op.getLoc(), first.getType(), first, take(half, dim, count / 2 * apart, size));
  return count % 2 ? Value(AddOp::create(builder, op.getLoc(), first.getType(), sum, take(value, dim, (count - 1) * apart, size))) : sum;
}

/// By a convolution with ones, which has the same windows and one filter, or one for each channel.
Value ByteInput::sumByOnes() {
  RankedTensorType weight = op.getWeight().getType();
  SmallVector<int64_t> shape(weight.getShape());
  shape[0] = isDepthwise(op) ? shape[0] : 1;
  DimExprs dims = getDims(op.getType());
  dims[channels] = builder.getAffineConstantExpr(shape[0]);
  RankedTensorType type = RankedTensorType::get(shape, builder.getI8Type());
  Value ones = ConstantOp::create(builder, op.getLoc(), makeConstantOf<int8_t>(type, std::vector<int8_t>(type.getNumElements(), 1)));
  Value none = SplatOp::create(builder, op.getLoc(), type, builder.getI8IntegerAttr(0));
  RankedTensorType result = makeTensorType(dims, builder.getI32Type());
  return QuantizedConvOp::create(builder, op.getLoc(), result, op.getInput(), ones, op.getInputZero(), none, op.getStrides(), op.getDilations(), op.getPads(),
                                 op.getGroups(), op.getLayout());
}

/// The sums of the channels of each group, also in the border. Strides are taken where a window has one place.
Value ByteInput::sumChannels() {
  auto groups = static_cast<int64_t>(op.getGroups());
  ArrayRef<int64_t> window = op.getWeight().getType().getShape();
  SmallVector<int64_t> shape(window.size(), 1), strides(spatial, 1);
  shape[0] = groups;
  shape[1] = window[1];
  ByteWeights ones{RankedTensorType::get(shape, builder.getI8Type()), std::vector<int8_t>(groups * window[1], 1), {}, {}};
  int64_t fewer = groups / mergeGroups(ones, groups), more = missingBytes(ones.type.getDimSize(1));
  padWeights(ones, 1, more);
  Value padded = make(more, 0);
  DimExprs dims = getDims(padded.getType());
  dims[channels] = builder.getAffineConstantExpr(groups);
  for (size_t i = 0, first = firstPlace(); i < spatial; ++i) {
    strides[i] = window[2 + i] == 1 ? op.getStrides()[i] : 1;
    dims[first + i] = simplifyDim((dims[first + i] - 1).floorDiv(strides[i]) + 1);
  }
  Value sum = ConvOp::create(builder, op.getLoc(), makeTensorType(dims, builder.getI32Type()), padded, makeWeights(builder, op.getLoc(), ones), strides,
                             SmallVector<int64_t>(spatial, 1), SmallVector<int64_t>(2 * spatial, 0), fewer, op.getLayout());
  return subtractTimes(builder, op.getLoc(), sum, operand.zero, window[1]);
}

Value ByteInput::sumWindows() {
  if (isDepthwise(op) || hasLines(op))
    return sumByOnes();
  Value sum = sumChannels();
  ArrayRef<int64_t> window = op.getWeight().getType().getShape();
  DimExprs output = getDims(op.getType());
  for (size_t i = 0, first = firstPlace(); i < spatial; ++i) {
    if (window[2 + i] == 1)
      continue;
    sum = sumPlaces(sum, first + i, window[2 + i], op.getDilations()[i]);
    sum = take(sum, first + i, 0, output[first + i], op.getStrides()[i]);
  }
  auto groups = static_cast<int64_t>(op.getGroups());
  return groups == 1 ? sum : repeatChannels(sum, window[0] / groups);
}

//===- Convolutions ------------------------------------------------------===//

static Value convolve(OpBuilder &builder, QuantizedConvOp op, Value input, Value weight, ArrayRef<int64_t> pads, int64_t groups) {
  Type sum = getElementTypeOrSelf(input).isInteger(8) ? Type(builder.getI32Type()) : getElementTypeOrSelf(input);
  return ConvOp::create(builder, op.getLoc(), withElementType(op.getType(), sum), input, weight, op.getStrides(), op.getDilations(), pads, groups,
                        op.getLayout());
}

static Value convolveBytes(OpBuilder &builder, QuantizedConvOp op) {
  Location loc = op.getLoc();
  ByteWeights weights = *readWeights(builder, op.getWeight(), op.getWeightZero(), 0);
  ByteInput input(builder, op);
  bool alone = isDepthwise(op), lines = hasLines(op);
  int64_t groups = alone ? weights.type.getDimSize(0) : static_cast<int64_t>(op.getGroups()) / mergeGroups(weights, op.getGroups());
  int64_t depth = weights.type.getDimSize(1), columns = lines ? missingBytes(depth * weights.type.getShape().back()) / depth : 0;
  int64_t more = alone || lines ? 0 : missingBytes(depth);
  if (columns)
    padWeights(weights, op.getStrides().size() + 1, columns);
  if (more)
    padWeights(weights, 1, more);
  SmallVector<int64_t> inside(2 * op.getStrides().size(), 0);
  Value sum = convolve(builder, op, input.make(more, columns), makeWeights(builder, loc, weights), inside, groups);
  sum = subtractZero(builder, loc, sum, input.zero(), weights.sums, input.channelAxis());
  if (!weights.rest)
    return sum;
  bool isOne = cast<RankedTensorType>(weights.rest.getType()).getRank() == 0;
  Value rest = isOne ? weights.rest : spreadAlong(builder, loc, weights.rest, op.getType(), input.channelAxis());
  return subtractProduct(builder, loc, sum, input.sumWindows(), rest);
}

static Value convolveWide(OpBuilder &builder, QuantizedConvOp op, Type wide) {
  Location loc = op.getLoc();
  Value input = centre(builder, loc, op.getInput(), op.getInputZero(), wide), weight = centre(builder, loc, op.getWeight(), op.getWeightZero(), wide);
  return toSum(builder, loc, op.getType(), convolve(builder, op, input, weight, op.getPads(), op.getGroups()));
}

//===- Computed weights ----------------------------------------------------===//

/// The most places of a window that are put side by side.
static constexpr int64_t mostPlaces = 64;

/// Whether a product of windows and weights is one of bytes.
static bool hasWindows(QuantizedConvOp op) {
  RankedTensorType weight = op.getWeight().getType();
  ArrayRef<int64_t> window = weight.getShape().drop_front(2);
  bool isKnown = op.getInput().getType().hasStaticShape() && weight.hasStaticShape() && !llvm::is_contained(op.getType().getShape(), 0);
  return isKnown && ShapedType::getNumElements(window) <= mostPlaces && isUniform(op.getInputZero()) && differsOnlyAlong(op.getWeightZero(), 0);
}

namespace {
/// A convolution as a product for each group: [pixels, places of a window and channels] by [places and channels, filters].
struct WindowProduct {
  OpBuilder &builder;
  mutable QuantizedConvOp op;
  Location loc = op.getLoc();
  int64_t spatial = static_cast<int64_t>(op.getStrides().size()), groups = static_cast<int64_t>(op.getGroups());
  bool isLast = op.getLayout() == Layout::ChannelsLast;

  Value reshape(Value value, ArrayRef<int64_t> shape) const {
    return ReshapeOp::create(builder, loc, RankedTensorType::get(shape, getElementTypeOrSelf(value)), value);
  }
  Value transpose(Value value, ArrayRef<int64_t> order) const { return makeTranspose(builder, loc, value, order); }
  int64_t countPlaces() const { return ShapedType::getNumElements(op.getWeight().getType().getShape().drop_front(2)); }
  /// [pixels, channels] of each place of the window, side by side: [groups, pixels, places * channels].
  Value joinWindows() const;
  Value orderWeights(Value value) const;
  Value build() const;
};
} // namespace

Value WindowProduct::joinWindows() const {
  Value input = isLast ? op.getInput() : transpose(op.getInput(), toChannelsLast(spatial + 2));
  SmallVector<int64_t> low(spatial + 2, 0), high(low), steps(spatial + 2, 1);
  for (int64_t i = 0; i < spatial; ++i) {
    low[1 + i] = op.getPads()[i];
    high[1 + i] = op.getPads()[spatial + i];
    steps[1 + i] = op.getStrides()[i];
  }
  input = padOperand(builder, loc, {input, getUniform(builder, op.getInputZero())}, low, high);
  RankedTensorType result = op.getType();
  SmallVector<int64_t> shape(isLast ? result.getShape() : permuteType(result, toChannelsLast(spatial + 2)).getShape());
  int64_t channels = cast<RankedTensorType>(input.getType()).getDimSize(spatial + 1), pixels = ShapedType::getNumElements(ArrayRef(shape).drop_back());
  shape.back() = channels;
  RankedTensorType type = RankedTensorType::get(shape, getElementTypeOrSelf(input));
  ArrayRef<int64_t> window = op.getWeight().getType().getShape().drop_front(2);
  SmallVector<Value> places;
  for (int64_t place = 0; place < countPlaces(); ++place) {
    SmallVector<AffineExpr> starts(spatial + 2, builder.getAffineConstantExpr(0));
    for (int64_t i = spatial - 1, rest = place; i >= 0; rest /= window[i], --i)
      starts[1 + i] = builder.getAffineConstantExpr(rest % window[i] * op.getDilations()[i]);
    places.push_back(SliceOp::create(builder, loc, type, input, AffineMap::get(0, 0, starts, builder.getContext()), steps));
  }
  shape.back() = channels * countPlaces();
  Value joined = places.size() == 1 ? places.front()
                                    : Value(ConcatOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), places, spatial + 1));
  int64_t inside = channels / groups;
  joined = transpose(reshape(joined, {pixels, countPlaces(), groups, inside}), {2, 0, 1, 3});
  return reshape(joined, {groups, pixels, countPlaces() * inside});
}

/// [filters, channels, window...] as [groups, places * channels, filters of a group].
Value WindowProduct::orderWeights(Value value) const {
  ArrayRef<int64_t> shape = op.getWeight().getType().getShape();
  value = transpose(reshape(value, {groups, shape[0] / groups, shape[1], countPlaces()}), {0, 3, 2, 1});
  return reshape(value, {groups, countPlaces() * shape[1], shape[0] / groups});
}

Value WindowProduct::build() const {
  Value left = joinWindows(), right = orderWeights(op.getWeight());
  auto rightType = cast<RankedTensorType>(right.getType());
  RankedTensorType result = isLast ? op.getType() : permuteType(op.getType(), toChannelsLast(spatial + 2));
  int64_t pixels = cast<RankedTensorType>(left.getType()).getDimSize(1), filters = rightType.getDimSize(2);
  Value leftZero = BroadcastToOp::create(builder, loc, cast<RankedTensorType>(left.getType()), getUniform(builder, op.getInputZero()));
  Value rightZero = getUniform(builder, op.getWeightZero());
  if (!rightZero)
    rightZero = reshape(takeColumns(builder, op.getWeightZero(), 0), {groups, 1, filters});
  rightZero = BroadcastToOp::create(builder, loc, rightType, rightZero);
  auto type = RankedTensorType::get({groups, pixels, filters}, builder.getI32Type());
  Value sum = QuantizedMatmulOp::create(builder, loc, type, left, right, leftZero, rightZero);
  sum = reshape(transpose(sum, {1, 0, 2}), result.getShape());
  return isLast ? sum : transpose(sum, toChannelsFirst(spatial + 2));
}

FailureOr<SmallVector<Value>> QuantizedConvOp::decompose(OpBuilder &builder) {
  if (isByteProduct(*this))
    return SmallVector<Value>{convolveBytes(builder, *this)};
  Type wide = sumType(builder, simplifyDim(getNumElements(ArrayRef(getDims(getWeight().getType())).drop_front(), getContext())));
  if (wide.isInteger() && hasWindows(*this))
    return SmallVector<Value>{WindowProduct{builder, *this}.build()};
  return SmallVector<Value>{convolveWide(builder, *this, wide)};
}
