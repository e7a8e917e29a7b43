//===- StripChains.h - Convolutions that run line by line together --------===//
#ifndef KILN_PASSES_TARGET_GROUPS_STRIPCHAINS_H
#define KILN_PASSES_TARGET_GROUPS_STRIPCHAINS_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"

namespace kiln {

/// A pointwise convolution whose result a depthwise one reads: the expansion of an inverted residual block (Sandler et al., arXiv:1801.04381).
/// Element-wise operations may stand behind each of them.
struct StripChain {
  nn::ConvOp expand;
  /// The depthwise convolution's padding; null when it has none.
  nn::PadOp pad;
  nn::ConvOp depthwise;
};

/// The chain that begins with `expand`, when running it by lines pays: what lies between the two does not fit the second-level cache.
std::optional<StripChain> findStripChain(nn::ConvOp expand, kernel::TargetAttr target);

/// Whether a convolution can be the last of such a chain: pointwise, with constant weights.
bool isStripProjection(nn::ConvOp conv);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_STRIPCHAINS_H
