//===- Attention.cpp - Attention and rotary embedding ------------------------===//
#include "compiler/import/ops/Attention.h"
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

Value splitHeads(Node &node, Value x, int64_t heads, StringRef what) {
  if (node.rank(x) == 4)
    return x;
  if (!node.expectRank(x, 3, what))
    return x;
  DimExprs d = node.dims(x);
  auto width = nn::getConstantDim(d[2]);
  if (heads < 1 || (width && *width % heads)) {
    (void)node.error(what + " has a width that is not a multiple of its " + Twine(heads) + " heads");
    return x;
  }
  AffineExpr size = nn::simplifyDim(d[2].floorDiv(heads));
  return node.transpose(node.reshape(x, {d[0], d[1], node.number(heads), size}), {0, 2, 1, 3});
}

Value joinHeads(Node &node, Value x) {
  if (node.failed())
    return x;
  DimExprs d = node.dims(x);
  return node.reshape(node.transpose(x, {0, 2, 1, 3}), {d[0], d[2], d[1] * d[3]});
}

Value chooseNumber(Node &node, Value condition, Type element, double then, double otherwise) {
  DimExprs dims = node.dims(condition);
  return node.make<SelectOp>(node.type(dims, element), condition, node.splat(dims, element, then), node.splat(dims, element, otherwise));
}

double defaultScale(Node &node, AffineExpr size) {
  auto known = nn::getConstantDim(size);
  if (!known)
    (void)node.unsupported("a symbolic head size, which the scale depends on", "make the dimension static with --dim, or set attribute 'scale'");
  return known && *known > 0 ? 1 / std::sqrt(static_cast<double>(*known)) : 1;
}

Value buildAttention(Node &node, Value query, Value key, Value value, Value bias, double scale, bool causal, int64_t window) {
  if (node.failed())
    return query;
  DimExprs scores = node.dims(query), result = scores;
  scores.back() = node.dims(key)[2];
  result.back() = node.dims(value).back();
  Value spread = bias ? node.broadcastTo(bias, scores) : Value();
  OpBuilder &b = node.builder();
  return node.make<AttentionOp>(node.type(result, node.elementType(query)), query, key, value, spread, Value(), b.getF64FloatAttr(scale),
                                causal ? b.getUnitAttr() : UnitAttr(), window ? b.getI64IntegerAttr(window) : IntegerAttr(),
                                b.getF64FloatAttr(-HUGE_VAL));
}

Value repeatHeads(Node &node, Value x, AffineExpr heads) {
  DimExprs d = node.dims(x);
  auto have = nn::getConstantDim(d[1]), want = nn::getConstantDim(heads);
  if (have == want || !have || !want || *have == 0)
    return x;
  if (*want % *have) {
    (void)node.error(Twine(*want) + " query heads are not a multiple of " + Twine(*have) + " key and value heads");
    return x;
  }
  AffineExpr group = node.number(*want / *have), one = node.number(1);
  x = node.broadcastTo(node.reshape(x, {d[0], d[1], one, d[2], d[3]}), {d[0], d[1], group, d[2], d[3]});
  return node.reshape(x, {d[0], heads, d[2], d[3]});
}

namespace {
/// The parts of one Attention node.
class Attention {
public:
  explicit Attention(Node &node) : node(node) {}
  LogicalResult run();

private:
  Value withPast(Value past, Value now, unsigned output);
  void alignOperands();
  /// How many keys each batch entry uses; null: all of them.
  Value usedKeys();
  Value maskBias();
  Value placeBias();
  Value paddingBias();
  Value minusInfinityWhere(Value condition) { return chooseNumber(node, condition, element, -HUGE_VAL, 0); }
  Value zeroWhereHidden(Value x);
  Value parts(double scale, double softcap, bool canHideAll);
  void addBias(Value more) { bias = !bias ? more : more ? node.binary<AddOp>(bias, more) : bias; }

  Node &node;
  Value query, key, value, bias;
  Type element;
  AffineExpr queries, keys, past;
  /// A query sees so many keys before its own place and behind it; -1: all.
  int64_t left = -1, right = -1;
};
} // namespace

Value Attention::withPast(Value before, Value now, unsigned output) {
  Value all = before ? node.concat({before, now}, 2) : now;
  if (node.hasOutput(output))
    (void)node.result(output, all);
  return all;
}

/// The given mask as something to add; truth values keep. A mask shorter than the keys hides the rest.
Value Attention::maskBias() {
  Value mask = node.optionalInput(3);
  if (!mask || node.failed())
    return {};
  if (node.elementType(mask).isInteger(1))
    mask = chooseNumber(node, mask, element, 0, -HUGE_VAL);
  mask = node.cast(mask, element);
  DimExprs dims = node.dims(mask);
  if (dims.empty() || nn::provablyEqual(dims.back(), keys) || nn::getConstantDim(dims.back()) == 1)
    return mask;
  if (auto more = nn::getConstantDim(nn::simplifyDim(dims.back() - keys)); more && *more > 0) {
    (void)node.error("the mask is for " + nn::formatDim(dims.back()) + " keys, there are " + nn::formatDim(keys));
    return {};
  }
  SmallVector<AffineExpr> none(dims.size(), node.number(0)), high = none;
  high.back() = nn::simplifyDim(keys - dims.back());
  return node.pad(mask, none, high, PadMode::Constant, node.splat({}, element, -HUGE_VAL));
}

/// Hides keys that are too far from the query's own place, which is behind the past (or ends where the keys in use end).
Value Attention::placeBias() {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1);
  Value row = node.iota({queries, one}, 0, i64), column = node.iota({queries, keys}, 1, i64);
  if (Value used = usedKeys()) {
    DimExprs b = node.dims(used);
    Value length = materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), Contents{{queries}});
    Value offset = node.binary<SubOp>(node.cast(used, i64), length);
    row = node.binary<AddOp>(row, node.reshape(offset, {b[0], one, one, one}));
  } else {
    row = node.binary<AddOp>(row, materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), Contents{{past}}));
  }
  auto moved = [&](int64_t by) { return by ? node.binary<AddOp>(row, static_cast<double>(by)) : row; };
  Value isBehind = right >= 0 ? node.compare<LessOp>(moved(right), column) : Value();
  Value isBefore = left >= 0 ? node.compare<LessOp>(column, moved(-left)) : Value();
  return minusInfinityWhere(isBehind && isBefore ? node.binary<OrOp>(isBehind, isBefore) : isBehind ? isBehind : isBefore);
}

Value Attention::usedKeys() {
  Value used = node.optionalInput(6);
  if (!used || node.failed() || !node.expectRank(used, 1, "nonpad_kv_seqlen"))
    return {};
  return alignDims(node, used, {node.dims(query)[0]}, "nonpad_kv_seqlen does not have one number for each batch entry");
}

/// Batches, head sizes and numbers of keys have to be equal. Numbers of heads may differ by a factor, which has to be known.
void Attention::alignOperands() {
  DimExprs q = node.dims(query), k = node.dims(key), v = node.dims(value);
  for (AffineExpr heads : {k[1], v[1]})
    if (!nn::provablyEqual(heads, q[1]) && !(nn::getConstantDim(heads) && nn::getConstantDim(q[1])))
      (void)node.unsupported("symbolic numbers of heads of queries and keys, whose ratio is not known", "make the dimensions static with --dim");
  AffineExpr size = nn::getConstantDim(q[3]) ? q[3] : k[3];
  query = alignDims(node, query, {q[0], q[1], q[2], size}, "Q and K have different head sizes");
  key = alignDims(node, key, {q[0], k[1], k[2], size}, "K does not fit Q");
  value = alignDims(node, value, {q[0], v[1], k[2], v[3]}, "V does not fit Q and K");
}

/// Hides the keys behind those in use, of which each batch entry has its own number.
Value Attention::paddingBias() {
  Value used = usedKeys();
  if (!used || node.failed())
    return {};
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1);
  Value length = node.reshape(node.cast(used, i64), {node.dims(used)[0], one, one, one});
  return chooseNumber(node, node.compare<LessOp>(node.iota({one, one, one, keys}, 3, i64), length), element, 0, -HUGE_VAL);
}

/// A row that sees nothing weighs nothing, instead of NaN.
Value Attention::zeroWhereHidden(Value x) {
  Value most = node.reduce(ReduceKind::Max, bias, {node.rank(bias) - 1}, /*keep=*/true);
  Value isHidden = node.broadcastTo(node.compare<EqualOp>(most, node.splatLike(most, -HUGE_VAL)), node.dims(x));
  return node.make<SelectOp>(x.getType(), isHidden, node.splatLike(x, 0), x);
}

/// As its parts, of which output 3 is one.
Value Attention::parts(double scale, double softcap, bool canHideAll) {
  // The root of the scale on both sides, so that the product of half floats does not overflow.
  double root = std::sqrt(scale);
  int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  Value scores = node.matmul(node.binary<MulOp>(query, root), node.binary<MulOp>(node.transpose(key, {0, 1, 3, 2}), root)), raw = scores;
  if (softcap != 0)
    scores = node.binary<MulOp>(node.unary<TanhOp>(node.binary<DivOp>(scores, softcap)), softcap);
  Value capped = scores;
  if (bias && !node.failed())
    scores = node.binary<AddOp>(scores, node.broadcastTo(bias, node.dims(scores)));
  if (node.failed())
    return scores;
  Value weights = node.unary<SoftmaxOp>(scores, node.builder().getI64IntegerAttr(3));
  if (canHideAll)
    weights = zeroWhereHidden(weights);
  if (node.hasOutput(3))
    (void)node.result(3, mode == 0 ? raw : mode == 1 ? capped : mode == 2 ? scores : weights);
  return node.matmul(weights, value);
}

LogicalResult Attention::run() {
  int64_t queryHeads = node.getInt("q_num_heads", 0), keyHeads = node.getInt("kv_num_heads", 0);
  bool isFlat = node.rank(node.input(0)) == 3;
  left = node.getInt("left_window_size", -1);
  right = node.getInt("right_window_size", -1);
  if (node.getFlag("is_causal"))
    right = 0;
  double softcap = node.getFloat("softcap", 0);
  node.ignore("softmax_precision");
  node.ignore("qk_matmul_output_mode");
  for (unsigned i : {1, 2})
    if (!node.expectRank(node.input(i), node.rank(node.input(0)), i == 1 ? "K, unlike Q," : "V, unlike Q,"))
      return failure();
  query = splitHeads(node, node.input(0), queryHeads, "Q");
  key = splitHeads(node, node.input(1), keyHeads, "K");
  value = splitHeads(node, node.input(2), keyHeads, "V");
  if (!node.expectRank(query, 4, "Q") || !node.expectRank(key, 4, "K") || !node.expectRank(value, 4, "V"))
    return failure();
  element = node.elementType(query);
  Value pastKey = node.optionalInput(4);
  past = pastKey && node.rank(pastKey) == 4 ? node.dims(pastKey)[2] : node.number(0);
  key = withPast(pastKey, key, 1);
  value = withPast(node.optionalInput(5), value, 2);
  if (!node.failed())
    alignOperands();
  if (node.failed())
    return failure();
  DimExprs q = node.dims(query);
  queries = q[2], keys = node.dims(key)[2];
  double scale = node.hasAttribute("scale") ? node.getFloat("scale", 1) : defaultScale(node, q[3]);
  if (node.failed())
    return failure();
  key = repeatHeads(node, key, q[1]);
  value = repeatHeads(node, value, q[1]);
  addBias(maskBias());
  // Queries behind the last key may be too far from all of them.
  bool isAligned = nn::provablyEqual(keys, past + queries);
  bool canHideAll = bias || node.hasInput(6) || (left >= 0 && !isAligned), isWhole = softcap == 0 && !node.hasOutput(3) && scale > 0;
  bool causal = right == 0 && isWhole && !canHideAll && isAligned;
  if (!causal && (left >= 0 || right >= 0))
    addBias(placeBias());
  addBias(paddingBias());
  if (node.failed())
    return failure();
  Value result = isWhole ? buildAttention(node, query, key, value, bias, scale, causal, causal ? left + 1 : 0) : parts(scale, softcap, canHideAll);
  if (isWhole && canHideAll && !node.failed())
    result = zeroWhereHidden(result);
  return node.result(isFlat ? joinHeads(node, result) : result);
}

static LogicalResult attention(Node &node) { return Attention(node).run(); }

Value rotatePairs(Node &node, Value x, Value cosine, Value sine, int64_t width, bool interleaved) {
  if (node.failed())
    return x;
  DimExprs d = node.dims(x);
  AffineExpr zero = node.number(0), one = node.number(1), half = node.number(width / 2), two = node.number(2);
  for (Value cache : {cosine, sine})
    if (!node.unify(node.dims(cache)[2], half, "the caches do not have half as many columns as elements are rotated"))
      return x;
  auto angle = [&](Value cache) { return node.reshape(node.slice(cache, 2, zero, half), {d[0], d[1], one, half}); };
  cosine = angle(cosine);
  sine = angle(sine);
  Value turned = node.slice(x, 3, zero, node.number(width));
  Value first = interleaved ? node.slice(turned, 3, zero, half, 2) : node.slice(turned, 3, zero, half);
  Value second = interleaved ? node.slice(turned, 3, one, half, 2) : node.slice(turned, 3, half, half);
  Value real = node.binary<SubOp>(node.binary<MulOp>(cosine, first), node.binary<MulOp>(sine, second));
  Value imaginary = node.binary<AddOp>(node.binary<MulOp>(sine, first), node.binary<MulOp>(cosine, second));
  if (node.failed())
    return x;
  DimExprs pair = {d[0], d[1], d[2], half, one}, joined = {d[0], d[1], d[2], half * two};
  Value result = interleaved ? node.reshape(node.concat({node.reshape(real, pair), node.reshape(imaginary, pair)}, 4), joined)
                             : node.concat({real, imaginary}, 3);
  if (nn::getConstantDim(d[3]) == width)
    return result;
  return node.concat({result, node.slice(x, 3, node.number(width), nn::simplifyDim(d[3] - width))}, 3);
}

/// Rotates pairs of the first `rotary_embedding_dim` elements of each head by angles given as cosine and sine.
static LogicalResult rotaryEmbedding(Node &node) {
  Value input = node.input(0), cosine = node.input(1), sine = node.input(2), x = input;
  bool interleaved = node.getFlag("interleaved");
  int64_t heads = node.getInt("num_heads", 0), width = node.getInt("rotary_embedding_dim", 0);
  DimExprs original = node.dims(input);
  // All as [batch, length, heads, size].
  if (node.rank(input) == 3 && heads > 0)
    x = node.reshape(x, {original[0], original[1], node.number(heads), original[2].floorDiv(heads)});
  else if (node.expectRank(input, 4, "the input"))
    x = node.transpose(x, {0, 2, 1, 3});
  if (node.failed() || node.rank(x) != 4)
    return node.error("attribute 'num_heads' is needed for an input of rank 3");
  DimExprs d = node.dims(x);
  auto size = nn::getConstantDim(d[3]);
  if (!size || width < 0 || width > *size || (width ? width : *size) % 2)
    return node.error("the head size must be static and even, and attribute 'rotary_embedding_dim' within it");
  width = width ? width : *size;
  if (Value positions = node.optionalInput(3)) {
    auto pick = [&](Value cache) {
      DimExprs at = node.dims(positions);
      at.push_back(node.dims(cache).back());
      return node.make<GatherOp>(node.type(at, node.elementType(cache)), cache, positions, 0);
    };
    if (!node.expectRank(cosine, 2, "the cosine cache") || !node.expectRank(sine, 2, "the sine cache"))
      return failure();
    cosine = pick(cosine);
    sine = pick(sine);
  }
  if (!node.expectRank(cosine, 3, "the cosine cache") || !node.expectRank(sine, 3, "the sine cache"))
    return failure();
  Value result = rotatePairs(node, x, cosine, sine, width, interleaved);
  if (node.failed())
    return failure();
  if (node.rank(input) == 4)
    return node.result(node.transpose(result, {0, 2, 1, 3}));
  return node.result(node.reshape(result, original));
}

ArrayRef<Operator> getAttentionOperators() {
  static const Operator rows[] = {
      {"Attention", 23, Elements::Float, attention},
      asComposite({"RotaryEmbedding", 23, Elements::Float, rotaryEmbedding}),
  };
  return rows;
}

} // namespace kiln::import
