//===- ContribCaches.cpp - Attention over caches of keys and values ----------===//
//
// GroupQueryAttention of domain com.microsoft (ONNX Runtime's ContribOperators.md), which exporters of language models write: rotary embedding, the cache of
// keys and values, and attention in one node. The new keys and values go to their places in the cache, each batch entry behind its own past, and
// attention sees the places that count. A cache of the window's rows (sliding_window_cache) is moved up instead: attention reads the past cache and the new
// rows side by side, and the present is what the operator's contract keeps of them.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/ops/Attention.h"
#include "compiler/import/ops/CachedAttention.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/PackedNumbers.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// One GroupQueryAttention node.
class GroupQueryAttention : private CachedAttention {
public:
  explicit GroupQueryAttention(Node &node) : CachedAttention(node) {}
  LogicalResult run();

private:
  LogicalResult readAttributes();
  void normalizeHeads(Value &x, unsigned weight);
  Value findPlaces();
  std::optional<AffineExpr> presentLength();
  Value countResidents(Value total, AffineExpr capacity);
  LogicalResult slide(Value &pastKey, Value &pastValue);
  Value isSeen();
  Value visibleKeys();
  Value givenBias();
  Value attendInParts(Value bias, Value given);
  LogicalResult giveScores(Value counted, Value weights);
  LogicalResult readQuantization();
  Value scaleOf(unsigned input, StringRef what);
  Value quantize(Value x, Value scale);
  Value dequantize(Value stored, Value scale);

  /// Bits of a number in the cache, which has real ones where this is 0.
  int64_t bits = 0, window = -1, scoresWanted = 0;
  double softcap = 0;
  bool isCausal = true, isSmooth = false, slides = false;
  /// The place of each key [batch or 1, 1, 1, keys], counted as `places`.
  Value columns;
};
} // namespace

LogicalResult CachedAttention::readHeads() {
  heads = node.requireInt("num_heads");
  cacheHeads = node.requireInt("kv_num_heads");
  scale = node.getFloat("scale", 0);
  isRotary = node.getFlag("do_rotary");
  isInterleaved = node.getFlag("rotary_interleaved");
  if (node.failed())
    return failure();
  if (heads < 1 || cacheHeads < 1 || heads % cacheHeads)
    return node.error("attributes 'num_heads' and 'kv_num_heads' are " + Twine(heads) + " and " + Twine(cacheHeads) +
                      ", expected positive numbers and the first a multiple of the second");
  return success();
}

LogicalResult GroupQueryAttention::readQuantization() {
  std::string keyType = node.getString("k_quant_type", "NONE"), valueType = node.getString("v_quant_type", "NONE");
  int64_t width = node.getInt("kv_cache_bit_width", 0);
  if (node.failed() || (keyType == "NONE" && valueType == "NONE"))
    return failure(node.failed());
  for (StringRef type : {StringRef(keyType), StringRef(valueType)})
    if (type != "NONE" && type != "PER_TENSOR" && type != "PER_CHANNEL")
      return node.error("attribute 'k_quant_type' or 'v_quant_type' is '" + type + "', expected NONE, PER_TENSOR or PER_CHANNEL");
  if (keyType == "NONE" || valueType == "NONE")
    return node.error("only one of keys and values is quantized");
  if (width != 4 && width != 8)
    return node.error("attribute 'kv_cache_bit_width' is " + Twine(width) + ", expected 4 or 8");
  bits = width;
  Type stored = node.builder().getIntegerType(8, /*isSigned=*/false);
  for (unsigned input : {3, 4})
    if (Value past = node.optionalInput(input)) {
      if (bits == 8 ? !node.elementType(past).isSignlessInteger(8) : node.elementType(past) != stored)
        return node.unsupported("a quantized cache of another type than int8, or uint8 for 4 bits", "export the model with such a cache");
    }
  return success();
}

/// The scale of keys or values: one number, or one for each element of each head, [1, heads, 1, size].
Value GroupQueryAttention::scaleOf(unsigned input, StringRef what) {
  Value scale = node.input(input);
  bool isWhole = node.getString(input == 12 ? "k_quant_type" : "v_quant_type", "NONE") == "PER_TENSOR";
  AffineExpr one = node.number(1), all = isWhole ? one : nn::simplifyDim(size * cacheHeads);
  AffineExpr count = nn::getNumElements(node.dims(scale), node.context());
  if (node.failed() || !node.unify(count, all, what + " does not have the numbers that its type asks for: elements"))
    return scale;
  return node.reshape(scale, isWhole ? DimExprs{one, one, one, one} : DimExprs{one, node.number(cacheHeads), one, size});
}

/// x [batch, heads, length, size] as it is stored: numbers of 4 bits in pairs, the first one in the low bits, counted from -8.
Value GroupQueryAttention::quantize(Value x, Value scale) {
  if (node.failed())
    return x;
  Builder &b = node.builder();
  DimExprs dims = node.dims(x);
  Value wide = node.cast(x, b.getF32Type()), ones = node.splatLike(scale, 1), isZero = node.compare<EqualOp>(scale, node.splatLike(scale, 0));
  // Scales of 0 count as 1.
  Value factor = node.make<SelectOp>(scale.getType(), isZero, ones, node.binary<DivOp>(ones, scale));
  Value number = node.unary<RoundOp>(node.binary<MulOp>(wide, node.broadcastTo(factor, dims)));
  double most = bits == 8 ? 127 : 7;
  number = node.unary<ClampOp>(number, b.getF64FloatAttr(-most - 1), b.getF64FloatAttr(most));
  if (bits == 8 || node.failed())
    return node.failed() ? x : node.cast(number, b.getI8Type());
  AffineExpr pairs = nn::simplifyDim(size.ceilDiv(2)), zero = node.number(0), one = node.number(1);
  SmallVector<AffineExpr> low(4, zero), high = low;
  high[3] = nn::simplifyDim(pairs * 2 - size);
  number = node.pad(number, low, high, PadMode::Constant, node.splat({}, b.getF32Type(), 0));
  number = node.reshape(node.binary<AddOp>(number, 8.0), {dims[0], dims[1], dims[2], pairs, node.number(2)});
  Value first = node.slice(number, 4, zero, one), second = node.slice(number, 4, one, one);
  Value both = node.binary<AddOp>(first, node.binary<MulOp>(second, 16.0));
  return node.failed() ? x : node.cast(node.reshape(both, {dims[0], dims[1], dims[2], pairs}), b.getIntegerType(8, /*isSigned=*/false));
}

Value GroupQueryAttention::dequantize(Value stored, Value scale) {
  if (node.failed())
    return stored;
  Type f32 = node.builder().getF32Type();
  Value number = bits == 8 ? node.cast(stored, f32) : node.cast(node.slice(unpackNumbers(node, stored, 4), 3, node.number(0), size), f32);
  if (bits == 4)
    number = node.binary<AddOp>(number, -8.0);
  return node.failed() ? stored : node.cast(node.binary<MulOp>(number, node.broadcastTo(scale, node.dims(number))), element);
}

LogicalResult GroupQueryAttention::readAttributes() {
  window = node.getInt("local_window_size", -1);
  softcap = node.getFloat("softcap", 0);
  isCausal = node.getFlag("causal", true);
  // Below 1 it is off, as its default is.
  isSmooth = node.getInt("smooth_softmax", 0) > 0;
  if (failed(readHeads()) || failed(readQuantization()))
    return failure();
  slides = node.getFlag("sliding_window_cache");
  scoresWanted = node.getInt("qk_output", 0);
  if (node.failed())
    return failure();
  if (slides && (window < 1 || !node.hasInput(3)))
    return node.error("attribute 'sliding_window_cache' is 1 without a past, or with a 'local_window_size' of " + Twine(window) + ", expected at least 1");
  if (slides && node.hasInput(10))
    return node.unsupported("attention_bias beside a cache that drops what lies before the window", "export the model with a cache of the whole sequence");
  if (node.hasOutput(3) && (slides || scoresWanted < 1 || scoresWanted > 2))
    return slides ? node.unsupported("output 3, the scores, beside a cache that drops what lies before the window", "remove it from the model")
                  : node.error("has output 3, and attribute 'qk_output' is " + Twine(scoresWanted) + ", expected 1 or 2");
  return success();
}

LogicalResult CachedAttention::readOperands() {
  query = node.input(0), key = node.optionalInput(1), value = node.optionalInput(2);
  if (!node.expectRank(query, 3, "the query"))
    return failure();
  DimExprs dims = node.dims(query);
  batch = dims[0], length = dims[1];
  if (!key && !value) {
    size = nn::simplifyDim(dims[2].floorDiv(heads + 2 * cacheHeads));
    if (!node.unify(dims[2], size * (heads + 2 * cacheHeads), "the packed query does not have the columns of all heads"))
      return failure();
    AffineExpr own = nn::simplifyDim(size * heads), each = nn::simplifyDim(size * cacheHeads);
    Value all = query;
    query = node.slice(all, 2, node.number(0), own);
    key = node.slice(all, 2, own, each);
    value = node.slice(all, 2, nn::simplifyDim(own + each), each);
  } else if (!key || !value) {
    return node.error("has only one of key and value");
  }
  if (node.failed())
    return failure();
  size = nn::simplifyDim(node.dims(query)[2].floorDiv(heads));
  element = node.elementType(query);
  auto apart = [&](Value x, int64_t count, StringRef what) {
    x = alignDims(node, x, {batch, length, nn::simplifyDim(size * count)}, what + " does not fit the query and the numbers of heads");
    return node.failed() ? x : node.reshape(x, {batch, length, node.number(count), size});
  };
  query = apart(query, heads, "the query");
  key = apart(key, cacheHeads, "the key");
  value = apart(value, cacheHeads, "the value");
  return failure(node.failed());
}

/// Each head divided by its root mean square, where the weights of that are given.
void GroupQueryAttention::normalizeHeads(Value &x, unsigned weight) {
  if (Value scaling = node.optionalInput(weight); scaling && !node.failed())
    x = normalizeRows(node, x, scaling, Value(), node.getFloat("qk_norm_epsilon", 1e-6f), /*rms=*/true);
  node.ignore("qk_norm_epsilon");
}

/// seqlens_k has the last place of each sequence: the new tokens end there. Those of a first prompt, which may be shorter, begin at 0.
Value GroupQueryAttention::findPlaces() {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1);
  Value last = node.input(5), offsets = node.iota({one, length}, 1, i64);
  if (!node.unify(nn::getNumElements(node.dims(last), node.context()), batch, "seqlens_k does not have one number for each batch entry"))
    return last;
  if (!node.optionalInput(3))
    return node.broadcastTo(offsets, {batch, length});
  Value count = materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), Contents{{nn::simplifyDim(length - 1)}});
  Value first = node.binary<SubOp>(node.cast(node.reshape(last, {batch, one}), i64), count);
  return node.binary<AddOp>(node.binary<MaximumOp>(first, 0.0), offsets);
}

Value CachedAttention::rotate(Value x, unsigned cosineInput, Value at) {
  if (!isRotary || node.failed())
    return x;
  Value cosine = node.input(cosineInput), sine = node.input(cosineInput + 1);
  if (!node.expectRank(cosine, 2, "the cosine cache") || !node.expectRank(sine, 2, "the sine cache"))
    return x;
  auto half = nn::getConstantDim(node.dims(cosine)[1]);
  if (!half) {
    (void)node.unsupported("caches with a symbolic number of columns", "make the dimension static with --dim");
    return x;
  }
  node.requireNotNegative(size - 2 * *half, "more elements are to be rotated than a head has");
  at = alignDims(node, at, {batch, length}, "the positions do not fit the query");
  return node.failed() ? x : rotatePairs(node, x, buildGather(node, cosine, at, 0), buildGather(node, sine, at, 0), 2 * *half, isInterleaved);
}

Value capScores(Node &node, Value scores, double softcap) {
  return softcap > 0 && !node.failed() ? node.binary<MulOp>(node.unary<TanhOp>(node.binary<DivOp>(scores, softcap)), softcap) : scores;
}

Value weighWithSink(Node &node, Value scores, Value sink) {
  if (node.failed())
    return scores;
  AffineExpr one = node.number(1);
  DimExprs dims = node.dims(scores), single = dims;
  single.back() = one;
  Type wide = node.elementType(scores);
  Value more = node.splat(single, wide, 0);
  if (sink) {
    sink = alignDims(node, sink, {dims[1]}, "head_sink does not have one number for each head");
    more = node.failed() ? more : node.broadcastTo(node.reshape(node.cast(sink, wide), {one, dims[1], one, one}), single);
  }
  Value weights = node.failed() ? scores : node.unary<SoftmaxOp>(node.concat({scores, more}, 3), node.builder().getI64IntegerAttr(3));
  return node.failed() ? scores : node.slice(weights, 3, node.number(0), dims[3]);
}

/// The length of the present: that of the past where both share a buffer, or that of the whole sequence. What the model declares, or what
/// its total length is known to be, tells which.
std::optional<AffineExpr> GroupQueryAttention::presentLength() {
  auto total = getIntegerContents(node.input(6));
  if (!node.expectRank(node.input(3), 4, "the past key") || (total && total->size() != 1))
    return std::nullopt;
  AffineExpr past = node.dims(node.input(3))[2], grown = nn::simplifyDim(past + length);
  auto declared = node.declaredDims(1);
  if (declared && declared->size() == 4) {
    AffineExpr present = (*declared)[2];
    bool isTotal = total && nn::provablyEqual(present, total->front());
    if (isTotal || nn::provablyEqual(present, past) || nn::provablyEqual(present, grown) || nn::getConstantDim(present))
      return present;
  }
  if (!total)
    return past;
  auto known = nn::getConstantDim(total->front()), have = nn::getConstantDim(past);
  if (known && have)
    return node.number(std::max(*known, *have));
  if (nn::provablyEqual(total->front(), grown))
    return grown;
  (void)node.unsupported("a past and a total length whose relation is not known", "declare the shape of the present, or make the dimensions static with --dim");
  return std::nullopt;
}

Value CachedAttention::store(Value past, Value now, StringRef what) {
  if (!past || node.failed())
    return now;
  AffineExpr count = node.number(cacheHeads), before = node.dims(node.input(3))[2];
  past = alignDims(node, past, {batch, count, before, node.dims(now)[3]}, "the past " + what + " does not fit the " + what);
  if (node.failed())
    return now;
  node.requireNotNegative(keys - before, "the present is shorter than the past");
  SmallVector<AffineExpr> low(4, node.number(0)), high = low;
  high[2] = nn::simplifyDim(keys - before);
  if (nn::getConstantDim(high[2]) != 0)
    past = node.pad(past, low, high, PadMode::Constant, node.splat({}, node.elementType(past), 0));
  if (!node.failed() && node.elementType(past) != node.elementType(now))
    (void)node.error("the past " + what + " has another type than the " + what);
  if (node.failed())
    return now;
  DimExprs dims = node.dims(now);
  Value at = node.broadcastTo(node.reshape(places, {batch, node.number(1), length, node.number(1)}), dims);
  return node.failed() ? now : node.make<ScatterElementsOp>(past.getType(), past, at, now, 2, ScatterReduction::None);
}

/// The number of `total` tokens [batch, 1] that a cache of `capacity` rows holds: all as long as they fit, and otherwise as many as are left when as many at
/// once go as the cache is longer than the window, plus one.
Value GroupQueryAttention::countResidents(Value total, AffineExpr capacity) {
  Type i64 = node.builder().getI64Type();
  Value step = sizeOf(node, nn::simplifyDim(capacity - window + 1), i64), more = node.binary<SubOp>(total, sizeOf(node, capacity, i64));
  more = node.binary<AddOp>(node.binary<MaximumOp>(more, 0.0), sizeOf(node, nn::simplifyDim(capacity - window), i64));
  return node.binary<SubOp>(total, node.binary<MulOp>(step, node.binary<DivOp>(more, step)));
}

/// The past cache and the new rows side by side become `key` and `value`, and `pastKey` and `pastValue` the present cache.
LogicalResult GroupQueryAttention::slide(Value &pastKey, Value &pastValue) {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1), heads = node.number(cacheHeads);
  if (!node.expectRank(pastKey, 4, "the past key") || !node.expectRank(pastValue, 4, "the past value"))
    return failure();
  AffineExpr capacity = node.dims(pastKey)[2];
  node.requireNotNegative(capacity - window, "the cache is shorter than the window");
  keys = nn::simplifyDim(capacity + length);
  Value total = node.binary<AddOp>(node.cast(node.reshape(node.input(5), {batch, one}), i64), 1.0);
  Value first = node.slice(places, 1, node.number(0), one), rows = sizeOf(node, capacity, i64);
  if (node.failed())
    return failure();
  Value had = countResidents(first, capacity), has = countResidents(total, capacity);
  // Columns of the past that hold nothing have the place of no token.
  Value column = node.broadcastTo(node.iota({one, keys}, 1, i64), {batch, keys}), all = node.broadcastTo(first, node.dims(column));
  Value held = node.broadcastTo(had, node.dims(column)), isNew = node.compare<GreaterEqualOp>(column, rows), isHeld = node.compare<LessOp>(column, held);
  Value old = node.binary<AddOp>(node.binary<SubOp>(all, held), column), added = node.binary<SubOp>(node.binary<AddOp>(all, column), rows);
  if (node.failed())
    return failure();
  Value place = node.make<SelectOp>(old.getType(), isHeld, old, node.splatLike(old, 0x40000000));
  columns = node.reshape(node.make<SelectOp>(old.getType(), isNew, added, place), {batch, one, one, keys});
  // Of each row of the present, the column that it comes from. Rows that hold nothing have any.
  Value row = node.broadcastTo(node.iota({one, capacity}, 1, i64), {batch, capacity}), begin = node.broadcastTo(first, node.dims(row));
  Value at = node.binary<AddOp>(row, node.broadcastTo(node.binary<SubOp>(total, has), node.dims(row)));
  Value behind = node.binary<SubOp>(at, begin), fromNew = node.binary<AddOp>(behind, rows);
  Value fromOld = node.binary<AddOp>(behind, node.broadcastTo(had, node.dims(row)));
  if (node.failed())
    return failure();
  Value from = node.make<SelectOp>(row.getType(), node.compare<GreaterEqualOp>(at, begin), fromNew, fromOld);
  from = node.binary<MinimumOp>(from, sizeOf(node, nn::simplifyDim(keys - 1), i64));
  for (auto [past, now] : {std::pair(&pastKey, &key), std::pair(&pastValue, &value)}) {
    AffineExpr width = node.dims(*now)[3];
    *past = alignDims(node, *past, {batch, heads, capacity, width}, "the past does not fit the keys and values");
    if (!node.failed() && node.elementType(*past) != node.elementType(*now))
      (void)node.error("the past has another type than the keys or values");
    if (node.failed())
      return failure();
    *now = node.concat({*past, *now}, 2);
    Value indices = node.broadcastTo(node.reshape(from, {batch, one, capacity, one}), node.dims(*past));
    *past = node.failed() ? *past : node.make<GatherElementsOp>(past->getType(), *now, indices, 2);
  }
  return failure(node.failed());
}

/// Whether a token sees a key [batch, 1, length, keys]: it lies at places up to the token's own, within the window before it.
Value GroupQueryAttention::isSeen() {
  AffineExpr one = node.number(1);
  Value at = node.reshape(places, {batch, one, length, one});
  if (!isCausal)
    at = node.reshape(node.cast(node.input(5), node.builder().getI64Type()), {batch, one, one, one});
  Value isSeen = node.compare<LessEqualOp>(columns, at);
  if (window > 0 && isCausal)
    isSeen = node.binary<AndOp>(isSeen, node.compare<GreaterOp>(columns, node.binary<SubOp>(at, static_cast<double>(window))));
  return isSeen;
}

/// The bias of the scores: zero where a token sees a key.
Value GroupQueryAttention::visibleKeys() {
  Value seen = isSeen();
  return node.failed() ? seen : chooseNumber(node, seen, element, 0, -HUGE_VAL);
}

/// Output 3: the scores before the softmax, which are 0 where a token does not see a key, or what it makes of them.
LogicalResult GroupQueryAttention::giveScores(Value counted, Value weights) {
  AffineExpr total = keys;
  if (auto given = getIntegerContents(node.input(6)); given && given->size() == 1)
    total = given->front();
  else if (node.hasInput(3) && nn::provablyEqual(keys, node.dims(node.input(3))[2]))
    return node.unsupported("output 3, the scores, where past and present share a buffer and the total length is an input", "bind total_sequence_length");
  Value shown = weights;
  if (scoresWanted == 1 && !node.failed())
    shown = node.make<SelectOp>(counted.getType(), node.broadcastTo(isSeen(), node.dims(counted)), counted, node.splatLike(counted, 0));
  node.requireNotNegative(keys - total, "the total length exceeds the present");
  return node.failed() ? failure() : node.result(3, node.cast(node.slice(shown, 3, node.number(0), total), element));
}

/// attention_bias, whose last dimension may be shorter than the cache.
Value GroupQueryAttention::givenBias() {
  Value bias = node.optionalInput(10);
  if (!bias || node.failed() || !node.expectRank(bias, 4, "attention_bias"))
    return {};
  AffineExpr missing = nn::simplifyDim(keys - node.dims(bias)[3]);
  if (nn::getConstantDim(missing) == 0)
    return bias;
  node.requireNotNegative(missing, "attention_bias has more columns than there are keys");
  SmallVector<AffineExpr> low(4, node.number(0)), high = low;
  high[3] = missing;
  return node.failed() ? bias : node.pad(bias, low, high, PadMode::Constant, node.splat({}, element, 0));
}

/// With a bound for the scores, or a term of each head that the softmax counts and that has no value, or with scores that the node gives. `bias` hides keys and
/// has what is `given`.
Value GroupQueryAttention::attendInParts(Value bias, Value given) {
  Type wide = node.wideType(query);
  Value scores = node.matmul(node.cast(query, wide), node.transpose(node.cast(key, wide), {0, 1, 3, 2}));
  scores = capScores(node, node.binary<MulOp>(scores, scale), softcap);
  Value counted = scores;
  if (given && !node.failed())
    counted = node.binary<AddOp>(scores, node.broadcastTo(node.cast(given, wide), node.dims(scores)));
  if (bias && !node.failed())
    scores = node.binary<AddOp>(scores, node.broadcastTo(node.cast(bias, wide), node.dims(scores)));
  if (node.failed())
    return query;
  Value sink = node.optionalInput(11);
  Value weights = sink || isSmooth ? weighWithSink(node, scores, sink) : node.unary<SoftmaxOp>(scores, node.builder().getI64IntegerAttr(3));
  if (node.failed() || (node.hasOutput(3) && failed(giveScores(counted, weights))))
    return query;
  return node.cast(node.matmul(weights, node.cast(value, wide)), element);
}

LogicalResult GroupQueryAttention::run() {
  if (failed(readAttributes()) || failed(readOperands()))
    return failure();
  Value pastKey = node.optionalInput(3), pastValue = node.optionalInput(4);
  (void)node.input(6);
  if (!pastKey != !pastValue)
    return node.error("has only one of past_key and past_value");
  auto present = pastKey && !slides ? presentLength() : std::optional(length);
  if (!present || node.failed())
    return failure();
  keys = *present;
  normalizeHeads(query, 14);
  normalizeHeads(key, 15);
  places = findPlaces();
  Value positions = isRotary && node.optionalInput(9) ? node.input(9) : places;
  query = node.transpose(rotate(query, 7, positions), {0, 2, 1, 3});
  key = node.transpose(rotate(key, 7, positions), {0, 2, 1, 3});
  value = node.transpose(value, {0, 2, 1, 3});
  Value keyScale = bits ? scaleOf(12, "k_scale") : Value(), valueScale = bits ? scaleOf(13, "v_scale") : Value();
  if (bits)
    key = quantize(key, keyScale), value = quantize(value, valueScale);
  if (slides && failed(slide(pastKey, pastValue)))
    return failure();
  if (!slides) {
    key = pastKey = store(pastKey, key, "key"), value = pastValue = store(pastValue, value, "value");
    columns = node.iota({node.number(1), node.number(1), node.number(1), keys}, 3, node.builder().getI64Type());
  }
  if (!isRotary)
    for (unsigned input : {7, 8, 9})
      (void)node.optionalInput(input);
  if (node.failed())
    return failure();
  (void)node.result(1, pastKey);
  (void)node.result(2, pastValue);
  scale = scale == 0 ? defaultScale(node, size) : scale;
  if (bits) {
    key = dequantize(key, keyScale);
    value = dequantize(value, valueScale);
  }
  key = repeatHeads(node, key, node.number(heads));
  value = repeatHeads(node, value, node.number(heads));
  // Without a past the mask is that of the operation.
  bool isPlain = !node.hasInput(3) && window <= 0 && isCausal;
  Value given = givenBias(), bias = given;
  if (!isPlain)
    bias = bias ? node.binary<AddOp>(visibleKeys(), bias) : visibleKeys();
  bool isWhole = softcap <= 0 && !node.hasInput(11) && !isSmooth && !node.hasOutput(3);
  if (isPlain && !isWhole)
    bias = bias ? node.binary<AddOp>(visibleKeys(), bias) : visibleKeys();
  if (node.failed())
    return failure();
  Value result = isWhole ? buildAttention(node, query, key, value, bias, scale, isPlain) : attendInParts(bias, given);
  return node.failed() ? failure() : node.result(joinHeads(node, result));
}

static LogicalResult groupQueryAttention(Node &node) { return GroupQueryAttention(node).run(); }

ArrayRef<Operator> getContribCacheOperators() {
  static const Operator rows[] = {
      {"GroupQueryAttention", 1, Elements::Float, groupQueryAttention, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
