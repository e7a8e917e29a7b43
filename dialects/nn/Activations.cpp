//===- Activations.cpp - Activations inside of recurrent layers ------------===//
#include "dialects/nn/Activations.h"
#include "dialects/nn/Scalar.h"

namespace kiln::nn {

Scalar applyActivation(const RecurrentActivation &activation, const Scalar &x) {
  auto [f, count, alpha, beta, hasDefaults] = activation;
  if (f == "Sigmoid")
    return sigmoid(x);
  if (f == "Tanh")
    return tanh(x);
  if (f == "Relu")
    return max(x, x.like(0.0));
  if (f == "HardSigmoid")
    return max(min(x * alpha + beta, x.like(1.0)), x.like(0.0));
  if (f == "Softsign")
    return x / (abs(x) + 1.0);
  if (f == "Softplus")
    return max(x, x.like(0.0)) + log(exp(-abs(x)) + 1.0);
  if (f == "Elu")
    return select(x < 0.0, (exp(x) - 1.0) * alpha, x);
  if (f == "LeakyRelu")
    return select(x < 0.0, x * alpha, x);
  if (f == "Affine")
    return x * alpha + beta;
  if (f == "ScaledTanh")
    return tanh(x * beta) * alpha;
  assert(f == "ThresholdedRelu" && "an activation of the list");
  return select(x > alpha, x, x.like(0.0));
}

} // namespace kiln::nn
