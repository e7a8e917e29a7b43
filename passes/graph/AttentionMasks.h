//===- AttentionMasks.h - Masks that follow from the places alone ----------===//
//
// A query at place i + N - M sees key j when j comes not after it and, with a window, fewer than `window` places before it. Such masks need not
// be read: attention computes them.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_GRAPH_ATTENTIONMASKS_H
#define KILN_PASSES_GRAPH_ATTENTIONMASKS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace kiln {

/// The window of a causal mask; without a number it reaches back to the first key.
struct CausalMask {
  std::optional<int64_t> window;
};

/// Constant addends [..., M, N] that are 0 where the key is seen and -inf elsewhere.
std::optional<CausalMask> matchCausalBias(mlir::Value bias);
/// Truth values [..., M, N] that hold where the key is seen: constants, slices of constants whose rows begin at the past, and comparisons of
/// places at run time.
std::optional<CausalMask> matchCausalKeep(mlir::Value keep);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_ATTENTIONMASKS_H
