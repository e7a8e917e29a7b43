//===- Convolution.h - Convolutions of several operators --------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_CONVOLUTION_H
#define KILN_COMPILER_IMPORT_OPS_CONVOLUTION_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// The zero points of a quantised convolution, each in the shape of what it belongs to.
struct ZeroPoints {
  Value input, weight;
};

/// The convolution of the node's attributes, without a bias; null after an error. With zero points it is one of bytes.
Value buildConvolution(Node &node, Value x, Value weight, std::optional<ZeroPoints> zeros = std::nullopt);

/// Adds a bias [C], which may be null, to [N, C, spatial...].
Value addChannelBias(Node &node, Value result, Value bias);

/// [N, spatial..., C] as [N, C, spatial...], and back.
Value toChannelsFirst(Node &node, Value x);
Value toChannelsLast(Node &node, Value x);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_CONVOLUTION_H
