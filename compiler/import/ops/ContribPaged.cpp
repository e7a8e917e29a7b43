//===- ContribPaged.cpp - Attention over a cache of pages --------------------===//
//
// PagedAttention of domain com.microsoft (ONNX Runtime's ContribOperators.md), which serves several requests in one call. Tokens of all requests stand one
// behind the other without padding, and the cache has pages of a few tokens, of which `block_table` says whose they are. The new keys and values go to their
// places in the cache. Attention then takes the pages of each request, as many as the longest one has, and the tokens of each, as many as the request with the
// most of them has.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Choices.h"
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/import/ops/Attention.h"
#include "compiler/import/ops/CachedAttention.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/PackedRequests.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// One PagedAttention node. For what it shares with other caches, all tokens are one sequence.
class PagedAttention : private CachedAttention {
public:
  explicit PagedAttention(Node &node) : CachedAttention(node), requests(node) {}
  LogicalResult run();

private:
  /// Keys or values as the cache has them: plain, or bytes with a scale.
  struct Stored {
    Value cache, scale;
    int64_t dataType = 0;
  };
  LogicalResult readAttributes();
  LogicalResult readCaches();
  LogicalResult readCache(Stored &stored, unsigned input, unsigned scaleInput, StringRef what);
  LogicalResult readTokens();
  LogicalResult readOperands();
  void normalizeHeads(Value &x, unsigned weight);
  Value rotateAt(Value x);
  void findSlots();
  Value encode(Value rows, const Stored &stored);
  Value decode(Value x, const Stored &stored);
  void store(Stored &stored, Value rows);
  AffineExpr countPages();
  Value takePages(const Stored &stored);
  Value hideKeys();
  Value attend();
  Value attendInParts(Value q, Value k, Value v, Value bias, double factor, Value sink);

  PackedRequests requests;
  Stored keyCache, valueCache;
  int64_t window = -1, valueSize = 0, rotaryOffset = 0;
  double softcap = 0;
  bool isCausal = true, isLatent = false;
  AffineExpr blocks, pageSize, tablePages, pages, queries;
  Type i64;
  /// Tokens of each request before and with this call [requests]; the table [requests, pages]; which slot of the cache each token goes to [tokens], and whether
  /// it goes there; which places of a request have a page [requests, keys].
  Value past, total, table, slot, isStored, isMapped;
};
} // namespace

LogicalResult PagedAttention::readAttributes() {
  window = node.getInt("local_window_size", -1);
  softcap = node.getFloat("softcap", 0);
  isCausal = node.getFlag("is_causal", true);
  isLatent = node.getString("kv_cache_layout", "SEPARATE") == "LATENT";
  valueSize = node.getInt("v_head_size", 0);
  rotaryOffset = node.getInt("rotary_offset", 0);
  if (failed(readHeads()))
    return failure();
  if (isLatent && (cacheHeads != 1 || node.hasInput(2) || node.hasInput(4) || !node.hasInput(1)))
    return node.error("a LATENT cache needs a key, and neither a value, a value cache nor more than one head of keys");
  if (!isLatent && !node.hasInput(4))
    return node.error("a SEPARATE cache needs a value cache");
  return success();
}

/// A cache [blocks, page size, heads, size], and the scale of its bytes.
LogicalResult PagedAttention::readCache(Stored &stored, unsigned input, unsigned scaleInput, StringRef what) {
  bool isKey = what == "key";
  std::string kind = node.getString(isKey ? "k_quant_type" : "v_quant_type", "NONE"), type = node.getString(isKey ? "k_cache_dtype" : "v_cache_dtype", "");
  stored.cache = node.input(input);
  if (node.failed())
    return failure();
  stored.dataType = node.narrowType(input);
  Type held = node.elementType(stored.cache);
  bool isByte = held.isSignlessInteger(8) && !isNarrowFloat(stored.dataType), isFloat = stored.dataType == onnx::TensorProto::FLOAT8E4M3FN;
  if (type == "int4" || type == "float4e2m1" || !(held == element || isByte || isFloat))
    return node.unsupported("a " + what + " cache of another type than the query's, int8 or float8e4m3fn", "export the model with such a cache");
  if (kind != "NONE" && kind != "PER_TENSOR" && kind != "PER_CHANNEL")
    return node.error("the " + what + " cache has quantization '" + kind + "', expected NONE, PER_TENSOR or PER_CHANNEL");
  if ((kind != "NONE") != (held != element) || (kind != "NONE") != node.hasInput(scaleInput))
    return node.error("the " + what + " cache has quantization '" + kind + "', which does not fit its type or its scale");
  DimExprs shape = {blocks, pageSize, node.number(cacheHeads), size};
  stored.cache = alignDims(node, stored.cache, shape, "the " + what + " cache does not have the shape [blocks, block size, heads, head size]");
  if (kind == "NONE" || node.failed())
    return failure(node.failed());
  Value scale = node.input(scaleInput);
  AffineExpr one = node.number(1);
  bool isWhole = kind == "PER_TENSOR";
  AffineExpr count = nn::getNumElements(node.dims(scale), node.context()), all = isWhole ? one : nn::simplifyDim(size * cacheHeads);
  if (!node.unify(count, all, "the scale of the " + what + " cache does not have the numbers that its type asks for: elements"))
    return failure();
  stored.scale = node.reshape(scale, isWhole ? DimExprs{one, one, one} : DimExprs{one, node.number(cacheHeads), size});
  return failure(node.failed());
}

LogicalResult PagedAttention::readCaches() {
  element = node.elementType(node.input(0));
  Value cache = node.input(3);
  if (!node.expectRank(cache, 4, "the key cache"))
    return failure();
  DimExprs dims = node.dims(cache);
  blocks = dims[0], pageSize = dims[1], size = dims[3];
  if (failed(readCache(keyCache, 3, 14, "key")) || (!isLatent && failed(readCache(valueCache, 4, 15, "value"))))
    return failure();
  auto width = nn::getConstantDim(size), each = nn::getConstantDim(pageSize);
  if (!width || !each || *width < 1 || *each < 1)
    return node.unsupported("a cache with symbolic sizes of blocks or heads", "make the dimensions static with --dim");
  if (valueSize < 0 || valueSize > *width || (!isLatent && valueSize != 0 && valueSize != *width))
    return node.error("attribute 'v_head_size' is " + Twine(valueSize) + ", expected at most a head's size of " + Twine(*width) +
                      ", and less in LATENT caches only");
  if (scale == 0 && valueSize != 0 && valueSize != *width)
    return node.error("values narrower than keys need the attribute 'scale'");
  valueSize = valueSize == 0 ? *width : valueSize;
  return success();
}

/// The requests that the tokens belong to, and the lengths of each.
LogicalResult PagedAttention::readTokens() {
  i64 = node.builder().getI64Type();
  Value lengths = node.input(6);
  table = node.input(7);
  if (!node.expectRank(node.input(0), 2, "the query") || !node.expectRank(table, 2, "the block table") ||
      !node.expectRank(lengths, 1, "past_seqlens") ||
      failed(requests.read(node.dims(node.input(0))[0], node.dims(lengths)[0], node.input(5), "cumulative_sequence_length")))
    return failure();
  batch = node.number(1), length = requests.tokens, tablePages = node.dims(table)[1];
  table = alignDims(node, table, {requests.count, tablePages}, "the block table does not have one row for each request");
  if (node.failed())
    return failure();
  past = node.binary<MaximumOp>(node.cast(lengths, i64), 0.0);
  table = node.cast(table, i64);
  total = node.binary<AddOp>(past, requests.counts);
  places = node.failed() ? past : node.binary<AddOp>(buildGather(node, past, requests.owner, 0), requests.offset);
  return failure(node.failed());
}

/// Queries, keys and values as [1, tokens, heads, size].
LogicalResult PagedAttention::readOperands() {
  query = node.input(0), key = node.optionalInput(1), value = node.optionalInput(2);
  AffineExpr own = nn::simplifyDim(size * heads), each = nn::simplifyDim(size * cacheHeads);
  if (!key && !value) {
    Value all = alignDims(node, query, {length, nn::simplifyDim(own + each * 2)}, "the packed query does not have the columns of all heads");
    if (node.failed())
      return failure();
    query = node.slice(all, 1, node.number(0), own);
    key = node.slice(all, 1, own, each);
    value = node.slice(all, 1, nn::simplifyDim(own + each), each);
  }
  if (!key || (!value && !isLatent))
    return node.error("has only one of key and value");
  auto apart = [&](Value x, int64_t count, StringRef what) {
    x = alignDims(node, x, {length, nn::simplifyDim(size * count)}, what + " does not fit the tokens, the heads and the size of the cache's heads");
    return node.failed() ? x : node.reshape(x, {batch, length, node.number(count), size});
  };
  query = apart(query, heads, "the query");
  key = apart(key, cacheHeads, "the key");
  if (value)
    value = apart(value, cacheHeads, "the value");
  if (node.hasInput(12) != node.hasInput(13))
    return node.error("has only one of q_norm_weight and k_norm_weight");
  return failure(node.failed());
}

void PagedAttention::normalizeHeads(Value &x, unsigned weight) {
  if (Value scaling = node.optionalInput(weight); scaling && !node.failed())
    x = normalizeRows(node, x, scaling, Value(), node.getFloat("qk_norm_epsilon", 1e-6f), /*rms=*/true);
  node.ignore("qk_norm_epsilon");
}

/// Rotates what lies behind the first `rotary_offset` elements of each head.
Value PagedAttention::rotateAt(Value x) {
  if (rotaryOffset == 0 || !isRotary || node.failed())
    return rotate(x, 8, node.reshape(places, {batch, length}));
  AffineExpr start = node.number(rotaryOffset), whole = size;
  Value before = node.slice(x, 3, node.number(0), start), rest = node.slice(x, 3, start, nn::simplifyDim(whole - start));
  size = nn::simplifyDim(whole - start);
  rest = rotate(rest, 8, node.reshape(places, {batch, length}));
  size = whole;
  return node.failed() ? x : node.concat({before, rest}, 3);
}

/// The slots of the new tokens, as the node gives them or behind each request's past. Those outside of the cache's pages are not stored.
void PagedAttention::findSlots() {
  Value each = sizeOf(node, pageSize, i64), none = node.splat({length}, i64, 0);
  if (Value given = node.optionalInput(10)) {
    slot = node.cast(alignDims(node, given, {length}, "slot_mapping does not have one number for each token"), i64);
    if (node.failed())
      return;
    isStored = node.compare<LessOp>(slot, sizeOf(node, nn::simplifyDim(blocks * pageSize), i64));
  } else {
    Value page = node.binary<DivOp>(places, each), within = node.binary<SubOp>(places, node.binary<MulOp>(page, each));
    Value columns = sizeOf(node, tablePages, i64), isInTable = node.compare<LessOp>(page, columns);
    Value at = node.binary<AddOp>(node.binary<MulOp>(requests.owner, columns), page);
    if (node.failed())
      return;
    at = node.make<SelectOp>(at.getType(), isInTable, at, none);
    Value block = buildGather(node, node.reshape(table, {nn::simplifyDim(requests.count * tablePages)}), at, 0);
    isStored = node.binary<AndOp>(isInTable, node.compare<LessOp>(block, sizeOf(node, blocks, i64)));
    slot = node.binary<AddOp>(node.binary<MulOp>(block, each), within);
  }
  isStored = node.binary<AndOp>(isStored, node.compare<GreaterEqualOp>(slot, none));
  if (node.failed())
    return;
  slot = node.make<SelectOp>(slot.getType(), isStored, slot, none);
}

/// rows [tokens, heads, size] as the cache has them.
Value PagedAttention::encode(Value rows, const Stored &stored) {
  if (!stored.scale || node.failed())
    return rows;
  Value divided = node.binary<DivOp>(node.cast(rows, node.builder().getF32Type()), stored.scale);
  if (isNarrowFloat(stored.dataType))
    return encodeNarrowFloat(node, divided, stored.dataType, /*saturates=*/true);
  Builder &b = node.builder();
  Value number = node.unary<ClampOp>(node.unary<RoundOp>(divided), b.getF64FloatAttr(-128), b.getF64FloatAttr(127));
  return node.failed() ? rows : node.cast(number, b.getI8Type());
}

/// The numbers that x [..., heads, size] from the cache means.
Value PagedAttention::decode(Value x, const Stored &stored) {
  if (!stored.scale || node.failed())
    return x;
  Value number = isNarrowFloat(stored.dataType) ? decodeNarrowFloat(node, x, stored.dataType) : node.cast(x, node.builder().getF32Type());
  return node.failed() ? x : node.cast(node.binary<MulOp>(number, stored.scale), element);
}

/// Writes the new rows [1, tokens, heads, size]. A token that is not stored writes once more what the first stored one does, or what is in the cache already,
/// so that the cache is not copied for them.
void PagedAttention::store(Stored &stored, Value rows) {
  if (node.failed())
    return;
  AffineExpr one = node.number(1), slots = nn::simplifyDim(blocks * pageSize), width = nn::simplifyDim(size * cacheHeads);
  Value now = node.reshape(encode(node.reshape(rows, {length, node.number(cacheHeads), size}), stored), {length, width});
  Value flat = node.reshape(stored.cache, {slots, width});
  Type single = node.type({one}, i64);
  Value first = node.make<ArgReduceOp>(single, ReduceKind::Max, node.cast(isStored, i64), 0, /*selectLast=*/false);
  if (node.failed())
    return;
  Value firstSlot = buildGather(node, slot, first, 0), hasAny = buildGather(node, isStored, first, 0);
  Value firstRow = buildGather(node, now, first, 0), oldRow = buildGather(node, flat, firstSlot, 0);
  if (node.failed())
    return;
  Value other = node.make<SelectOp>(firstRow.getType(), node.broadcastTo(node.reshape(hasAny, {one, one}), {one, width}), firstRow, oldRow);
  Value isOwn = node.broadcastTo(node.reshape(isStored, {length, one}), {length, width});
  now = node.make<SelectOp>(now.getType(), isOwn, now, node.broadcastTo(other, {length, width}));
  Value at = node.make<SelectOp>(slot.getType(), isStored, slot, node.broadcastTo(firstSlot, {length}));
  if (node.failed())
    return;
  Value written = node.make<ScatterNdOp>(flat.getType(), flat, node.reshape(at, {length, one}), now, ScatterReduction::None);
  if (!node.failed())
    stored.cache = node.reshape(written, node.dims(stored.cache));
}

/// The pages that the longest request has.
AffineExpr PagedAttention::countPages() {
  Value most = node.reduce(ReduceKind::Max, total, {0}, /*keep=*/false), each = sizeOf(node, pageSize, i64);
  Value count = node.binary<DivOp>(node.binary<AddOp>(most, node.binary<SubOp>(each, 1.0)), each);
  count = node.binary<MinimumOp>(count, sizeOf(node, tablePages, i64));
  return node.failed() ? tablePages : node.choices().computeDim(node, count, tablePages, node.outputName(0) + "_pages");
}

/// The contents of the requests' pages, [requests, heads, keys, size], with zeros where there are none.
Value PagedAttention::takePages(const Stored &stored) {
  if (node.failed())
    return stored.cache;
  AffineExpr one = node.number(1), count = requests.count, own = node.number(cacheHeads);
  Value pagesOf = node.slice(table, 1, node.number(0), pages), last = sizeOf(node, nn::simplifyDim(blocks - 1), i64);
  Value known = node.binary<MinimumOp>(node.binary<MaximumOp>(pagesOf, 0.0), last);
  Value taken = node.reshape(decode(buildGather(node, stored.cache, known, 0), stored), {count, keys, own, size});
  if (node.failed())
    return stored.cache;
  Value isThere = node.broadcastTo(node.reshape(isMapped, {count, keys, one, one}), node.dims(taken));
  taken = node.make<SelectOp>(taken.getType(), isThere, taken, node.splatLike(taken, 0));
  return node.failed() ? taken : node.transpose(taken, {0, 2, 1, 3});
}

/// The bias of the scores [requests, 1, queries, keys]: zero where a token sees a key.
Value PagedAttention::hideKeys() {
  AffineExpr one = node.number(1), count = requests.count;
  Value column = node.iota({one, one, one, keys}, 3, i64), row = node.iota({one, one, queries, one}, 2, i64);
  Value at = node.binary<AddOp>(node.reshape(past, {count, one, one, one}), row);
  Value isSeen = isCausal ? node.compare<LessEqualOp>(column, at) : node.compare<LessOp>(column, node.reshape(total, {count, one, one, one}));
  isSeen = node.binary<AndOp>(isSeen, node.reshape(isMapped, {count, one, one, keys}));
  if (window > 0)
    isSeen = node.binary<AndOp>(isSeen, node.compare<GreaterOp>(column, node.binary<SubOp>(at, static_cast<double>(window))));
  return node.failed() ? isSeen : chooseNumber(node, isSeen, element, 0, -HUGE_VAL);
}

/// With a bound for the scores, or with a score of each head that has no value.
Value PagedAttention::attendInParts(Value q, Value k, Value v, Value bias, double factor, Value sink) {
  Type wide = node.wideType(q);
  Value scores = node.matmul(node.cast(q, wide), node.transpose(node.cast(k, wide), {0, 1, 3, 2}));
  scores = capScores(node, node.binary<MulOp>(scores, factor), softcap);
  if (node.failed())
    return q;
  scores = node.binary<AddOp>(scores, node.broadcastTo(node.cast(bias, wide), node.dims(scores)));
  Value weights = sink ? weighWithSink(node, scores, sink) : node.unary<SoftmaxOp>(scores, node.builder().getI64IntegerAttr(3));
  return node.failed() ? q : node.cast(node.matmul(weights, node.cast(v, wide)), element);
}

/// The result [tokens, heads * value size].
Value PagedAttention::attend() {
  AffineExpr one = node.number(1), count = requests.count, own = node.number(heads);
  queries = requests.most(node.outputName(0) + "_queries");
  pages = countPages();
  keys = nn::simplifyDim(pages * pageSize);
  if (node.failed())
    return query;
  Value pagesOf = node.slice(table, 1, node.number(0), pages);
  Value isInCache = node.compare<LessOp>(pagesOf, sizeOf(node, blocks, i64));
  Value isPage = node.binary<AndOp>(node.compare<GreaterEqualOp>(pagesOf, node.splatLike(pagesOf, 0)), isInCache);
  isPage = node.broadcastTo(node.reshape(isPage, {count, pages, one}), {count, pages, pageSize});
  Value isHeld = node.compare<LessOp>(node.iota({one, keys}, 1, i64), node.reshape(total, {count, one}));
  isMapped = node.binary<AndOp>(node.reshape(isPage, {count, keys}), isHeld);
  Value q = requests.pad(node.reshape(query, {length, nn::simplifyDim(size * heads)}), queries);
  q = node.failed() ? query : node.transpose(node.reshape(q, {count, queries, own, size}), {0, 2, 1, 3});
  Value k = takePages(keyCache), v = isLatent ? node.slice(k, 3, node.number(0), node.number(valueSize)) : takePages(valueCache);
  k = repeatHeads(node, k, own), v = repeatHeads(node, v, own);
  double factor = scale == 0 && !node.failed() ? defaultScale(node, size) : scale;
  Value bias = hideKeys(), sink = node.optionalInput(11);
  if (node.failed())
    return query;
  bool isWhole = softcap <= 0 && !sink;
  Value result = isWhole ? buildAttention(node, q, k, v, bias, factor, /*causal=*/false) : attendInParts(q, k, v, bias, factor, sink);
  return node.failed() ? query : requests.unpad(joinHeads(node, result), queries);
}

LogicalResult PagedAttention::run() {
  // Input 16 has bounds that only choose kernels.
  (void)node.optionalInput(16);
  if (failed(readAttributes()) || failed(readTokens()) || failed(readCaches()) || failed(readOperands()))
    return failure();
  normalizeHeads(query, 12);
  normalizeHeads(key, 13);
  query = rotateAt(query), key = rotateAt(key);
  if (!isRotary)
    for (unsigned input : {8, 9})
      (void)node.optionalInput(input);
  findSlots();
  store(keyCache, key);
  if (!isLatent)
    store(valueCache, value);
  Value result = node.failed() ? query : attend();
  if (node.failed())
    return failure();
  (void)node.result(0, result);
  (void)node.narrowResult(1, keyCache.cache, keyCache.dataType);
  return isLatent ? success() : node.narrowResult(2, valueCache.cache, valueCache.dataType);
}

static LogicalResult pagedAttention(Node &node) { return PagedAttention(node).run(); }

ArrayRef<Operator> getContribPagedOperators() {
  static const Operator rows[] = {
      {"PagedAttention", 1, Elements::Narrow, pagedAttention, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
