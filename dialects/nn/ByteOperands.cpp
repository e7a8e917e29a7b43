//===- ByteOperands.cpp - The sides of products of bytes -------------------===//
#include "dialects/nn/ByteOperands.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/QuantizedProducts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

//===- Zero points ---------------------------------------------------------===//

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

bool nn::isUniform(Value value) { return getSplatNumber(value) || findRepeated(value); }

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

bool nn::isRepeatedAlong(Value value, unsigned dim) {
  if (getConstantDim(getDim(value.getType(), dim)) == 1 || isUniform(value))
    return true;
  if (auto transpose = value.getDefiningOp<TransposeOp>())
    return isRepeatedAlong(transpose.getInput(), transpose.getPermutation()[dim]);
  if (auto broadcast = value.getDefiningOp<BroadcastToOp>()) {
    int64_t added = cast<RankedTensorType>(value.getType()).getRank() - broadcast.getInput().getType().getRank();
    return static_cast<int64_t>(dim) < added || isRepeatedAlong(broadcast.getInput(), dim - added);
  }
  ElementsAttr constant = getConstant(value);
  if (!constant || constant.getNumElements() == 0)
    return false;
  ConstantData data(constant);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int64_t inner = ShapedType::getNumElements(shape.drop_front(dim + 1)), run = inner * shape[dim];
  return llvm::all_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return data.asDouble(i) == data.asDouble(i / run * run + i % inner); });
}

bool nn::differsOnlyAlong(Value value, unsigned axis) {
  return llvm::all_of(llvm::seq<unsigned>(0, cast<RankedTensorType>(value.getType()).getRank()),
                      [&](unsigned dim) { return dim == axis || isRepeatedAlong(value, dim); });
}

static AffineMap constants(OpBuilder &builder, ArrayRef<int64_t> values) {
  return AffineMap::get(0, 0, llvm::map_to_vector(values, [&](int64_t v) { return builder.getAffineConstantExpr(v); }), builder.getContext());
}

Value nn::takeFirst(OpBuilder &builder, Value value, unsigned dim) {
  if (Value number = getUniform(builder, value))
    return number;
  DimExprs dims = getDims(value.getType());
  if (getConstantDim(dims[dim]) == 1)
    return value;
  SmallVector<int64_t> starts(dims.size(), 0), steps(dims.size(), 1);
  dims[dim] = builder.getAffineConstantExpr(1);
  return SliceOp::create(builder, value.getLoc(), makeTensorType(dims, getElementTypeOrSelf(value)), value, constants(builder, starts), steps);
}

Value nn::takeColumns(OpBuilder &builder, Value value, unsigned axis) {
  if (Value number = getUniform(builder, value))
    return number;
  auto type = cast<RankedTensorType>(value.getType());
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (dim != axis)
      value = takeFirst(builder, value, dim);
  return ReshapeOp::create(builder, value.getLoc(), makeTensorType({getDim(type, axis)}, type.getElementType()), value);
}

Value nn::spreadAlong(OpBuilder &builder, Location loc, Value numbers, RankedTensorType type, unsigned axis) {
  auto own = cast<RankedTensorType>(numbers.getType());
  DimExprs dims = getDims(own);
  if (dims.size() == 1 && axis + 1 < type.getRank()) {
    dims.append(type.getRank() - axis - 1, builder.getAffineConstantExpr(1));
    numbers = ReshapeOp::create(builder, loc, makeTensorType(dims, own.getElementType()), numbers);
  }
  return BroadcastToOp::create(builder, loc, withElementType(type, own.getElementType()), numbers);
}

//===- Sides ---------------------------------------------------------------===//

Value nn::toSignedness(OpBuilder &builder, Location loc, Value value, Type byte) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == byte)
    return value;
  RankedTensorType other = withElementType(type, byte);
  if (std::optional<double> number = getSplatNumber(value))
    return SplatOp::create(builder, loc, other, numberAttr(byte, *number + (byte.isUnsignedInteger() ? 128 : -128)));
  Value top = SplatOp::create(builder, loc, type, numberAttr(type.getElementType(), 128));
  return BitcastOp::create(builder, loc, other, XorOp::create(builder, loc, type, value, top));
}

Value nn::toSigned(OpBuilder &builder, Location loc, Value value) { return toSignedness(builder, loc, value, builder.getI8Type()); }

Type nn::leftByte(OpBuilder &builder, Operation *op) {
  kernel::TargetAttr target = kernel::getTarget(op);
  for (kernel::StepAttr step : target ? target.getSteps() : ArrayRef<kernel::StepAttr>())
    if (step.getLhs().isInteger(8) && step.getRhs().isSignlessInteger(8))
      return step.getLhs();
  return builder.getIntegerType(8, /*isSigned=*/false);
}

Value nn::padOperand(OpBuilder &builder, Location loc, const ByteOperand &operand, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (llvm::all_of(low, [](int64_t n) { return n == 0; }) && llvm::all_of(high, [](int64_t n) { return n == 0; }))
    return operand.value;
  auto type = cast<RankedTensorType>(operand.value.getType());
  DimExprs dims = getDims(type);
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] = simplifyDim(dims[i] + (low[i] + high[i]));
  return PadOp::create(builder, loc, makeTensorType(dims, type.getElementType()), operand.value, operand.zero, constants(builder, low),
                       constants(builder, high), SmallVector<int64_t>(dims.size(), 0), PadMode::Constant);
}

bool nn::areByteWeights(Value weight, Value zero, unsigned axis) {
  ElementsAttr constant = getConstant(weight);
  if (!constant || constant.getNumElements() == 0 || !differsOnlyAlong(zero, axis))
    return false;
  return constant.getNumElements() / cast<RankedTensorType>(weight.getType()).getDimSize(axis) < mostProducts;
}

namespace {
/// The bytes of constant weights.
struct RawWeights {
  const int8_t *bytes;
  bool isUnsigned;
  int64_t count, columns, inner;

  int32_t operator[](int64_t i) const { return isUnsigned ? static_cast<uint8_t>(bytes[i]) : bytes[i]; }
  /// Calls visit(column, first, last) for the runs of elements that belong to one column.
  void forEachRun(function_ref<void(int64_t column, int64_t first, int64_t last)> visit) const {
    for (int64_t start = 0, column = 0; start < count; start += inner, column = column + 1 == columns ? 0 : column + 1)
      visit(column, start, start + inner);
  }
  /// For each column, the number next to its zero point from which all its elements are signed bytes.
  SmallVector<int32_t> chooseOrigins(ArrayRef<double> zeros) const {
    SmallVector<int32_t> lowest(columns, 255), highest(columns, -128), origins;
    forEachRun([&](int64_t column, int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        lowest[column] = std::min(lowest[column], (*this)[i]);
        highest[column] = std::max(highest[column], (*this)[i]);
      }
    });
    for (int64_t i = 0; i < columns; ++i)
      origins.push_back(std::clamp(static_cast<int32_t>(zeros[zeros.size() == 1 ? 0 : i]), highest[i] - 127, lowest[i] + 128));
    return origins;
  }
};
} // namespace

std::optional<ByteWeights> nn::readWeights(OpBuilder &builder, Value weight, Value zero, unsigned axis) {
  if (!areByteWeights(weight, zero, axis))
    return std::nullopt;
  ConstantData data(getConstant(weight));
  auto type = cast<RankedTensorType>(weight.getType());
  RawWeights raw{reinterpret_cast<const int8_t *>(data.bytes().data()), type.getElementType().isUnsignedInteger(), data.numElements(), type.getDimSize(axis),
                 ShapedType::getNumElements(type.getShape().drop_front(axis + 1))};
  auto zeros = getNumbersAlong(zero, axis);
  SmallVector<int32_t> origins = zeros ? raw.chooseOrigins(*zeros) : SmallVector<int32_t>(raw.columns, raw.isUnsigned ? 128 : 0);
  ByteWeights weights{withElementType(type, builder.getI8Type()), std::vector<int8_t>(raw.count), SmallVector<int64_t>(raw.columns, 0), {}};
  raw.forEachRun([&](int64_t column, int64_t first, int64_t last) {
    int64_t sum = 0;
    for (int64_t i = first; i < last; ++i) {
      int32_t value = raw[i] - origins[column];
      weights.values[i] = static_cast<int8_t>(value);
      sum += value;
    }
    weights.sums[column] += sum;
  });
  if (!zeros) {
    weights.rest = toWide(builder, zero.getLoc(), toSigned(builder, zero.getLoc(), takeColumns(builder, zero, axis)));
    return weights;
  }
  SmallVector<int32_t> rest;
  for (auto [i, origin] : llvm::enumerate(origins))
    rest.push_back(static_cast<int32_t>((*zeros)[zeros->size() == 1 ? 0 : i]) - origin);
  if (llvm::any_of(rest, [](int32_t number) { return number != 0; }))
    weights.rest = ConstantOp::create(builder, weight.getLoc(), makeConstantOf<int32_t>(RankedTensorType::get({raw.columns}, builder.getI32Type()), rest));
  return weights;
}

void nn::padWeights(ByteWeights &weights, unsigned axis, int64_t more) {
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

int64_t nn::missingBytes(int64_t size) { return llvm::alignTo(size, bytesPerSum) - size; }

Value nn::makeWeights(OpBuilder &builder, Location loc, const ByteWeights &weights) {
  return ConstantOp::create(builder, loc, makeConstantOf<int8_t>(weights.type, weights.values));
}

//===- Sums ----------------------------------------------------------------===//

Value nn::toWide(OpBuilder &builder, Location loc, Value value) {
  return CastOp::create(builder, loc, withElementType(value.getType(), builder.getI32Type()), value);
}

static Value spread(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type ? value : Value(BroadcastToOp::create(builder, loc, type, value));
}

static Value subtract(OpBuilder &builder, Location loc, Value from, Value what) {
  return SubOp::create(builder, loc, from.getType(), from, spread(builder, loc, what, from.getType()));
}

Value nn::subtractTimes(OpBuilder &builder, Location loc, Value sum, Value zero, int64_t times) {
  if (getSplatNumber(zero) == 0.0)
    return sum;
  Value wide = toWide(builder, loc, zero);
  auto type = cast<RankedTensorType>(wide.getType());
  Value count = SplatOp::create(builder, loc, type, numberAttr(type.getElementType(), static_cast<double>(times)));
  return subtract(builder, loc, sum, MulOp::create(builder, loc, type, wide, count));
}

Value nn::sumWithoutZero(OpBuilder &builder, Location loc, const ByteOperand &operand, unsigned dim) {
  Value wide = toWide(builder, loc, operand.value);
  DimExprs dims = getDims(wide.getType());
  auto count = getConstantDim(dims[dim]);
  if (!count && getSplatNumber(operand.zero) != 0.0)
    wide = subtract(builder, loc, wide, toWide(builder, loc, operand.zero));
  dims[dim] = builder.getAffineConstantExpr(1);
  Value sum = ReduceOp::create(builder, loc, makeTensorType(dims, builder.getI32Type()), ReduceKind::Sum, wide, ArrayRef<int64_t>{dim});
  return count ? subtractTimes(builder, loc, sum, operand.zero, *count) : sum;
}

Value nn::sumRows(OpBuilder &builder, Location loc, const ByteOperand &rows, int64_t length) {
  DimExprs dims = getDims(rows.value.getType());
  dims.back() = builder.getAffineConstantExpr(1);
  int64_t depth = *getConstantDim(getDims(rows.value.getType()).back());
  std::vector<int8_t> numbers(depth, 0);
  std::fill_n(numbers.begin(), length, 1);
  Value ones = ConstantOp::create(builder, loc, makeConstantOf<int8_t>(RankedTensorType::get({depth, 1}, builder.getI8Type()), numbers));
  return subtractTimes(builder, loc, MatmulOp::create(builder, loc, makeTensorType(dims, builder.getI32Type()), rows.value, ones), rows.zero, length);
}

Value nn::subtractProduct(OpBuilder &builder, Location loc, Value sum, Value a, Value b) {
  // One number is multiplied with where the other side is small.
  auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
  if (rankOf(a) == 0)
    std::swap(a, b);
  Type type = rankOf(b) == 0 ? a.getType() : sum.getType();
  return subtract(builder, loc, sum, MulOp::create(builder, loc, type, spread(builder, loc, a, type), spread(builder, loc, b, type)));
}

Value nn::subtractZero(OpBuilder &builder, Location loc, Value sum, Value zero, ArrayRef<int64_t> sums, unsigned axis) {
  auto type = cast<RankedTensorType>(sum.getType());
  std::optional<double> number = getSplatNumber(zero);
  int64_t factor = number ? -static_cast<int64_t>(*number) : 1;
  if (factor == 0 || llvm::all_of(sums, [](int64_t each) { return each == 0; }))
    return sum;
  SmallVector<int32_t> numbers = llvm::map_to_vector(sums, [&](int64_t each) { return static_cast<int32_t>(factor * each); });
  SmallVector<int64_t> shape(type.getRank() - axis, 1);
  shape[0] = numbers.size();
  Value row = ConstantOp::create(builder, loc, makeConstantOf<int32_t>(RankedTensorType::get(shape, builder.getI32Type()), numbers));
  if (!number)
    return subtractProduct(builder, loc, sum, row, toWide(builder, loc, zero));
  return AddOp::create(builder, loc, type, sum, BroadcastToOp::create(builder, loc, type, row));
}

//===- Products of wider numbers -------------------------------------------===//

Type nn::sumType(OpBuilder &builder, AffineExpr products) {
  auto count = getConstantDim(products);
  return count && *count * 255 * 255 < 1 << 24 ? Type(builder.getF32Type()) : Type(builder.getI32Type());
}

Value nn::centre(OpBuilder &builder, Location loc, Value value, Value zero, Type wide) {
  Type type = withElementType(value.getType(), wide);
  Value result = CastOp::create(builder, loc, type, value);
  return getSplatNumber(zero) == 0.0 ? result : Value(SubOp::create(builder, loc, type, result, CastOp::create(builder, loc, type, zero)));
}

Value nn::toSum(OpBuilder &builder, Location loc, Type type, Value product) {
  return product.getType() == type ? product : Value(CastOp::create(builder, loc, type, product));
}
