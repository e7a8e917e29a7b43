//===- Attention.h - The parts of the operators that attend ------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_ATTENTION_H
#define KILN_COMPILER_IMPORT_OPS_ATTENTION_H

#include "compiler/import/Node.h"

namespace kiln::import {

// Each gives some value after an error.

/// [batch, length, heads * size] as [batch, heads, length, size]; rank 4 stays. `what` names the tensor in messages.
Value splitHeads(Node &node, Value x, int64_t heads, llvm::StringRef what);

/// [batch, heads, length, size] as [batch, length, heads * size].
Value joinHeads(Node &node, Value x);

/// Repeats each of few key or value heads for its group of `heads` query heads.
Value repeatHeads(Node &node, Value x, AffineExpr heads);

/// One number where the condition holds and another elsewhere.
Value chooseNumber(Node &node, Value condition, Type element, double then, double otherwise);

/// 1 / sqrt(size), the scale that attention has by default; an error for a symbolic size.
double defaultScale(Node &node, AffineExpr size);

/// Attention of query [batch, heads, queries, size], key [batch, heads, keys, size] and value [batch, heads, keys, value size] as one operation.
/// `bias`, which may be null, is added to the scores and is broadcast to [batch, heads, queries, keys]. With `causal` the last query sees all keys and
/// each query before it one key fewer; a `window` that is not 0 leaves each so many keys at most.
Value buildAttention(Node &node, Value query, Value key, Value value, Value bias, double scale, bool causal, int64_t window = 0);

/// Rotates pairs of the first `width` elements of x [batch, length, heads, size] by the angles whose cosine and sine are
/// [batch, length, width / 2]. A pair is two neighbours if `interleaved`, else one element of each half.
Value rotatePairs(Node &node, Value x, Value cosine, Value sine, int64_t width, bool interleaved);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_ATTENTION_H
