//===- Pooling.cpp - Pools over windows and over everything ------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Window.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The window and the result's type; nullopt after an error.
static std::optional<std::pair<Window, RankedTensorType>> readPool(Node &node, Value x) {
  auto window = readWindow(node, x, std::nullopt);
  if (!window)
    return std::nullopt;
  window->isCeil = node.getFlag("ceil_mode");
  DimExprs in = node.dims(x), out{in[0], in[1]};
  out.append(window->outputDims(node, in));
  RankedTensorType type = node.type(out, node.elementType(x));
  return node.failed() ? std::nullopt : std::optional(std::pair(*window, type));
}

static LogicalResult maxPool(Node &node) {
  Value x = node.input(0);
  node.ignore("storage_order");
  if (node.hasOutput(1))
    return node.unsupported("the second result, Indices", "remove it from the model or use MaxPool without it");
  auto pool = readPool(node, x);
  if (!pool)
    return failure();
  const Window &w = pool->first;
  return node.result(node.make<MaxPoolOp>(pool->second, x, w.kernel, w.strides, w.dilations, w.pads, Layout::ChannelsFirst));
}

static LogicalResult averagePool(Node &node) {
  Value x = node.input(0);
  bool includePad = node.getFlag("count_include_pad");
  auto pool = readPool(node, x);
  if (!pool)
    return failure();
  const Window &w = pool->first;
  return node.result(node.make<AvgPoolOp>(pool->second, x, w.kernel, w.strides, w.dilations, w.pads, Layout::ChannelsFirst, includePad));
}

/// The exponent: a real number in opset 1.
static double readExponent(Node &node) { return node.opset < 2 ? node.getFloat("p", 2) : static_cast<double>(node.getInt("p", 2)); }

/// The p-th root of the sum of p-th powers: the mean of a window times its size.
static LogicalResult lpPool(Node &node) {
  Value x = node.input(0);
  double p = readExponent(node);
  auto pool = readPool(node, x);
  if (!pool)
    return failure();
  const Window &w = pool->first;
  double elements = 1;
  for (int64_t size : w.kernel)
    elements *= static_cast<double>(size);
  Value powers = p == 2 ? node.binary<MulOp>(x, x) : node.binary<PowOp>(node.unary<AbsOp>(x), p);
  Value mean = node.make<AvgPoolOp>(pool->second, powers, w.kernel, w.strides, w.dilations, w.pads, Layout::ChannelsFirst, true);
  Value sum = node.binary<MulOp>(mean, elements);
  return node.result(p == 2 ? node.unary<SqrtOp>(sum) : node.binary<PowOp>(sum, 1.0 / p));
}

static std::optional<SmallVector<int64_t>> spatialAxes(Node &node, Value x) {
  if (node.rank(x) < 3) {
    (void)node.error("the input has rank " + Twine(node.rank(x)) + ", expected [N, C] and spatial dimensions");
    return std::nullopt;
  }
  return llvm::to_vector(llvm::seq<int64_t>(2, node.rank(x)));
}

template <ReduceKind kind> static LogicalResult globalPool(Node &node) {
  Value x = node.input(0);
  auto axes = spatialAxes(node, x);
  return axes ? node.result(node.reduce(kind, x, *axes, /*keep=*/true)) : failure();
}

static LogicalResult globalLpPool(Node &node) {
  Value x = node.input(0);
  double p = readExponent(node);
  auto axes = spatialAxes(node, x);
  if (!axes)
    return failure();
  Value powers = p == 2 ? node.binary<MulOp>(x, x) : node.binary<PowOp>(node.unary<AbsOp>(x), p);
  Value sum = node.reduce(ReduceKind::Sum, powers, *axes, /*keep=*/true);
  return node.result(p == 2 ? node.unary<SqrtOp>(sum) : node.binary<PowOp>(sum, 1.0 / p));
}

ArrayRef<Operator> getPoolingOperators() {
  static const Operator rows[] = {
      {"AveragePool", 1, Elements::Float, averagePool},
      {"GlobalAveragePool", 1, Elements::Float, globalPool<ReduceKind::Mean>},
      {"GlobalLpPool", 1, Elements::Float, globalLpPool},
      {"GlobalMaxPool", 1, Elements::Float, globalPool<ReduceKind::Max>},
      {"LpPool", 1, Elements::Float, lpPool},
      {"MaxPool", 1, Elements::Number, maxPool},
  };
  return rows;
}

} // namespace kiln::import
