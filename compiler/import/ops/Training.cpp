//===- Training.cpp - Steps of optimizers -------------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The rate, the number of the step, then tensors in `kinds` lists of equal length: X, G, and the state.
namespace {
struct Step {
  Value rate, count;
  unsigned tensors = 0;
};
} // namespace

static std::optional<Step> readStep(Node &node, unsigned kinds) {
  Step step{node.input(0), node.input(1)};
  if (node.failed())
    return std::nullopt;
  if (node.numInputs() < 2 + kinds || (node.numInputs() - 2) % kinds != 0) {
    (void)node.error("has " + Twine(node.numInputs()) + " inputs, expected two and then " + Twine(kinds) + " for each tensor");
    return std::nullopt;
  }
  step.tensors = (node.numInputs() - 2) / kinds;
  for (Value scalar : {step.rate, step.count})
    if (nn::getConstantDim(nn::getNumElements(node.dims(scalar), node.context())) != 1) {
      (void)node.error("the rate and the number of the step must be scalars");
      return std::nullopt;
    }
  Type element = node.elementType(node.input(2));
  step.rate = node.cast(node.reshape(step.rate, {}), element);
  step.count = node.cast(node.reshape(step.count, {}), element);
  return step;
}

/// norm_coefficient * x + g: the gradient with that of the regularization.
static Value regularize(Node &node, Value x, Value gradient, double norm) {
  return norm == 0 ? gradient : node.binary<AddOp>(node.binary<MulOp>(x, norm), gradient);
}

static LogicalResult adagrad(Node &node) {
  double decay = node.getFloat("decay_factor", 0), epsilon = node.getFloat("epsilon", 0), norm = node.getFloat("norm_coefficient", 0);
  auto step = readStep(node, 3);
  if (!step)
    return failure();
  unsigned n = step->tensors;
  Value rate = node.binary<DivOp>(step->rate, node.binary<AddOp>(node.binary<MulOp>(step->count, decay), 1.0));
  for (unsigned i = 0; i < n && !node.failed(); ++i) {
    Value x = node.input(2 + i), gradient = regularize(node, x, node.input(2 + n + i), norm);
    Value squares = node.binary<AddOp>(node.input(2 + 2 * n + i), node.binary<MulOp>(gradient, gradient));
    Value scale = node.binary<AddOp>(node.unary<SqrtOp>(squares), epsilon);
    (void)node.result(i, node.binary<SubOp>(x, node.binary<DivOp>(node.binary<MulOp>(rate, gradient), scale)));
    (void)node.result(n + i, squares);
  }
  return success(!node.failed());
}

/// rate * sqrt(1 - beta ^ t) / (1 - alpha ^ t) from the second step on.
static Value correctedRate(Node &node, const Step &step, double alpha, double beta) {
  auto rest = [&](double base) {
    Value power = node.binary<PowOp>(node.splatLike(step.count, base), step.count);
    return node.binary<SubOp>(node.splatLike(power, 1), power);
  };
  Value corrected = node.binary<DivOp>(node.binary<MulOp>(step.rate, node.unary<SqrtOp>(rest(beta))), rest(alpha));
  Value later = node.compare<GreaterOp>(step.count, node.splatLike(step.count, 0));
  return node.make<SelectOp>(corrected.getType(), later, corrected, step.rate);
}

static LogicalResult adam(Node &node) {
  double alpha = node.getFloat("alpha", 0.9f), beta = node.getFloat("beta", 0.999f), epsilon = node.getFloat("epsilon", 0);
  double norm = node.getFloat("norm_coefficient", 0), normAfter = node.getFloat("norm_coefficient_post", 0);
  auto step = readStep(node, 4);
  if (!step)
    return failure();
  unsigned n = step->tensors;
  Value rate = correctedRate(node, *step, alpha, beta);
  auto blend = [&](Value old, Value now, double keep) {
    return node.binary<AddOp>(node.binary<MulOp>(old, keep), node.binary<MulOp>(now, 1 - keep));
  };
  for (unsigned i = 0; i < n && !node.failed(); ++i) {
    Value x = node.input(2 + i), gradient = regularize(node, x, node.input(2 + n + i), norm);
    Value first = blend(node.input(2 + 2 * n + i), gradient, alpha);
    Value second = blend(node.input(2 + 3 * n + i), node.binary<MulOp>(gradient, gradient), beta);
    Value scale = node.binary<AddOp>(node.unary<SqrtOp>(second), epsilon);
    Value moved = node.binary<SubOp>(x, node.binary<MulOp>(rate, node.binary<DivOp>(first, scale)));
    (void)node.result(i, normAfter == 0 ? moved : node.binary<MulOp>(moved, 1 - normAfter));
    (void)node.result(n + i, first);
    (void)node.result(2 * n + i, second);
  }
  return success(!node.failed());
}

static LogicalResult momentum(Node &node) {
  double alpha = node.getFloat("alpha", 0), beta = node.getFloat("beta", 0), norm = node.getFloat("norm_coefficient", 0);
  std::string mode = node.getString("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return node.error("attribute 'mode' is '" + mode + "', expected standard or nesterov");
  auto step = readStep(node, 3);
  if (!step)
    return failure();
  unsigned n = step->tensors;
  Value later = node.compare<GreaterOp>(step->count, node.splatLike(step->count, 0));
  Value weight = node.make<SelectOp>(step->count.getType(), later, node.splatLike(step->count, beta), node.splatLike(step->count, 1));
  for (unsigned i = 0; i < n && !node.failed(); ++i) {
    Value x = node.input(2 + i), gradient = regularize(node, x, node.input(2 + n + i), norm);
    Value speed = node.binary<AddOp>(node.binary<MulOp>(node.input(2 + 2 * n + i), alpha), node.binary<MulOp>(weight, gradient));
    Value move = mode == "standard" ? speed : node.binary<AddOp>(gradient, node.binary<MulOp>(speed, alpha));
    (void)node.result(i, node.binary<SubOp>(x, node.binary<MulOp>(step->rate, move)));
    (void)node.result(n + i, speed);
  }
  return success(!node.failed());
}

ArrayRef<Operator> getTrainingOperators() {
  static const Operator rows[] = {
      {"Adagrad", 1, Elements::Float, adagrad, INT64_MAX, "ai.onnx.preview.training"},
      {"Adam", 1, Elements::Float, adam, INT64_MAX, "ai.onnx.preview.training"},
      {"Momentum", 1, Elements::Float, momentum, INT64_MAX, "ai.onnx.preview.training"},
  };
  return rows;
}

} // namespace kiln::import
