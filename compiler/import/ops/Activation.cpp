//===- Activation.cpp - Activation functions and softmaxes -------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"
#include "dialects/nn/NNNormalizationOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

template <typename Op> static LogicalResult plain(Node &node) { return node.result(node.unary<Op>(node.input(0))); }

static FloatAttr attribute(Node &node, StringRef name, double fallback) { return node.builder().getF64FloatAttr(node.getFloat(name, fallback)); }

static LogicalResult leakyRelu(Node &node) { return node.result(node.unary<LeakyReluOp>(node.input(0), attribute(node, "alpha", 0.01f))); }
static LogicalResult elu(Node &node) { return node.result(node.unary<EluOp>(node.input(0), attribute(node, "alpha", 1.0))); }
static LogicalResult celu(Node &node) { return node.result(node.unary<CeluOp>(node.input(0), attribute(node, "alpha", 1.0))); }
static LogicalResult swish(Node &node) { return node.result(node.unary<SwishOp>(node.input(0), attribute(node, "alpha", 1.0))); }

static LogicalResult thresholdedRelu(Node &node) {
  return node.result(node.unary<ThresholdedReluOp>(node.input(0), attribute(node, "alpha", 1.0)));
}

static LogicalResult selu(Node &node) {
  // Opset 6 gave the defaults more digits.
  FloatAttr alpha = attribute(node, "alpha", node.opset < 6 ? 1.6732f : 1.67326319217681884765625);
  FloatAttr gamma = attribute(node, "gamma", node.opset < 6 ? 1.0507f : 1.05070102214813232421875);
  return node.result(node.unary<SeluOp>(node.input(0), alpha, gamma));
}

static LogicalResult hardSigmoid(Node &node) {
  FloatAttr alpha = attribute(node, "alpha", 0.2f), beta = attribute(node, "beta", 0.5);
  return node.result(node.unary<HardSigmoidOp>(node.input(0), alpha, beta));
}

static LogicalResult shrink(Node &node) {
  FloatAttr lambda = attribute(node, "lambd", 0.5), bias = attribute(node, "bias", 0.0);
  return node.result(node.unary<ShrinkOp>(node.input(0), lambda, bias));
}

static LogicalResult gelu(Node &node) {
  std::string approximate = node.getString("approximate", "none");
  if (approximate == "tanh")
    return plain<GeluTanhOp>(node);
  return approximate == "none" ? plain<GeluOp>(node) : node.error("attribute 'approximate' is '" + approximate + "', expected none or tanh");
}

/// One axis since opset 13. Before, all dimensions from the axis on count as one row.
template <typename Op> static LogicalResult alongAxis(Node &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x), axis = node.getInt("axis", node.opset >= 13 ? -1 : 1);
  if (rank == 0)
    return node.error("the input has rank 0, so it has no axis");
  // Before opset 13 the axis may be the rank itself: rows of one element.
  bool isPastEnd = node.opset < 13 && axis == rank;
  axis = isPastEnd ? rank : node.axis(axis, rank);
  if (node.failed())
    return failure();
  auto apply = [&](Value value, int64_t at) { return node.unary<Op>(value, node.builder().getI64IntegerAttr(at)); };
  if (node.opset >= 13 || axis == rank - 1)
    return node.result(apply(x, axis));
  DimExprs dims = node.dims(x);
  AffineExpr rows = nn::getNumElements(ArrayRef(dims).take_front(axis), node.context());
  AffineExpr columns = nn::getNumElements(ArrayRef(dims).drop_front(axis), node.context());
  return node.result(node.reshape(apply(node.reshape(x, {rows, columns}), 1), dims));
}

ArrayRef<Operator> getActivationOperators() {
  static const Operator rows[] = {
      {"Celu", 12, Elements::Float, celu},
      {"Elu", 1, Elements::Float, elu},
      // Exporters wrote it before it was of the standard.
      {"Gelu", 1, Elements::Float, plain<GeluOp>, 19},
      {"Gelu", 20, Elements::Float, gelu},
      {"HardSigmoid", 1, Elements::Float, hardSigmoid},
      {"HardSwish", 14, Elements::Float, plain<HardSwishOp>},
      {"Hardmax", 1, Elements::Float, alongAxis<HardmaxOp>},
      {"LeakyRelu", 1, Elements::Float, leakyRelu},
      {"LogSoftmax", 1, Elements::Float, alongAxis<LogSoftmaxOp>},
      {"Mish", 18, Elements::Float, plain<MishOp>},
      {"Relu", 1, Elements::Signed, plain<ReluOp>},
      {"Selu", 1, Elements::Float, selu},
      {"Shrink", 9, Elements::Number, shrink},
      {"Sigmoid", 1, Elements::Float, plain<SigmoidOp>},
      {"Softmax", 1, Elements::Float, alongAxis<SoftmaxOp>},
      {"Softplus", 1, Elements::Float, plain<SoftplusOp>},
      {"Softsign", 1, Elements::Float, plain<SoftsignOp>},
      {"SwiGLU", 28, Elements::Float, [](Node &node) { return node.result(node.binary<SwigluOp>(node.input(0), node.input(1), attribute(node, "alpha", 1))); }},
      {"Swish", 24, Elements::Float, swish},
      {"ThresholdedRelu", 1, Elements::Float, thresholdedRelu},
  };
  return rows;
}

} // namespace kiln::import
