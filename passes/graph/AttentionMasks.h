//===- AttentionMasks.h - Masks that depend only on positions ----------===//
//
// A query at position i + N - M sees key j if j does not come after it and, with a window, is fewer than `window` positions before it. Attention computes
// such masks instead of reading them.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_GRAPH_ATTENTIONMASKS_H
#define KILN_PASSES_GRAPH_ATTENTIONMASKS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace kiln {

/// The window of a causal mask. Without a number, it reaches back to the first key.
struct CausalMask {
  std::optional<int64_t> window;
};

/// Matches constant addends [..., M, N] that are 0 where the key is visible and -inf elsewhere.
std::optional<CausalMask> matchCausalBias(mlir::Value bias);
/// Matches booleans [..., M, N] that are true where the key is visible: constants, slices of constants whose rows begin at the past, and comparisons
/// of positions at run time.
std::optional<CausalMask> matchCausalKeep(mlir::Value keep);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_ATTENTIONMASKS_H
