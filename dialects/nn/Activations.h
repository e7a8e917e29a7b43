//===- Activations.h - Activations inside of recurrent layers --------------===//
#ifndef KILN_DIALECTS_NN_ACTIVATIONS_H
#define KILN_DIALECTS_NN_ACTIVATIONS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// The activations that nn.rnn, nn.lstm and nn.gru know, by their ONNX names.
inline constexpr llvm::StringLiteral recurrentActivations[] = {"Sigmoid",  "Tanh", "Relu",      "HardSigmoid",    "Softsign",
                                                               "Softplus", "Elu",  "LeakyRelu", "ThresholdedRelu"};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_ACTIVATIONS_H
