//===- ContribAttention.cpp - Attention operators of ONNX Runtime ------------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md), as its CPU kernels compute them.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Attention.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/Quantization.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNElementwiseOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// What Attention and MultiHeadAttention share: from heads to the result.
class HeadAttention {
public:
  explicit HeadAttention(Node &node) : node(node), heads(node.requireInt("num_heads")) {}

  /// Takes [batch, length, heads * size] or [batch, heads, length, size].
  void setOperands(Value query, Value key, Value value);
  /// Puts the keys and values [batch, heads, past, size] of earlier runs before those of this one.
  void prepend(Value pastKey, Value pastValue);
  /// Puts the one key and value of this run behind `count` of earlier ones in caches [batch, heads, keys, size]; what lies behind them is hidden.
  void store(Value cacheKey, Value cacheValue, Value count);
  /// Has the rows of an entry's beams read places before `count` from each other's caches: `beams` [entries, beams, places] says from which. Follows
  /// store.
  void redirect(Value beams, Value count);
  /// A mask or bias whose dimension `axis` counts keys, for all places of the cache.
  Value stretch(Value mask, int64_t axis);
  /// Hides keys: `mask`, which may be null, has the number of keys in use [batch], with `starts` perhaps ends and starts of them [2 * batch], or what
  /// is positive where a key counts, for [batch, keys] or [batch, queries, keys].
  void hide(Value mask, bool starts);
  /// Adds to the scores what broadcasts to [batch, heads, queries, keys].
  void add(Value more);
  LogicalResult finish();

  Value query, key, value;

private:
  Value keepOf(Value mask, bool starts);
  Value findScores(double scale, bool isCausal);

  Node &node;
  int64_t heads;
  Value bias;
  AffineExpr past = node.number(0);
};
} // namespace

void HeadAttention::setOperands(Value q, Value k, Value v) {
  query = splitHeads(node, q, heads, "the query");
  key = splitHeads(node, k, heads, "the key");
  value = splitHeads(node, v, heads, "the value");
  if (!node.expectRank(query, 4, "the query") || !node.expectRank(key, 4, "the key") || !node.expectRank(value, 4, "the value"))
    return;
  DimExprs from = node.dims(query), to = node.dims(key), size = node.dims(value);
  key = alignDims(node, key, {from[0], from[1], to[2], from[3]}, "the key does not fit the query");
  value = alignDims(node, value, {from[0], from[1], to[2], size[3]}, "the value does not fit the query and the key");
}

void HeadAttention::prepend(Value pastKey, Value pastValue) {
  if (node.failed() || (!pastKey && !pastValue))
    return;
  if (!pastKey || !pastValue) {
    (void)node.error("has only one of past_key and past_value");
    return;
  }
  if (!node.expectRank(pastKey, 4, "the past key") || !node.expectRank(pastValue, 4, "the past value"))
    return;
  DimExprs k = node.dims(key), v = node.dims(value);
  past = node.dims(pastKey)[2];
  pastKey = alignDims(node, pastKey, {k[0], k[1], past, k[3]}, "the past key does not fit the key");
  pastValue = alignDims(node, pastValue, {v[0], v[1], past, v[3]}, "the past value does not fit the value");
  key = node.concat({pastKey, key}, 2);
  value = node.concat({pastValue, value}, 2);
}

void HeadAttention::store(Value cacheKey, Value cacheValue, Value count) {
  if (node.failed())
    return;
  if (!cacheValue || !count) {
    (void)node.error("has a shared cache without past_value or past_sequence_length");
    return;
  }
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1);
  if (!node.expectRank(cacheKey, 4, "the past key") ||
      !node.unify(nn::getNumElements(node.dims(count), node.context()), one, "past_sequence_length must be a scalar: number of elements") ||
      !node.unify(node.dims(key)[2], one, "a shared cache takes one token: number of tokens"))
    return;
  AffineExpr keys = node.dims(cacheKey)[2];
  Value place = node.cast(node.reshape(count, {one, one, one, one}), i64);
  for (auto [now, cache] : {std::pair(&key, cacheKey), std::pair(&value, cacheValue)}) {
    DimExprs dims = node.dims(*now), whole = {dims[0], dims[1], keys, dims[3]}, row = {dims[0], dims[1], one, dims[3]};
    cache = alignDims(node, cache, whole, "the cache does not fit the key or value");
    Value at = node.broadcastTo(place, row);
    if (node.failed())
      return;
    *now = node.make<ScatterElementsOp>(cache.getType(), cache, at, node.reshape(*now, row), 2, ScatterReduction::None);
  }
  Value isSeen = node.compare<LessEqualOp>(node.iota({one, one, one, keys}, 3, i64), place);
  if (!node.failed())
    add(chooseNumber(node, isSeen, node.elementType(query), 0, -HUGE_VAL));
}

void HeadAttention::redirect(Value beams, Value count) {
  if (node.failed() || !node.expectRank(beams, 3, "cache_indirection"))
    return;
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1), rows = node.dims(key)[0], keys = node.dims(key)[2];
  DimExprs given = node.dims(beams);
  if (!node.unify(nn::simplifyDim(given[0] * given[1]), rows, "cache_indirection does not have a row for each beam"))
    return;
  node.requireNotNegative(given[2] - keys, "cache_indirection has fewer places than the cache");
  if (node.failed())
    return;
  beams = node.slice(node.cast(beams, i64), 2, node.number(0), keys);
  DimExprs entries = {given[0], one, one};
  Value each = node.broadcastTo(node.reshape(sizeOf(node, given[1], i64), {one, one, one}), entries);
  Value first = node.binary<MulOp>(node.iota(entries, 0, i64), each);
  Value from = node.reshape(node.binary<AddOp>(beams, first), {rows, keys}), own = node.broadcastTo(node.iota({rows, one}, 0, i64), {rows, keys});
  Value isPast = node.compare<LessOp>(node.iota({one, keys}, 1, i64), node.cast(node.reshape(count, {one, one}), i64));
  if (node.failed())
    return;
  from = node.make<SelectOp>(from.getType(), node.broadcastTo(isPast, {rows, keys}), from, own);
  for (Value *cache : {&key, &value}) {
    Value at = node.broadcastTo(node.reshape(from, {rows, one, keys, one}), node.dims(*cache));
    *cache = node.failed() ? *cache : node.make<GatherElementsOp>(cache->getType(), *cache, at, 0);
  }
}

Value HeadAttention::stretch(Value mask, int64_t axis) {
  if (!mask || node.failed() || node.rank(mask) <= axis)
    return mask;
  AffineExpr missing = nn::simplifyDim(node.dims(key)[2] - node.dims(mask)[axis]);
  if (nn::getConstantDim(missing) == 0)
    return mask;
  node.requireNotNegative(missing, "a mask is for more keys than there are");
  SmallVector<AffineExpr> low(node.rank(mask), node.number(0)), high = low;
  high[axis] = missing;
  return node.failed() ? mask : node.pad(mask, low, high, PadMode::Constant, node.splat({}, node.elementType(mask), 0));
}

/// Where keys count, for [batch or 1, 1, queries or 1, keys].
Value HeadAttention::keepOf(Value mask, bool starts) {
  DimExprs dims = node.dims(mask), scores = node.dims(query);
  AffineExpr batch = scores[0], keys = node.dims(key)[2], one = node.number(1);
  Type i64 = node.builder().getI64Type();
  if (dims.size() == 1) {
    bool hasStarts = starts && nn::provablyEqual(dims[0], batch * 2) && nn::getConstantDim(dims[0]) != 0;
    auto perBatch = [&](AffineExpr start) { return node.reshape(node.cast(node.slice(mask, 0, start, batch), i64), {batch, one, one, one}); };
    if (!hasStarts && !node.unify(dims[0], batch, "a mask of rank 1 does not fit the batch"))
      return mask;
    Value places = node.iota({one, one, one, keys}, 3, i64), keep = node.compare<LessOp>(places, perBatch(node.number(0)));
    return hasStarts && !node.failed() ? node.binary<AndOp>(keep, node.compare<GreaterEqualOp>(places, perBatch(batch))) : keep;
  }
  if (dims.size() != 2 && dims.size() != 3) {
    (void)node.unsupported("a mask of rank " + Twine(dims.size()), "export the model with a mask of rank 2 or 3, or as attention_bias");
    return mask;
  }
  DimExprs want = {batch, keys}, shape = {batch, one, one, keys};
  if (dims.size() == 3) {
    want.insert(want.begin() + 1, scores[2]);
    shape[2] = scores[2];
  }
  mask = node.reshape(alignDims(node, mask, want, "the mask does not fit the scores"), shape);
  return node.failed() ? mask : node.compare<GreaterOp>(mask, node.splatLike(mask, 0));
}

void HeadAttention::hide(Value mask, bool starts) {
  double hidden = node.getFloat("mask_filter_value", -10000);
  if (!mask || node.failed())
    return;
  Value keep = keepOf(mask, starts);
  if (node.failed())
    return;
  add(chooseNumber(node, keep, node.elementType(query), 0, hidden));
}

void HeadAttention::add(Value more) {
  if (more && !node.failed())
    bias = bias ? node.binary<AddOp>(bias, more) : more;
}

LogicalResult HeadAttention::finish() {
  bool isCausal = node.getFlag("unidirectional");
  double scale = node.getFloat("scale", 0);
  if (node.failed())
    return failure();
  DimExprs q = node.dims(query);
  if (scale == 0)
    scale = defaultScale(node, q[3]);
  if (node.failed() || (isCausal && !node.unify(node.dims(key)[2], past + q[2], "attribute 'unidirectional' needs a key for each query")))
    return failure();
  if (node.hasOutput(3) && failed(node.result(3, findScores(scale, isCausal))))
    return failure();
  return node.result(joinHeads(node, buildAttention(node, query, key, value, bias, scale, isCausal)));
}

/// What the softmax takes [batch, heads, queries, keys]: with masks and biases, and the lowest number where a query does not see a key.
Value HeadAttention::findScores(double scale, bool isCausal) {
  Value scores = node.matmul(query, node.transpose(key, {0, 1, 3, 2}));
  if (node.failed())
    return scores;
  scores = node.binary<MulOp>(scores, scale);
  if (bias)
    scores = node.binary<AddOp>(scores, bias);
  if (!isCausal || node.failed())
    return scores;
  DimExprs dims = node.dims(scores);
  Type i64 = node.builder().getI64Type();
  Value last = node.reshape(node.slice(node.iota({dims[3]}, 0, i64), 0, past, dims[2]), {dims[2], node.number(1)});
  Value isLater = node.compare<GreaterOp>(node.iota({dims[2], dims[3]}, 1, i64), last);
  double lowest = -llvm::APFloat::getLargest(cast<FloatType>(node.elementType(scores)).getFloatSemantics()).convertToDouble();
  return node.make<SelectOp>(scores.getType(), node.broadcastTo(isLater, dims), node.splatLike(scores, lowest), scores);
}

//===- Attention -----------------------------------------------------------===//

/// The past [2, batch, heads, length, size], whose halves are the earlier keys and values, and the present like it (output 1).
static void addPacked(Node &node, HeadAttention &heads, Value before) {
  if (before && node.expectRank(before, 5, "the past") && node.unify(node.dims(before)[0], node.number(2), "the past does not have keys and values")) {
    DimExprs rest = node.dims(before);
    rest.erase(rest.begin());
    auto half = [&](int64_t at) { return node.reshape(node.slice(before, 0, node.number(at), node.number(1)), rest); };
    heads.prepend(half(0), half(1));
  }
  if (!node.hasOutput(1) || node.failed())
    return;
  DimExprs dims = node.dims(heads.key);
  dims.insert(dims.begin(), node.number(1));
  if (node.unify(node.dims(heads.value)[3], dims[4], "the present needs keys and values of one size"))
    (void)node.result(1, node.concat({node.reshape(heads.key, dims), node.reshape(heads.value, dims)}, 0));
}

/// Attention on the projections of one input.
static LogicalResult contribAttention(Node &node) {
  Value x = node.input(0), weights = node.input(1), before = node.optionalInput(4);
  auto sizes = node.findInts("qkv_hidden_sizes");
  if (node.getFlag("do_rotary") || node.getFlag("past_present_share_buffer") || node.hasInput(6))
    return node.unsupported("rotary embedding or a shared cache within Attention",
                            "export the model with RotaryEmbedding nodes, and past and present as tensors of their own");
  if (int64_t width = node.getInt("rotary_embedding_dim", 0); !llvm::is_contained({0, 32, 64, 128}, width))
    return node.error("attribute 'rotary_embedding_dim' is " + Twine(width) + ", expected 32, 64 or 128");
  if (!node.expectRank(x, 3, "the input") || !node.expectRank(weights, 2, "the weights"))
    return failure();
  AffineExpr columns = node.dims(weights)[1], third = nn::simplifyDim(columns.floorDiv(3));
  DimExprs widths(3, third);
  if (sizes) {
    if (sizes->size() != 3 || llvm::any_of(*sizes, [](int64_t size) { return size < 1; }))
      return node.error("attribute 'qkv_hidden_sizes' does not have three positive numbers");
    llvm::transform(*sizes, widths.begin(), [&](int64_t size) { return node.number(size); });
  }
  if (!node.unify(columns, widths[0] + widths[1] + widths[2], "the weights do not have the columns of query, key and value"))
    return failure();
  Value all = buildMatmul(node, x, weights);
  if (Value bias = node.optionalInput(2); bias && !node.failed())
    all = node.binary<AddOp>(all, node.broadcastTo(alignDims(node, bias, {columns}, "the bias does not fit the weights"), node.dims(all)));
  if (node.failed())
    return failure();
  HeadAttention heads(node);
  heads.setOperands(node.slice(all, 2, node.number(0), widths[0]), node.slice(all, 2, widths[0], widths[1]),
                    node.slice(all, 2, nn::simplifyDim(widths[0] + widths[1]), widths[2]));
  addPacked(node, heads, before);
  heads.hide(node.optionalInput(3), /*starts=*/true);
  heads.add(node.optionalInput(5));
  return heads.finish();
}

/// The same on bytes: the projection is a sum of products of integers, and all behind it is real.
static LogicalResult qAttention(Node &node) {
  Value x = node.input(0), weights = node.input(1), bias = node.input(2), xScale = node.input(3), scale = node.input(4), before = node.optionalInput(8);
  if (node.getFlag("do_rotary") || node.getFlag("past_present_share_buffer"))
    return node.unsupported("rotary embedding or a shared cache within QAttention",
                            "export the model with RotaryEmbedding nodes, and past and present as tensors of their own");
  if (!node.expectRank(x, 3, "the input") || !node.expectRank(weights, 2, "the weights") ||
      !expectNumbers(node, {{3, "input_scale"}, {6, "input_zero_point"}}))
    return failure();
  AffineExpr columns = node.dims(weights)[1], width = nn::simplifyDim(columns.floorDiv(3));
  if (!node.unify(columns, width * 3, "the weights do not have the columns of query, key and value"))
    return failure();
  Value sum = buildQuantizedMatmul(node, x, weights, node.optionalInput(6), node.optionalInput(7));
  if (node.failed())
    return failure();
  Value factor = node.binary<MulOp>(spreadParameter(node, xScale, sum, -1, 0), spreadParameter(node, scale, sum, -1, 0));
  Value all = node.failed() ? sum : node.binary<MulOp>(node.cast(sum, node.elementType(xScale)), factor);
  if (!node.failed())
    all = node.binary<AddOp>(all, node.broadcastTo(alignDims(node, bias, {columns}, "the bias does not fit the weights"), node.dims(all)));
  if (node.failed())
    return failure();
  HeadAttention heads(node);
  heads.setOperands(node.slice(all, 2, node.number(0), width), node.slice(all, 2, width, width), node.slice(all, 2, nn::simplifyDim(width * 2), width));
  addPacked(node, heads, before);
  heads.hide(node.optionalInput(5), /*starts=*/true);
  return heads.finish();
}

//===- MultiHeadAttention --------------------------------------------------===//

/// One of the tensors that are packed along dimension 3 of [batch, length, heads, count, size], as [batch, length, heads * size].
static Value unpack(Node &node, Value packed, int64_t at) {
  DimExprs d = node.dims(packed);
  return node.reshape(node.slice(packed, 3, node.number(at), node.number(1)), {d[0], d[1], nn::simplifyDim(d[2] * d[4])});
}

/// Adds each operand its part of a bias. Keys and values of rank 4 come from a cache and have theirs.
static void addProjectionBias(Node &node, Value bias, MutableArrayRef<Value> operands) {
  if (!bias || node.failed() || !node.expectRank(bias, 1, "the bias"))
    return;
  auto widthOf = [&](Value operand) {
    DimExprs dims = node.dims(operand);
    return dims.size() == 4 ? nn::simplifyDim(dims[1] * dims[3]) : dims.back();
  };
  AffineExpr start = node.number(0), total = start;
  for (Value operand : operands)
    total = nn::simplifyDim(total + widthOf(operand));
  if (!node.unify(node.dims(bias)[0], total, "the bias does not fit query, key and value"))
    return;
  bias = node.reshape(bias, {total});
  for (Value &operand : operands) {
    AffineExpr width = widthOf(operand);
    if (node.rank(operand) == 3)
      operand = node.binary<AddOp>(operand, node.broadcastTo(node.slice(bias, 0, start, width), node.dims(operand)));
    start = nn::simplifyDim(start + width);
  }
}

static LogicalResult multiHeadAttention(Node &node) {
  Value query = node.input(0), key = node.optionalInput(1), value = node.optionalInput(2);
  Value counted = node.optionalInput(8), beams = node.optionalInput(9), pastKey = node.optionalInput(6), pastValue = node.optionalInput(7);
  if ((beams && !counted) || (counted && !pastKey))
    return node.error("has cache_indirection without past_sequence_length, or past_sequence_length without a past");
  if (node.hasOutput(3) && counted)
    return node.unsupported("output 3, the scores, with a buffer that past and present share", "remove it from the model");
  int64_t rank = node.rank(query), keyRank = key ? node.rank(key) : 0;
  bool isPacked = !key && !value && rank == 5, isHalfPacked = key && !value && rank == 3 && keyRank == 5;
  if (!isPacked && !isHalfPacked && !(key && value && rank == 3 && (keyRank == 3 || keyRank == 4)))
    return node.error("query, key and value have neither rank 3 nor one of the packed forms");
  if (isPacked && !node.unify(node.dims(query)[3], node.number(3), "a packed query does not have three parts"))
    return failure();
  if (isHalfPacked && !node.unify(node.dims(key)[3], node.number(2), "a packed key does not have two parts"))
    return failure();
  Value operands[] = {isPacked ? unpack(node, query, 0) : query, isPacked ? unpack(node, query, 1) : isHalfPacked ? unpack(node, key, 0) : key,
                      isPacked ? unpack(node, query, 2) : isHalfPacked ? unpack(node, key, 1) : value};
  addProjectionBias(node, node.optionalInput(3), operands);
  if (node.failed())
    return failure();
  HeadAttention heads(node);
  heads.setOperands(operands[0], operands[1], operands[2]);
  if (counted)
    heads.store(pastKey, pastValue, counted);
  else
    heads.prepend(pastKey, pastValue);
  if (node.hasOutput(1))
    (void)node.result(1, heads.key);
  if (node.hasOutput(2))
    (void)node.result(2, heads.value);
  if (beams)
    heads.redirect(beams, counted);
  heads.hide(counted ? heads.stretch(node.optionalInput(4), 1) : node.optionalInput(4), /*starts=*/false);
  heads.add(counted ? heads.stretch(node.optionalInput(5), 3) : node.optionalInput(5));
  return heads.finish();
}

/// MultiHeadAttention of one token: its key and value are rank 3 and go behind the past, or those of a cross attention.
static LogicalResult decoderAttention(Node &node) {
  Value query = node.input(0), key = node.optionalInput(1), value = node.optionalInput(2), bias = node.optionalInput(10);
  bool isShared = node.getFlag("past_present_share_buffer");
  Value beams = node.optionalInput(9);
  if (beams && !isShared)
    return node.unsupported("the indirection of a cache that past and present do not share", "set past_present_share_buffer");
  // A beam is a batch entry of its own; cache_indirection has their number.
  (void)node.optionalInput(8);
  node.ignore("output_qk");
  if (node.hasOutput(3) && isShared && node.hasInput(5))
    return node.unsupported("output 3, the scores, with a buffer that past and present share", "remove it from the model");
  if (!node.expectRank(query, 3, "the query") || (!key != !value))
    return node.error("has only one of key and value");
  AffineExpr third = nn::simplifyDim(node.dims(query)[2].floorDiv(3));
  if (!key && !node.unify(node.dims(query)[2], third * 3, "the packed query does not have the columns of query, key and value"))
    return failure();
  auto part = [&](int64_t at) { return node.slice(query, 2, nn::simplifyDim(third * at), third); };
  Value operands[] = {key ? query : part(0), key ? key : part(1), key ? value : part(2)};
  addProjectionBias(node, bias, operands);
  if (node.failed())
    return failure();
  HeadAttention heads(node);
  heads.setOperands(operands[0], operands[1], operands[2]);
  Value counted = node.optionalInput(7), pastKey = node.optionalInput(5), pastValue = node.optionalInput(6), mask = node.optionalInput(3);
  if (isShared && pastKey)
    heads.store(pastKey, pastValue, counted);
  else
    heads.prepend(pastKey, pastValue);
  if (node.hasOutput(1))
    (void)node.result(1, heads.key);
  if (node.hasOutput(2))
    (void)node.result(2, heads.value);
  if (beams && pastKey)
    heads.redirect(beams, counted);
  heads.hide(heads.stretch(mask, 1), /*starts=*/false);
  heads.add(heads.stretch(node.optionalInput(4), 3));
  return heads.finish();
}

//===- RotaryEmbedding -----------------------------------------------------===//

/// The positions [batch, length], of which a single number is the first.
static Value positionsOf(Node &node, Value given, AffineExpr batch, AffineExpr length) {
  if (node.rank(given) == 1 && node.unify(node.dims(given)[0], node.number(1), "a vector of positions has more than the first")) {
    Value first = node.broadcastTo(node.reshape(given, {node.number(1), node.number(1)}), {batch, length});
    return node.binary<AddOp>(first, node.broadcastTo(node.iota({node.number(1), length}, 1, node.elementType(given)), {batch, length}));
  }
  return alignDims(node, given, {batch, length}, "the positions do not fit the input");
}

/// Rotates input 0; `anglesAt` gives the rows of a cache [batch, length, columns] for each token.
static LogicalResult rotateInput(Node &node, llvm::function_ref<Value(Value cache, AffineExpr batch, AffineExpr length)> anglesAt) {
  Value input = node.input(0), cosine = node.input(2), sine = node.input(3), x = input;
  bool interleaved = node.getFlag("interleaved");
  int64_t heads = node.getInt("num_heads", 0), width = node.getInt("rotary_embedding_dim", 0);
  node.ignore("is_packed_batching");
  if (node.getFloat("scale", 1) != 1)
    return node.unsupported("attribute 'scale' other than 1", "scale the caches instead");
  if (!node.expectRank(cosine, 2, "the cosine cache") || !node.expectRank(sine, 2, "the sine cache"))
    return failure();
  auto half = nn::getConstantDim(node.dims(cosine)[1]);
  DimExprs original = node.dims(input);
  if (!half)
    return node.unsupported("caches with a symbolic number of columns", "make the dimension static with --dim");
  if (heads < 0 || width < 0 || width % 2 || (width > 0 && heads == 0))
    return node.error("attribute 'rotary_embedding_dim' is " + Twine(width) + ", expected an even number beside a positive 'num_heads'");
  if (node.rank(input) == 3) {
    AffineExpr size = width > 0 ? nn::simplifyDim(original[2].floorDiv(heads)) : node.number(2 * *half);
    AffineExpr count = width > 0 ? node.number(heads) : nn::simplifyDim(original[2].floorDiv(2 * *half));
    if (!node.unify(original[2], count * size, "the input's last dimension is not a multiple of the head size"))
      return failure();
    x = node.reshape(x, {original[0], original[1], count, size});
  } else if (node.expectRank(input, 4, "the input")) {
    x = node.transpose(x, {0, 2, 1, 3});
  }
  if (node.failed())
    return failure();
  width = width > 0 ? width : 2 * *half;
  DimExprs d = node.dims(x);
  node.requireNotNegative(d[3] - width, "more elements are to be rotated than a head has");
  cosine = anglesAt(cosine, d[0], d[1]);
  sine = anglesAt(sine, d[0], d[1]);
  Value turned = node.failed() ? x : rotatePairs(node, x, cosine, sine, width, interleaved);
  if (node.failed())
    return failure();
  return node.result(node.rank(input) == 4 ? node.transpose(turned, {0, 2, 1, 3}) : node.reshape(turned, original));
}

static LogicalResult contribRotaryEmbedding(Node &node) {
  Value positions = node.input(1);
  return rotateInput(node, [&](Value cache, AffineExpr batch, AffineExpr length) {
    Value at = positionsOf(node, positions, batch, length);
    return node.failed() ? cache : buildGather(node, cache, at, 0);
  });
}

/// Which of three positions of a token each column of the caches is for: those of time, height and width, by sections or in turn.
static std::optional<SmallVector<int64_t>> readStreams(Node &node) {
  auto sections = node.findInts("mrope_section").value_or(SmallVector<int64_t>());
  int64_t layout = node.getInt("mrope_layout", 0), columns = nn::getConstantDim(node.dims(node.input(2))[1]).value_or(0), total = 0;
  for (int64_t section : sections)
    total += section;
  if (sections.size() != 3 || total != columns || (layout != 0 && layout != 1)) {
    (void)node.error("attribute 'mrope_section' does not have three numbers whose sum is the caches' " + Twine(columns) +
                     " columns, or 'mrope_layout' is not 0 or 1");
    return std::nullopt;
  }
  SmallVector<int64_t> streams;
  for (int64_t column = 0; column < columns; ++column) {
    int64_t turn = column % 3;
    bool isBehindFirst = column >= sections[0], isBehindSecond = column >= sections[0] + sections[1];
    streams.push_back(layout == 0 ? isBehindFirst + isBehindSecond : turn != 0 && column < 3 * sections[turn] ? turn : 0);
  }
  return streams;
}

static LogicalResult mRotaryEmbedding(Node &node) {
  Value positions = node.input(1);
  if (!node.expectRank(node.input(2), 2, "the cosine cache"))
    return failure();
  auto streams = readStreams(node);
  if (!streams)
    return failure();
  return rotateInput(node, [&](Value cache, AffineExpr batch, AffineExpr length) {
    Value at = alignDims(node, positions, {node.number(3), batch, length}, "the positions do not fit the input");
    AffineExpr columns = node.number(static_cast<int64_t>(streams->size()));
    // The position of each column, and the caches' column at it.
    Value rows = node.failed() ? at : node.transpose(buildGather(node, at, node.constantInts(*streams), 0), {1, 2, 0});
    DimExprs dims = {batch, length, columns};
    AffineExpr tokens = nn::simplifyDim(batch * length);
    if (node.failed())
      return cache;
    RankedTensorType type = node.type({tokens, columns}, node.elementType(cache));
    return node.reshape(node.make<GatherElementsOp>(type, cache, node.reshape(rows, {tokens, columns}), 0), dims);
  });
}

/// Queries and keys times the cosines of angles, plus their turned halves times the sines.
static LogicalResult gemmaRotaryEmbedding(Node &node) {
  Value angle = node.input(0);
  for (unsigned i = 0; i < 2 && !node.failed(); ++i) {
    Value x = node.input(1 + 2 * i), turned = node.input(2 + 2 * i);
    DimExprs dims = node.dims(x);
    angle = alignDims(node, angle, {dims[0], dims[2], dims[3]}, "the angles do not fit the queries or keys");
    auto spread = [&](Value value) {
      return node.broadcastTo(node.reshape(node.cast(value, node.elementType(x)), {dims[0], node.number(1), dims[2], dims[3]}), dims);
    };
    if (node.failed())
      return failure();
    Value kept = node.binary<MulOp>(x, spread(node.unary<CosOp>(angle))), added = node.binary<MulOp>(turned, spread(node.unary<SinOp>(angle)));
    (void)node.result(i, node.binary<AddOp>(kept, added));
  }
  return failure(node.failed());
}

ArrayRef<Operator> getContribAttentionOperators() {
  static const Operator rows[] = {
      {"Attention", 1, Elements::Float, contribAttention, INT64_MAX, "com.microsoft"},
      {"DecoderMaskedMultiHeadAttention", 1, Elements::Float, decoderAttention, INT64_MAX, "com.microsoft"},
      asComposite({"GemmaRotaryEmbedding", 1, Elements::Float, gemmaRotaryEmbedding, INT64_MAX, "com.microsoft"}),
      asComposite({"MRotaryEmbedding", 1, Elements::Float, mRotaryEmbedding, INT64_MAX, "com.microsoft"}),
      {"MultiHeadAttention", 1, Elements::Float, multiHeadAttention, INT64_MAX, "com.microsoft"},
      {"QAttention", 1, Elements::Integer, qAttention, INT64_MAX, "com.microsoft"},
      asComposite({"RotaryEmbedding", 1, Elements::Float, contribRotaryEmbedding, INT64_MAX, "com.microsoft"}),
  };
  return rows;
}

} // namespace kiln::import
