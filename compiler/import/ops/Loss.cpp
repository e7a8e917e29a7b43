//===- Loss.cpp - Losses that models carry for evaluation --------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// The classes that are picked: their places [N, 1, ...], and which of them count for nothing.
struct Picked {
  Value at, isIgnored;
  Value orZero(Node &node, Value values) const {
    return isIgnored ? node.make<SelectOp>(values.getType(), isIgnored, node.splatLike(values, 0), values) : values;
  }
};
} // namespace

static Picked pickClasses(Node &node, Value target) {
  DimExprs dims = node.dims(target);
  dims.insert(dims.begin() + 1, node.number(1));
  Picked picked{node.reshape(node.cast(target, node.builder().getI64Type()), dims), {}};
  if (auto ignored = node.findInt("ignore_index")) {
    // What is ignored may lie outside the classes.
    picked.isIgnored = node.compare<EqualOp>(picked.at, node.splatLike(picked.at, static_cast<double>(*ignored)));
    picked.at = picked.orZero(node, picked.at);
  }
  return picked;
}

/// -weight[target] * x[.., target, ..] for x [N, C, ...] and target [N, ...], reduced as the attribute says. A class that is ignored weighs
/// nothing. The steps are those of ONNX's own function body.
static Value negativeLogLikelihood(Node &node, Value x, Value target, Value weight) {
  std::string reduction = node.getString("reduction", "mean");
  DimExprs dims = node.dims(x);
  if (dims.size() < 2 || !node.expectRank(target, dims.size() - 1, "the target") || (weight && !node.expectRank(weight, 1, "the weight"))) {
    (void)node.error("expected an input of rank 2 or more");
    return x;
  }
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    (void)node.error("attribute 'reduction' is '" + reduction + "', expected mean, sum or none");
  DimExprs one = dims, targets = node.dims(target);
  one[1] = node.number(1);
  for (size_t i = 0; i < targets.size(); ++i)
    (void)node.unify(targets[i], dims[i == 0 ? 0 : i + 1], "the target and the input differ in a dimension");
  if (weight)
    (void)node.unify(node.dims(weight)[0], dims[1], "the weight has not one number a class");
  Picked picked = pickClasses(node, target);
  Type element = node.elementType(x);
  if (node.failed())
    return x;
  picked.at = node.broadcastTo(picked.at, one);
  auto values = [&](Value from) { return node.reshape(picked.orZero(node, from), targets); };
  Value loss = node.unary<NegOp>(values(node.make<GatherElementsOp>(node.type(one, element), x, picked.at, 1)));
  Value weights;
  if (weight)
    weights = values(node.make<GatherOp>(node.type(one, element), weight, picked.at, 0));
  else if (picked.isIgnored)
    weights = values(node.splat(one, element, 1));
  if (weights)
    loss = node.binary<MulOp>(loss, weights);
  if (reduction == "none" || node.failed())
    return loss;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(loss)));
  if (reduction == "mean" && !weights)
    return node.reduce(ReduceKind::Mean, loss, axes, /*keep=*/false);
  Value sum = node.reduce(ReduceKind::Sum, loss, axes, /*keep=*/false);
  return reduction == "sum" ? sum : node.binary<DivOp>(sum, node.reduce(ReduceKind::Sum, weights, axes, /*keep=*/false));
}

static LogicalResult negativeLogLikelihoodLoss(Node &node) {
  return node.result(negativeLogLikelihood(node, node.input(0), node.input(1), node.optionalInput(2)));
}

static LogicalResult softmaxCrossEntropyLoss(Node &node) {
  Value x = node.input(0);
  if (node.rank(x) < 2)
    return node.error("the scores have rank " + Twine(node.rank(x)) + ", expected at least 2");
  Value logs = node.unary<LogSoftmaxOp>(x, node.builder().getI64IntegerAttr(1));
  if (node.hasOutput(1))
    (void)node.result(1, logs);
  return node.result(negativeLogLikelihood(node, logs, node.input(1), node.optionalInput(2)));
}

ArrayRef<Operator> getLossOperators() {
  static const Operator rows[] = {
      {"NegativeLogLikelihoodLoss", 12, Elements::Float, negativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 12, Elements::Float, softmaxCrossEntropyLoss},
  };
  return rows;
}

} // namespace kiln::import
