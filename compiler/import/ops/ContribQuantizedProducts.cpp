//===- ContribQuantizedProducts.cpp - Products of quantised numbers ----------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md): products of integers, with what ONNX Runtime fuses before and after them. Each
// becomes the exact sum of products, which has a kernel, and element-wise operations that fuse with it.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/Quantization.h"
#include "dialects/nn/NNArithmeticOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Sums in float: times both scales, that of the columns one or one for each column of `b`.
static Value scaleSums(Node &node, Value sum, Value aScale, Value b, Value bScale) {
  if (node.failed())
    return sum;
  Type real = node.builder().getF32Type();
  Value left = spreadParameter(node, node.cast(aScale, real), sum, -1, 0), right = spreadOnSide(node, node.cast(bScale, real), b, sum, -1);
  return node.failed() ? sum : node.binary<MulOp>(node.cast(sum, real), node.binary<MulOp>(left, right));
}

static LogicalResult matMulIntegerToFloat(Node &node) {
  Value a = node.input(0), b = node.input(1), aScale = node.input(2), bScale = node.input(3);
  if (node.failed() || !expectNumbers(node, {{2, "a_scale"}, {4, "a_zero_point"}}))
    return failure();
  Value sum = buildQuantizedMatmul(node, a, b, node.optionalInput(4), node.optionalInput(5));
  Value result = addToRows(node, scaleSums(node, sum, aScale, b, bScale), node.optionalInput(6));
  return node.failed() ? failure() : node.result(node.cast(result, node.elementType(aScale)));
}

/// A is quantized in each run.
static LogicalResult dynamicQuantizeMatMul(Node &node) {
  Value b = node.input(1), bScale = node.input(2), bZero = node.optionalInput(3);
  DynamicallyQuantized a = quantizeDynamically(node, node.input(0));
  Value sum = node.failed() ? b : buildQuantizedMatmul(node, a.bytes, b, a.zeroPoint, bZero);
  Value result = addToRows(node, scaleSums(node, sum, a.scale, b, bScale), node.optionalInput(4));
  return node.failed() ? failure() : node.result(result);
}

/// A bias of C in the units of both scales; the result is real unless y_zero_point says how it is quantized.
static LogicalResult qGemm(Node &node) {
  Value a = node.input(0), aZero = node.input(2), b = node.input(3), bScale = node.input(4), bZero = node.input(5);
  double alpha = node.getFloat("alpha", 1);
  bool transA = node.getFlag("transA"), transB = node.getFlag("transB");
  if (!node.expectRank(a, 2, "A") || !node.expectRank(b, 2, "B") ||
      !expectNumbers(node, {{1, "a_scale"}, {2, "a_zero_point"}, {7, "y_scale"}, {8, "y_zero_point"}}))
    return failure();
  a = transA ? node.transpose(a, {1, 0}) : a;
  b = transB ? node.transpose(b, {1, 0}) : b;
  Value sum = buildQuantizedMatmul(node, a, b, aZero, bZero);
  if (Value c = node.optionalInput(6); c && !node.failed())
    sum = node.binary<AddOp>(sum, node.broadcastTo(c, node.dims(sum)));
  if (node.failed())
    return failure();
  Value aScale = alpha == 1 ? node.input(1) : node.binary<MulOp>(node.input(1), alpha);
  if (!node.hasInput(8)) {
    (void)node.hasInput(7);
    Value real = scaleSums(node, sum, aScale, b, bScale);
    return node.failed() ? failure() : node.result(real);
  }
  Value left = spreadParameter(node, aScale, sum, -1, 0), right = spreadOnSide(node, bScale, b, sum, -1);
  return node.failed() ? failure() : node.result(requantize(node, sum, left, right, node.input(7), node.input(8)));
}

/// Sums are of 32 bits, and unsigned only where both operands are.
static LogicalResult matMulInteger16(Node &node) {
  Value a = node.input(0), b = node.input(1);
  bool isUnsigned = node.elementType(a).isUnsignedInteger() && node.elementType(b).isUnsignedInteger();
  Type wide = isUnsigned ? Type(node.builder().getIntegerType(32, false)) : Type(node.builder().getI32Type());
  return node.failed() ? failure() : node.result(buildMatmul(node, node.cast(a, wide), node.cast(b, wide)));
}

ArrayRef<Operator> getContribQuantizedProductOperators() {
  static const Operator rows[] = {
      {"DynamicQuantizeMatMul", 1, Elements::Float, dynamicQuantizeMatMul, INT64_MAX, "com.microsoft"},
      {"MatMulInteger16", 1, Elements::Integer, matMulInteger16, INT64_MAX, "com.microsoft"},
      {"MatMulIntegerToFloat", 1, Elements::Integer, matMulIntegerToFloat, INT64_MAX, "com.microsoft"},
      {"QGemm", 1, Elements::Integer, qGemm, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
