//===- Activations.h - Activations inside of recurrent layers --------------===//
#ifndef KILN_DIALECTS_NN_ACTIVATIONS_H
#define KILN_DIALECTS_NN_ACTIVATIONS_H

#include "dialects/nn/RealNumber.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace kiln::nn {

class Scalar;

/// An activation that nn.rnn, nn.lstm and nn.gru know by its ONNX name, and the numbers that it takes.
struct RecurrentActivation {
  llvm::StringLiteral name;
  unsigned numbers;
  double alpha, beta;
  /// Whether ONNX gives its numbers defaults, which `alpha` and `beta` are here.
  bool hasDefaults = true;
};

inline constexpr RecurrentActivation recurrentActivations[] = {
    {"Sigmoid", 0, 0, 0},     {"Tanh", 0, 0, 0},         {"Relu", 0, 0, 0},          {"HardSigmoid", 2, 0.2, 0.5},
    {"Softsign", 0, 0, 0},    {"Softplus", 0, 0, 0},     {"Elu", 1, 1, 0},           {"LeakyRelu", 1, 0.01, 0},
    {"Affine", 2, 1, 0, false}, {"ScaledTanh", 2, 1, 1, false}, {"ThresholdedRelu", 1, 1, 0}};

/// The activation that a text names: `LeakyRelu`, or with numbers of its own `LeakyRelu(0.3)` or `HardSigmoid(0.2,0.5)`; nullopt for another text.
inline std::optional<RecurrentActivation> findRecurrentActivation(llvm::StringRef text) {
  auto [name, rest] = text.split('(');
  const auto *known = llvm::find_if(recurrentActivations, [name = name](const RecurrentActivation &row) { return row.name == name; });
  if (known == std::end(recurrentActivations))
    return std::nullopt;
  RecurrentActivation activation = *known;
  if (name.size() == text.size())
    return activation;
  if (!rest.consume_back(")"))
    return std::nullopt;
  auto [alpha, beta] = rest.split(',');
  bool isBroken = !parseReal(alpha, activation.alpha) || (activation.numbers == 2) == beta.empty() || (!beta.empty() && !parseReal(beta, activation.beta));
  return isBroken || activation.numbers == 0 ? std::nullopt : std::optional(activation);
}

/// Its formula.
Scalar applyActivation(const RecurrentActivation &activation, const Scalar &x);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_ACTIVATIONS_H
