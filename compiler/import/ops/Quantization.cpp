//===- Quantization.cpp - Quantized numbers ---------------------------------===//
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/ops/Convolution.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/Quantization.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNQuantizedOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

Value spreadParameter(Node &node, Value parameter, Value x, int64_t axis, int64_t block) {
  DimExprs dims = node.dims(x), own = node.dims(parameter);
  if (nn::getConstantDim(nn::getNumElements(own, node.context())) == 1)
    return node.broadcastTo(node.reshape(parameter, {}), dims);
  axis = node.axis(axis, dims.size());
  if (node.failed())
    return parameter;
  if (own.size() == 1 && block == 0) {
    DimExprs shape(dims.size(), node.number(1));
    shape[axis] = own[0];
    // A symbolic number of them may be one for all.
    bool isEither = isa<AffineSymbolExpr>(own[0]) && nn::mayBroadcast(own[0], dims[axis]);
    if (!isEither && !node.unify(own[0], dims[axis], "the number of scales or zero points and the dimension differ"))
      return parameter;
    return node.broadcastTo(node.reshape(parameter, shape), dims);
  }
  if (block == 0) {
    (void)node.error("a scale or zero point has rank " + Twine(own.size()) + ", expected one number, or one for each index of axis " + Twine(axis));
    return parameter;
  }
  auto size = nn::getConstantDim(dims[axis]), blocks = own.size() == dims.size() ? nn::getConstantDim(own[axis]) : std::nullopt;
  if (!size || !blocks || block < 1 || *blocks != llvm::divideCeilSigned(*size, block)) {
    (void)node.error("the scale's shape and attribute 'block_size' " + Twine(block) + " do not fit the input");
    return parameter;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    if (i != axis && !node.unify(own[i], dims[i], "a scale or zero point of blocks differs from the input in dimension " + Twine(i)))
      return parameter;
  block = std::min(block, *size);
  DimExprs apart = own, repeated = own, joined = own;
  apart.insert(apart.begin() + axis + 1, node.number(1));
  repeated.insert(repeated.begin() + axis + 1, node.number(block));
  joined[axis] = node.number(*blocks * block);
  Value whole = node.reshape(node.broadcastTo(node.reshape(parameter, apart), repeated), joined);
  return node.broadcastTo(node.slice(whole, axis, node.number(0), dims[axis]), dims);
}

/// Whether a scale has a zero point of its own kind: one for all, one for each index of the axis, or one for each block.
static bool expectZeroPoints(Node &node, Value scale, Value zeroPoint) {
  auto count = [&](Value value) { return nn::getNumElements(node.dims(value), node.context()); };
  return !zeroPoint || node.unify(count(scale), count(zeroPoint), "the scale and the zero point have different shapes: number of elements");
}

/// Real numbers to the nearest integer of the type, ties to even, after adding the zero point.
static Value toInteger(Node &node, Value scaled, Value zeroPoint, Type to, int64_t narrowBits = 0) {
  auto integer = cast<IntegerType>(to);
  int64_t bits = narrowBits ? narrowBits : integer.getWidth();
  double low = integer.isUnsigned() ? 0 : -std::ldexp(1.0, bits - 1), high = std::ldexp(1.0, integer.isUnsigned() ? bits : bits - 1) - 1;
  Value rounded = node.unary<RoundOp>(scaled);
  if (zeroPoint)
    rounded = node.binary<AddOp>(rounded, zeroPoint);
  OpBuilder &b = node.builder();
  return node.cast(node.unary<ClampOp>(rounded, b.getF64FloatAttr(low), b.getF64FloatAttr(high)), to);
}

static bool isQuantized(Type type) {
  auto integer = dyn_cast_or_null<IntegerType>(type);
  return integer && integer.getWidth() >= 8 && integer.getWidth() <= 16;
}

/// The type in which x is divided by the scale: f32. From opset 23 on it is that of the scale, or of attribute 'precision'.
static Type quotientType(Node &node, Value scale) {
  int64_t precision = node.getInt("precision", 0);
  Type named = precision ? getElementType(static_cast<int>(precision & 0xff), node.context()) : node.elementType(scale);
  return node.opset >= 23 && named && (named.isF16() || named.isBF16()) ? named : Type(node.builder().getF32Type());
}

/// x / scale as f32, rounded to the type in which it is divided.
static Value divideByScale(Node &node, Value x, Value scale, Type divided, int64_t axis, int64_t block) {
  auto inPrecision = [&](Value value) { return node.cast(node.cast(value, divided), node.builder().getF32Type()); };
  return inPrecision(node.binary<DivOp>(inPrecision(x), spreadParameter(node, inPrecision(scale), x, axis, block)));
}

/// Only the type of what is divided can be asked for.
static bool expectPrecision(Node &node) {
  int64_t precision = node.getInt("precision", 0);
  Type type = precision ? getElementType(static_cast<int>(precision & 0xff), node.context()) : Type(node.builder().getF32Type());
  if (type && (type.isF32() || type.isF16() || type.isBF16()))
    return true;
  (void)node.error("attribute 'precision' is " + getDataTypeName(static_cast<int>(precision & 0xff)) + ", expected float, float16 or bfloat16");
  return false;
}

static LogicalResult quantizeLinear(Node &node) {
  Value x = node.input(0), scale = node.input(1), zeroPoint = node.optionalInput(2);
  if (node.failed() || !expectPrecision(node) || !expectZeroPoints(node, scale, zeroPoint))
    return failure();
  int64_t axis = node.getInt("axis", 1), block = node.getInt("block_size", 0), dtype = node.getInt("output_dtype", 0);
  bool saturates = node.getFlag("saturate", true);
  int64_t narrow = zeroPoint ? node.narrowType(2) : dtype > 16 ? dtype : 0;
  Type byDefault = dtype ? getElementType(static_cast<int>(dtype & 0xff), node.context()) : Type(node.builder().getIntegerType(8, false));
  Type to = zeroPoint ? node.elementType(zeroPoint) : byDefault;
  if (dtype && zeroPoint && (getStorageType(static_cast<int>(dtype), node.context()) != to || (node.narrowType(2) && node.narrowType(2) != dtype)))
    return node.error("attribute 'output_dtype' says " + getDataTypeName(static_cast<int>(dtype)) + ", but y_zero_point has another element type");
  if (!isNarrowFloat(narrow) && !isQuantized(to))
    return node.unsupported("quantization to other types than integers of at most 16 bits and narrow floats", "use uint8 or int8");
  Type real = node.builder().getF32Type(), divided = quotientType(node, scale);
  if (divided == real && !narrow) {
    Value spreadScale = spreadParameter(node, node.cast(scale, real), x, axis, block);
    Value offset = zeroPoint ? spreadParameter(node, zeroPoint, x, axis, block) : node.splat(node.dims(x), to, 0);
    return node.failed() ? failure() : node.result(node.make<QuantizeOp>(node.type(node.dims(x), to), node.cast(x, real), spreadScale, offset));
  }
  Value scaled = divideByScale(node, x, scale, divided, axis, block);
  // The zero point of a narrow float only names the type: it must be zero, and makes a negative zero a positive one.
  if (isNarrowFloat(narrow)) {
    Value zero = node.splatLike(scaled, 0);
    scaled = node.make<SelectOp>(scaled.getType(), node.compare<EqualOp>(scaled, zero), zero, scaled);
    return node.failed() ? failure() : node.narrowResult(encodeNarrowFloat(node, scaled, narrow, saturates), narrow);
  }
  Value offset = zeroPoint ? spreadParameter(node, node.cast(zeroPoint, real), x, axis, block) : Value();
  return node.failed() ? failure() : node.narrowResult(toInteger(node, scaled, offset, to, narrowIntegerBits(narrow)), narrow);
}

static LogicalResult dequantizeLinear(Node &node) {
  Value x = node.input(0), scale = node.input(1), zeroPoint = node.optionalInput(2);
  int64_t axis = node.getInt("axis", 1), block = node.getInt("block_size", 0), dtype = node.getInt("output_dtype", 0);
  if (node.failed() || !expectZeroPoints(node, scale, zeroPoint))
    return failure();
  Type real = node.builder().getF32Type(), to = dtype ? getElementType(static_cast<int>(dtype & 0xff), node.context()) : node.elementType(scale);
  if (!to || !isa<FloatType>(to) || !isa<IntegerType>(node.elementType(x)))
    return node.unsupported("dequantization between these types", "use integers and float");
  int64_t narrow = node.narrowType(0);
  Value spreadScale = spreadParameter(node, node.cast(scale, real), x, axis, block), result;
  if (isNarrowFloat(narrow)) {
    result = node.binary<MulOp>(node.cast(decodeNarrowFloat(node, x, narrow), real), spreadScale);
  } else {
    Value offset = zeroPoint ? spreadParameter(node, zeroPoint, x, axis, block) : node.splatLike(x, 0);
    if (node.failed())
      return failure();
    result = node.make<DequantizeOp>(node.type(node.dims(x), real), x, spreadScale, offset);
  }
  return node.failed() ? failure() : node.result(node.cast(result, to));
}

DynamicallyQuantized quantizeDynamically(Node &node, Value x) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x)));
  Value most = node.reduce(ReduceKind::Max, x, axes, true), least = node.reduce(ReduceKind::Min, x, axes, true);
  most = node.binary<MaximumOp>(most, 0.0);
  least = node.binary<MinimumOp>(least, 0.0);
  Value scale = node.binary<DivOp>(node.binary<SubOp>(most, least), 255.0);
  // Of zeros alone, as ONNX Runtime and the tests of ONNX 1.23 have it.
  if (!node.failed())
    scale = node.make<SelectOp>(scale.getType(), node.compare<EqualOp>(scale, node.splatLike(scale, 0)), node.splatLike(scale, 1), scale);
  OpBuilder &b = node.builder();
  Type to = b.getIntegerType(8, false);
  Value place = node.binary<SubOp>(node.splatLike(least, 0), node.binary<DivOp>(least, scale));
  place = node.unary<ClampOp>(place, b.getF64FloatAttr(0), b.getF64FloatAttr(255));
  Value zeroPoint = node.cast(node.unary<RoundOp>(place), to);
  if (node.failed())
    return {x, scale, zeroPoint};
  DimExprs dims = node.dims(x);
  Value bytes = node.make<QuantizeOp>(node.type(dims, to), x, node.broadcastTo(scale, dims), node.broadcastTo(zeroPoint, dims));
  return {bytes, node.reshape(scale, {}), node.reshape(zeroPoint, {})};
}

static LogicalResult dynamicQuantizeLinear(Node &node) {
  DynamicallyQuantized made = quantizeDynamically(node, node.input(0));
  (void)node.result(1, made.scale);
  (void)node.result(2, made.zeroPoint);
  return node.result(made.bytes);
}

Value buildDequantize(Node &node, Value x, Value scale, Value zeroPoint, int64_t axis) {
  if (node.failed())
    return x;
  Value spreadScale = spreadParameter(node, scale, x, axis, 0);
  Value offset = zeroPoint ? spreadParameter(node, zeroPoint, x, axis, 0) : node.splatLike(x, 0);
  return node.failed() ? x : node.make<DequantizeOp>(node.type(node.dims(x), node.elementType(scale)), x, spreadScale, offset);
}

Value buildQuantize(Node &node, Value x, Value scale, Value zeroPoint, Type to) {
  if (node.failed())
    return x;
  Value spreadScale = spreadParameter(node, scale, x, 1, 0);
  Value offset = zeroPoint ? spreadParameter(node, zeroPoint, x, 1, 0) : node.splat(node.dims(x), to, 0);
  return node.failed() ? x : node.make<QuantizeOp>(node.type(node.dims(x), to), x, spreadScale, offset);
}

//===- Products of integers ------------------------------------------------===//

Value spreadOnSide(Node &node, Value parameter, Value side, Value like, int64_t axis) {
  DimExprs dims = node.dims(side), own = node.dims(parameter);
  if (dims.size() < 2)
    return spreadParameter(node, parameter, like, axis, 0);
  size_t rank = dims.size(), summed = axis == -1 ? rank - 2 : rank - 1;
  // The sum with a vector has the rows last.
  int64_t place = static_cast<size_t>(node.rank(like)) < rank ? -1 : axis;
  if (own.size() != rank || nn::getConstantDim(own[summed]) != 1)
    return spreadParameter(node, parameter, like, place, 0);
  for (size_t i = 0; i < rank; ++i)
    if (i != summed && !node.unify(own[i], dims[i], "a scale or zero point differs from its side in dimension " + Twine(i)))
      return parameter;
  if (static_cast<size_t>(node.rank(like)) < rank) {
    own.erase(own.begin() + summed);
    parameter = node.reshape(parameter, own);
  }
  return node.broadcastTo(parameter, node.dims(like));
}

/// A zero point, or 0, in the shape of `x`. A vector of them counts along `axis`.
static Value zeroPointOf(Node &node, Value zeroPoint, Value x, int64_t axis) {
  return zeroPoint ? spreadParameter(node, zeroPoint, x, axis, 0) : node.splatLike(x, 0);
}

/// A product with vectors: they are matrices of one row or column, which the result does not have.
static Value multiplyVectors(Node &node, Value a, Value b, Value aZero, Value bZero) {
  DimExprs left = node.dims(a), right = node.dims(b);
  if (left.empty() || right.empty()) {
    (void)node.error("an operand has rank 0, so it has nothing to sum over");
    return a;
  }
  for (auto [zeroPoint, own] : {std::pair(aZero, left.size()), std::pair(bZero, right.size())})
    if (zeroPoint && own == 1 &&
        !node.unify(nn::getNumElements(node.dims(zeroPoint), node.context()), node.number(1), "a vector has one zero point: number of elements"))
      return a;
  bool isRow = left.size() == 1, isColumn = right.size() == 1;
  auto flatten = [&](Value zeroPoint, bool isVector) { return zeroPoint && isVector ? node.reshape(zeroPoint, {}) : zeroPoint; };
  Value product = buildQuantizedMatmul(node, isRow ? node.reshape(a, {node.number(1), left[0]}) : a, isColumn ? node.reshape(b, {right[0], node.number(1)}) : b,
                                       flatten(aZero, isRow), flatten(bZero, isColumn));
  return dropVectorDims(node, product, isRow, isColumn);
}

Value buildQuantizedMatmul(Node &node, Value a, Value b, Value aZero, Value bZero) {
  DimExprs left = node.dims(a), right = node.dims(b);
  if (left.size() < 2 || right.size() < 2)
    return multiplyVectors(node, a, b, aZero, bZero);
  aZero = aZero ? spreadOnSide(node, aZero, a, a, -2) : node.splatLike(a, 0);
  bZero = bZero ? spreadOnSide(node, bZero, b, b, -1) : node.splatLike(b, 0);
  auto batch = node.failed() ? std::nullopt : node.broadcastDims(ArrayRef(left).drop_back(2), ArrayRef(right).drop_back(2));
  if (!batch)
    return a;
  auto widen = [&](Value value, ArrayRef<AffineExpr> dims) {
    DimExprs shape = *batch;
    llvm::append_range(shape, dims.take_back(2));
    return node.broadcastTo(value, shape);
  };
  a = widen(a, left);
  aZero = widen(aZero, left);
  return right.size() == 2 ? node.quantizedMatmul(a, b, aZero, bZero) : node.quantizedMatmul(a, widen(b, right), aZero, widen(bZero, right));
}

static LogicalResult matMulInteger(Node &node) {
  Value a = node.input(0), b = node.input(1);
  Value result = node.failed() ? Value() : buildQuantizedMatmul(node, a, b, node.optionalInput(2), node.optionalInput(3));
  return node.failed() ? failure() : node.result(result);
}

/// The sums of a convolution of inputs x and weight.
static Value convolution(Node &node, Value x, Value weight, Value xZero, Value weightZero) {
  if (node.failed())
    return {};
  ZeroPoints zeros{zeroPointOf(node, xZero, x, 1), zeroPointOf(node, weightZero, weight, 0)};
  return node.failed() ? Value() : buildConvolution(node, x, weight, zeros);
}

bool expectNumbers(Node &node, ArrayRef<std::pair<int, const char *>> inputs) {
  return llvm::all_of(inputs, [&](auto input) {
    auto [at, name] = input;
    Value value = node.optionalInput(at);
    return !value || node.unify(nn::getNumElements(node.dims(value), node.context()), node.number(1), Twine(name) + " must be a scalar: number of elements");
  });
}

static LogicalResult convInteger(Node &node) {
  if (!expectNumbers(node, {{2, "x_zero_point"}}))
    return failure();
  Value result = convolution(node, node.input(0), node.input(1), node.optionalInput(2), node.optionalInput(3));
  return result ? node.result(result) : failure();
}

Value requantize(Node &node, Value sum, Value leftScale, Value rightScale, Value scale, Value zeroPoint) {
  if (node.failed() || !isQuantized(node.elementType(zeroPoint))) {
    (void)node.error("the zero point has a type that is no 8 or 16 bit integer");
    return sum;
  }
  Type real = node.builder().getF32Type();
  Value factor = node.binary<DivOp>(node.binary<MulOp>(leftScale, rightScale), spreadParameter(node, node.cast(scale, real), sum, 1, 0));
  Value offset = spreadParameter(node, zeroPoint, sum, 1, 0);
  if (node.failed())
    return sum;
  Value scaled = node.binary<MulOp>(node.cast(sum, real), factor);
  return node.make<QuantizeOp>(node.type(node.dims(sum), node.elementType(zeroPoint)), scaled, node.splatLike(scaled, 1), offset);
}

static LogicalResult qLinearMatMul(Node &node) {
  Value a = node.input(0), b = node.input(3);
  if (node.failed() || !expectNumbers(node, {{6, "y_scale"}, {7, "y_zero_point"}}))
    return failure();
  Type real = node.builder().getF32Type();
  Value sum = buildQuantizedMatmul(node, a, b, node.input(2), node.input(5));
  if (!sum || node.failed())
    return failure();
  Value left = spreadOnSide(node, node.cast(node.input(1), real), a, sum, -2), right = spreadOnSide(node, node.cast(node.input(4), real), b, sum, -1);
  return node.failed() ? failure() : node.result(requantize(node, sum, left, right, node.input(6), node.input(7)));
}

static LogicalResult qLinearConv(Node &node) {
  if (!expectNumbers(node, {{1, "x_scale"}, {2, "x_zero_point"}, {6, "y_scale"}, {7, "y_zero_point"}}))
    return failure();
  Type wide = node.builder().getI32Type(), real = node.builder().getF32Type();
  // Only that of com.microsoft may have its channels last.
  bool isChannelsLast = node.getFlag("channels_last");
  Value x = isChannelsLast ? toChannelsFirst(node, node.input(0)) : node.input(0);
  Value sum = convolution(node, x, node.input(3), node.input(2), node.input(5));
  if (!sum)
    return failure();
  // The bias counts in units of both scales, as the integer sums do.
  if (Value bias = node.optionalInput(8)) {
    if (!node.expectRank(bias, 1, "the bias") || !node.unify(node.dims(bias)[0], node.dims(sum)[1], "the bias does not have a number for each output channel"))
      return failure();
    DimExprs shape(node.rank(sum), node.number(1));
    shape[1] = node.dims(sum)[1];
    sum = node.binary<AddOp>(sum, node.broadcastTo(node.reshape(node.cast(bias, wide), shape), node.dims(sum)));
  }
  Value left = spreadParameter(node, node.cast(node.input(1), real), sum, 1, 0), right = spreadParameter(node, node.cast(node.input(4), real), sum, 1, 0);
  if (node.failed())
    return failure();
  Value result = requantize(node, sum, left, right, node.input(6), node.input(7));
  return node.result(isChannelsLast ? toChannelsLast(node, result) : result);
}

ArrayRef<Operator> getQuantizationOperators() {
  static const Operator rows[] = {
      {"ConvInteger", 10, Elements::Integer, convInteger},
      {"DequantizeLinear", 10, Elements::Narrow, dequantizeLinear},
      {"DequantizeLinear", 1, Elements::Narrow, dequantizeLinear, INT64_MAX, "com.microsoft"},
      asComposite({"DynamicQuantizeLinear", 11, Elements::Float, dynamicQuantizeLinear}),
      {"MatMulInteger", 10, Elements::Integer, matMulInteger},
      {"QLinearConv", 10, Elements::Integer, qLinearConv},
      {"QLinearConv", 1, Elements::Integer, qLinearConv, INT64_MAX, "com.microsoft"},
      {"QLinearMatMul", 10, Elements::Integer, qLinearMatMul},
      {"QuantizeLinear", 10, Elements::Narrow, quantizeLinear},
      {"QuantizeLinear", 1, Elements::Narrow, quantizeLinear, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
