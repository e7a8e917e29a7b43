//===- Experimental.cpp - Operators that ONNX never made standard ------------===//
//
// Old exporters (Caffe2's, those of Core ML and CNTK) write them at opset 1 of ai.onnx, and ONNX Runtime runs them up to opset 9. Those of
// ai.onnx.contrib come with onnxruntime-extensions.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// alpha * x + beta
static LogicalResult affine(Node &node) {
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 0);
  return node.result(node.binary<AddOp>(node.binary<MulOp>(node.input(0), alpha), beta));
}

static LogicalResult scale(Node &node) { return node.result(node.binary<MulOp>(node.input(0), node.getFloat("scale", 1))); }

/// alpha * tanh(beta * x)
static LogicalResult scaledTanh(Node &node) {
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  return node.result(node.binary<MulOp>(node.unary<TanhOp>(node.binary<MulOp>(node.input(0), beta)), alpha));
}

/// alpha * log(exp(beta * x) + 1)
static LogicalResult parametricSoftplus(Node &node) {
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  return node.result(node.binary<MulOp>(node.unary<SoftplusOp>(node.binary<MulOp>(node.input(0), beta)), alpha));
}

/// scale * x + bias[c] of an image [N, C, H, W].
static LogicalResult imageScaler(Node &node) {
  Value x = node.input(0);
  double factor = node.getFloat("scale", 1);
  SmallVector<double> bias = node.findFloats("bias").value_or(SmallVector<double>());
  if (node.failed() || !node.expectRank(x, 4, "the input"))
    return failure();
  int64_t count = bias.size();
  if (!node.unify(node.dims(x)[1], node.number(count), "attribute 'bias' does not have a number for each channel"))
    return failure();
  SmallVector<float> numbers(bias.begin(), bias.end());
  Value offsets = node.constant(nn::makeConstantOf<float>(RankedTensorType::get({count, 1, 1}, node.builder().getF32Type()), numbers));
  return node.result(node.binary<AddOp>(node.binary<MulOp>(x, factor), node.cast(offsets, node.elementType(x))));
}

/// What lies within a border [left, top, right, bottom], or from its corner on the size [height, width] of attribute 'scale'.
static LogicalResult crop(Node &node) {
  Value x = node.input(0);
  SmallVector<int64_t> border = node.findInts("border").value_or(SmallVector<int64_t>());
  auto size = node.findInts("scale");
  if (node.failed() || !node.expectRank(x, 4, "the input"))
    return failure();
  if (border.size() != 4 || (size && size->size() != 2))
    return node.error("expected a border of 4 numbers, and a scale of 2");
  for (unsigned i = 0; i < 2; ++i) {
    int64_t axis = 2 + i, first = border[1 - i], last = border[3 - i];
    AffineExpr have = node.dims(x)[axis], extent = size ? node.number((*size)[i]) : have - first - last;
    if (first < 0 || last < 0 || (size && (*size)[i] < 0))
      return node.error("attributes 'border' and 'scale' have a negative entry");
    node.requireNotNegative(extent, "the border is larger than the input");
    node.requireNotNegative(have - first - extent, "the part to keep reaches over the input");
    if (node.failed())
      return failure();
    x = node.slice(x, axis, node.number(first), nn::simplifyDim(extent));
  }
  return node.result(x);
}

/// The negative numbers of x, and the positive ones, each with zeros in the place of the other.
static LogicalResult negPos(Node &node) {
  Value x = node.input(0), zero = node.splatLike(x, 0), isNegative = node.compare<LessOp>(x, zero), isPositive = node.compare<GreaterOp>(x, zero);
  if (node.failed())
    return failure();
  (void)node.result(1, node.make<SelectOp>(x.getType(), isPositive, x, zero));
  return node.result(node.make<SelectOp>(x.getType(), isNegative, x, zero));
}

ArrayRef<Operator> getExperimentalOperators() {
  static const Operator rows[] = {
      {"Affine", 1, Elements::Float, affine, 9},
      {"Crop", 1, Elements::Float, crop, 9},
      {"ImageScaler", 1, Elements::Float, imageScaler, 9},
      {"NegPos", 1, Elements::Float, negPos, INT64_MAX, "ai.onnx.contrib"},
      {"ParametricSoftplus", 1, Elements::Float, parametricSoftplus, 9},
      {"Scale", 1, Elements::Float, scale, 9},
      {"ScaledTanh", 1, Elements::Float, scaledTanh, 9},
  };
  return rows;
}

} // namespace kiln::import
