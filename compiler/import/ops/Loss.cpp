//===- Loss.cpp - Losses that models carry for evaluation --------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNLossOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The operands of a loss of x [N, C, ...]: its target [N, ...] and its weight [C], in the dimensions of x.
struct Loss {
  LossReduction reduction;
  RankedTensorType type;
  Value x, target, weight;
  IntegerAttr ignored;
};

static std::optional<LossReduction> readReduction(Node &node) {
  std::string text = node.getString("reduction", "mean");
  auto reduction = symbolizeLossReduction(text);
  if (!reduction)
    (void)node.error("attribute 'reduction' is '" + text + "', expected mean, sum or none");
  return reduction;
}

static std::optional<Loss> readLoss(Node &node) {
  Loss loss;
  loss.x = node.input(0), loss.target = node.input(1), loss.weight = node.optionalInput(2);
  auto reduction = readReduction(node);
  DimExprs dims = node.dims(loss.x);
  if (dims.size() < 2 || !node.expectRank(loss.target, dims.size() - 1, "the target") || (loss.weight && !node.expectRank(loss.weight, 1, "the weight")))
    (void)node.error("expected an input of rank 2 or more");
  if (node.failed())
    return std::nullopt;
  DimExprs places = dims, targets = node.dims(loss.target);
  places.erase(places.begin() + 1);
  for (auto [target, place] : llvm::zip_equal(targets, places))
    (void)node.unify(target, place, "the target and the input differ in a dimension");
  if (loss.weight)
    (void)node.unify(node.dims(loss.weight)[0], dims[1], "the weight does not have one number per class");
  if (auto ignored = node.findInt("ignore_index"))
    loss.ignored = node.builder().getI64IntegerAttr(*ignored);
  loss.reduction = *reduction;
  // Where equality is only checked at run time, a reshape gives the operand the common dimension.
  loss.target = node.reshape(loss.target, places);
  if (loss.weight)
    loss.weight = node.reshape(loss.weight, {dims[1]});
  loss.type = node.type(*reduction == LossReduction::None ? places : DimExprs(), node.elementType(loss.x));
  return node.failed() ? std::nullopt : std::optional(loss);
}

static LogicalResult negativeLogLikelihoodLoss(Node &node) {
  std::optional<Loss> loss = readLoss(node);
  if (!loss)
    return failure();
  return node.result(node.make<NegativeLogLikelihoodOp>(loss->type, loss->reduction, loss->x, loss->target, loss->weight, loss->ignored));
}

static LogicalResult softmaxCrossEntropyLoss(Node &node) {
  if (Value x = node.input(0); node.rank(x) < 2)
    return node.error("the scores have rank " + Twine(node.rank(x)) + ", expected at least 2");
  std::optional<Loss> loss = readLoss(node);
  if (!loss)
    return failure();
  Value result = node.make<SoftmaxCrossEntropyOp>(loss->type, loss->x.getType(), loss->reduction, loss->x, loss->target, loss->weight, loss->ignored);
  if (node.hasOutput(1))
    (void)node.result(1, result.getDefiningOp()->getResult(1));
  return node.result(result);
}

ArrayRef<Operator> getLossOperators() {
  static const Operator rows[] = {
      {"NegativeLogLikelihoodLoss", 12, Elements::Float, negativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 12, Elements::Float, softmaxCrossEntropyLoss},
  };
  return rows;
}

} // namespace kiln::import
