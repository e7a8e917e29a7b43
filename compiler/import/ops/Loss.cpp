//===- Loss.cpp - Losses that models carry for evaluation --------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// -weight[target] * x[.., target, ..] for x [N, C, ...] and target [N, ...], reduced as the attribute says. A class that is ignored or
/// absent weighs nothing.
static Value negativeLogLikelihood(Node &node, Value x, Value target, Value weight) {
  std::string reduction = node.getString("reduction", "mean");
  auto ignored = node.findInt("ignore_index");
  DimExprs dims = node.dims(x);
  if (dims.size() < 2 || !node.expectRank(target, dims.size() - 1, "the target")) {
    (void)node.error("expected an input of rank 2 or more");
    return x;
  }
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    (void)node.error("attribute 'reduction' is '" + reduction + "', expected mean, sum or none");
  Type i64 = node.builder().getI64Type(), element = node.elementType(x);
  DimExprs one = dims;
  one[1] = node.number(1);
  Value at = node.reshape(node.cast(target, i64), one);
  // The classes as a dimension: exact, because all other terms of the sum are zero.
  Value hit = node.compare<EqualOp>(node.broadcastTo(at, dims), node.iota(dims, 1, i64));
  if (ignored) {
    Value keeps = node.unary<NotOp>(node.compare<EqualOp>(at, node.splatLike(at, static_cast<double>(*ignored))));
    hit = node.binary<AndOp>(hit, node.broadcastTo(keeps, dims));
  }
  if (weight && !node.expectRank(weight, 1, "the weight"))
    return x;
  DimExprs classes(dims.size(), node.number(1));
  classes[1] = dims[1];
  Value each = weight ? node.broadcastTo(node.reshape(weight, classes), dims) : node.splat(dims, element, 1);
  if (node.failed())
    return x;
  auto chosen = [&](Value values) {
    return node.reduce(ReduceKind::Sum, node.make<SelectOp>(values.getType(), hit, values, node.splatLike(values, 0)), {1}, /*keep=*/false);
  };
  Value loss = node.unary<NegOp>(chosen(weight ? node.binary<MulOp>(x, each) : x));
  if (reduction == "none")
    return loss;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(loss)));
  Value sum = node.reduce(ReduceKind::Sum, loss, axes, /*keep=*/false);
  if (reduction == "sum")
    return sum;
  return node.binary<DivOp>(sum, node.reduce(ReduceKind::Sum, chosen(each), axes, /*keep=*/false));
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
