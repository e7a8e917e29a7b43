//===- ContribQuantized.cpp - Operators between quantised numbers ------------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md): what its quantizer makes of operators between QuantizeLinear and
// DequantizeLinear. Each becomes these three again, which fuse, become tables of bytes, or integer arithmetic.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Pooling.h"
#include "compiler/import/ops/Quantization.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNNormalizationOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The real numbers of input `at`, whose scale and zero point are the inputs behind it.
static Value readReal(Node &node, unsigned at) {
  Value x = node.input(at), scale = node.input(at + 1), zeroPoint = node.optionalInput(at + 2);
  int first = static_cast<int>(at);
  return expectNumbers(node, {{first + 1, "a scale"}, {first + 2, "a zero point"}}) ? buildDequantize(node, x, scale, zeroPoint) : x;
}

/// The result in the type of the first operand; its scale and zero point are inputs `at` and the one behind it.
static LogicalResult finish(Node &node, Value real, unsigned at, Type to) {
  Value scale = node.input(at), zeroPoint = node.optionalInput(at + 1);
  int first = static_cast<int>(at);
  if (!expectNumbers(node, {{first, "the result's scale"}, {first + 1, "the result's zero point"}}))
    return failure();
  return node.result(buildQuantize(node, real, scale, zeroPoint, to));
}

template <typename Op> static LogicalResult quantizedBinary(Node &node) {
  Value a = readReal(node, 0), b = readReal(node, 3);
  return node.failed() ? failure() : finish(node, node.binary<Op>(a, b), 6, node.elementType(node.input(0)));
}

static LogicalResult sigmoid(Node &node) {
  Value x = readReal(node, 0);
  return finish(node, node.unary<SigmoidOp>(x), 3, node.elementType(node.input(0)));
}

static LogicalResult quantizedLeakyRelu(Node &node) {
  Value x = readReal(node, 0);
  FloatAttr alpha = node.builder().getF64FloatAttr(node.getFloat("alpha", 0.01f));
  return finish(node, node.unary<LeakyReluOp>(x, alpha), 3, node.elementType(node.input(0)));
}

/// Along one axis as from opset 13 of ONNX on, or before over all dimensions from the axis on; attribute 'opset' says which.
static LogicalResult softmax(Node &node) {
  int64_t opset = node.requireInt("opset"), rank = node.rank(node.input(0));
  Value x = readReal(node, 0);
  if (rank == 0)
    return node.error("the input has rank 0, so it has no axis");
  int64_t axis = node.axis(node.getInt("axis", opset >= 13 ? -1 : 1), rank);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  if (opset < 13) {
    AffineExpr rows = nn::getNumElements(ArrayRef(dims).take_front(axis), node.context());
    x = node.reshape(x, {rows, nn::getNumElements(ArrayRef(dims).drop_front(axis), node.context())});
    axis = 1;
  }
  Value result = node.reshape(node.unary<SoftmaxOp>(x, node.builder().getI64IntegerAttr(axis)), dims);
  return finish(node, result, 3, node.elementType(node.input(0)));
}

/// Tensors with a scale and a zero point each, behind those of the result.
static LogicalResult quantizedConcat(Node &node) {
  Type to = node.elementType(node.input(1));
  if (node.numInputs() < 5 || node.numInputs() % 3 != 2)
    return node.error("expected a tensor, a scale and a zero point for each operand, got " + Twine(node.numInputs() - 2) + " inputs behind the first two");
  SmallVector<Value> parts;
  for (unsigned at = 2; at < node.numInputs() && !node.failed(); at += 3) {
    if (node.elementType(node.input(at)) != to || !isa<FloatType>(node.elementType(node.input(at + 1))))
      return node.error("input " + Twine(at) + " is not of the result's type, or input " + Twine(at + 1) + " is no scale");
    // Each part is rounded by itself: then one that has the result's scale is moved only.
    Value real = readReal(node, at);
    if (!node.failed())
      parts.push_back(buildQuantize(node, real, node.input(0), node.input(1), to));
  }
  if (node.failed() || !expectNumbers(node, {{0, "the result's scale"}, {1, "the result's zero point"}}))
    return failure();
  int64_t axis = node.axis(node.requireInt("axis"), node.rank(parts.front()));
  for (Value part : parts) {
    if (!node.expectRank(part, node.rank(parts.front()), "an operand"))
      return failure();
    for (auto [i, dim] : llvm::enumerate(node.dims(part)))
      if (static_cast<int64_t>(i) != axis && !node.unify(dim, node.dims(parts.front())[i], "operands differ outside the axis: dimensions"))
        return failure();
  }
  return node.failed() ? failure() : node.result(node.concat(parts, axis));
}

static LogicalResult quantizedWhere(Node &node) {
  Value condition = node.input(0), x = readReal(node, 1), y = readReal(node, 4);
  if (node.failed())
    return failure();
  node.broadcast({&condition, &x, &y}, /*mixed=*/true);
  Value chosen = node.failed() ? x : node.make<SelectOp>(x.getType(), condition, x, y);
  return finish(node, chosen, 7, node.elementType(node.input(1)));
}

static LogicalResult reduceMean(Node &node) {
  Value x = readReal(node, 0);
  auto given = node.findInts("axes").value_or(SmallVector<int64_t>());
  SmallVector<int64_t> axes = given.empty() ? llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))) : node.axes(given, node.rank(x));
  bool keep = node.getFlag("keepdims", true);
  return node.failed() ? failure() : finish(node, node.reduce(ReduceKind::Mean, x, axes, keep), 3, node.elementType(node.input(0)));
}

static LogicalResult averagePool(Node &node) {
  bool isChannelsLast = node.getFlag("channels_last");
  Value x = readReal(node, 0);
  Value pooled = buildAveragePool(node, isChannelsLast ? toChannelsFirst(node, x) : x);
  if (!pooled)
    return failure();
  return finish(node, isChannelsLast ? toChannelsLast(node, pooled) : pooled, 3, node.elementType(node.input(0)));
}

static LogicalResult globalAveragePool(Node &node) {
  bool isChannelsLast = node.getFlag("channels_last");
  Value x = readReal(node, 0);
  int64_t rank = node.rank(x), first = isChannelsLast ? 1 : 2;
  if (rank < 3)
    return node.error("the input has rank " + Twine(rank) + ", expected a batch, channels and spatial dimensions");
  Value mean = node.failed() ? x : node.reduce(ReduceKind::Mean, x, llvm::to_vector(llvm::seq(first, rank - 2 + first)), /*keep=*/true);
  return finish(node, mean, 3, node.elementType(node.input(0)));
}

//===- Integers without scales -----------------------------------------------===//

/// int32 numbers of input `at` without the zero point behind it.
static Value readCentred(Node &node, unsigned at) {
  Type i32 = node.builder().getI32Type();
  Value x = node.cast(node.input(at), i32), zeroPoint = node.optionalInput(at + 1);
  if (!zeroPoint || node.failed() || !expectNumbers(node, {{static_cast<int>(at) + 1, "a zero point"}}))
    return x;
  return node.binary<SubOp>(x, node.broadcastTo(node.reshape(node.cast(zeroPoint, i32), {}), node.dims(x)));
}

static LogicalResult mulInteger(Node &node) {
  Value a = readCentred(node, 0), b = readCentred(node, 2);
  return node.failed() ? failure() : node.result(node.binary<MulOp>(a, b));
}

static LogicalResult reduceSumInteger(Node &node) {
  Value x = node.input(0);
  bool isUnsigned = node.elementType(x).isUnsignedInteger(), keep = node.getFlag("keepdims", true);
  auto given = node.findInts("axes").value_or(SmallVector<int64_t>());
  SmallVector<int64_t> axes = given.empty() ? llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))) : node.axes(given, node.rank(x));
  Type wide = isUnsigned ? Type(node.builder().getIntegerType(32, false)) : Type(node.builder().getI32Type());
  return node.failed() ? failure() : node.result(node.reduce(ReduceKind::Sum, node.cast(x, wide), axes, keep));
}

ArrayRef<Operator> getContribQuantizedOperators() {
  static const Operator rows[] = {
      {"MulInteger", 1, Elements::Integer, mulInteger, INT64_MAX, "com.microsoft"},
      {"QLinearAdd", 1, Elements::Integer, quantizedBinary<AddOp>, INT64_MAX, "com.microsoft"},
      {"QLinearAveragePool", 1, Elements::Integer, averagePool, INT64_MAX, "com.microsoft"},
      {"QLinearConcat", 1, Elements::Float, quantizedConcat, INT64_MAX, "com.microsoft"},
      {"QLinearGlobalAveragePool", 1, Elements::Integer, globalAveragePool, INT64_MAX, "com.microsoft"},
      {"QLinearLeakyRelu", 1, Elements::Integer, quantizedLeakyRelu, INT64_MAX, "com.microsoft"},
      {"QLinearMul", 1, Elements::Integer, quantizedBinary<MulOp>, INT64_MAX, "com.microsoft"},
      {"QLinearReduceMean", 1, Elements::Integer, reduceMean, INT64_MAX, "com.microsoft"},
      {"QLinearSigmoid", 1, Elements::Integer, sigmoid, INT64_MAX, "com.microsoft"},
      {"QLinearSoftmax", 1, Elements::Integer, softmax, INT64_MAX, "com.microsoft"},
      {"QLinearWhere", 1, Elements::Bool, quantizedWhere, INT64_MAX, "com.microsoft"},
      {"ReduceSumInteger", 1, Elements::Integer, reduceSumInteger, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
