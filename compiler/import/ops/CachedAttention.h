//===- CachedAttention.h - Attention over caches of keys and values ----------===//
#ifndef KILN_COMPILER_IMPORT_OPS_CACHEDATTENTION_H
#define KILN_COMPILER_IMPORT_OPS_CACHEDATTENTION_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// What GroupQueryAttention and SparseAttention share. Inputs 0 to 2 are query, key and value, 3 and 4 their pasts. Queries are
/// [batch, heads, length, size], keys and values [batch, cache heads, length, size].
class CachedAttention {
protected:
  explicit CachedAttention(Node &node) : node(node) {}

  mlir::LogicalResult readHeads();
  /// The three operands apart, also from one that has them side by side in its columns.
  mlir::LogicalResult readOperands();
  /// x turned by the angles of two caches, of which `cosineInput` is the first, at the positions [batch, length] if the node asks for it.
  Value rotate(Value x, unsigned cosineInput, Value at);
  /// The past with the new rows [batch, heads, length, width] at their places, [batch, heads, keys, width]; these alone where there is no past.
  Value store(Value past, Value now, llvm::StringRef what);

  Node &node;
  Value query, key, value;
  int64_t heads = 0, cacheHeads = 0;
  double scale = 0;
  bool isRotary = false, isInterleaved = false;
  Type element;
  AffineExpr batch, length, size, keys;
  /// The place of each new token [batch, length], counted from the start of its sequence.
  Value places;
};

// Each gives some value after an error.

/// Scores held within (-softcap, softcap) by a tanh; as they are with 0.
Value capScores(Node &node, Value scores, double softcap);

/// The softmax of scores [batch, heads, queries, keys] that counts one more score without a value: the head's of `sink` [heads], or 0 without one.
Value weighWithSink(Node &node, Value scores, Value sink);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_CACHEDATTENTION_H
