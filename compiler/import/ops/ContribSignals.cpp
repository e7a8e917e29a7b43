//===- ContribSignals.cpp - Complex numbers, distances, hashes and words -----===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Choices.h"
#include "compiler/import/RolledLoops.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Products of numbers whose real and imaginary parts are the last dimension; those of the right side may be conjugated.
template <bool isConjugated> static LogicalResult complexMul(Node &node) {
  Value a = node.input(0), b = node.input(1);
  node.broadcast({&a, &b});
  if (node.failed())
    return failure();
  int64_t last = node.rank(a) - 1;
  if (last < 0 || nn::getConstantDim(node.dims(a)[last]) != 2 || nn::getConstantDim(node.dims(b)[last]) != 2)
    return node.error("expected operands whose last dimension is 2, the real and imaginary parts");
  auto part = [&](Value x, int64_t at) { return node.slice(x, last, node.number(at), node.number(1)); };
  Value ar = part(a, 0), ai = part(a, 1), br = part(b, 0), bi = isConjugated ? node.unary<NegOp>(part(b, 1)) : part(b, 1);
  Value real = node.binary<SubOp>(node.binary<MulOp>(ar, br), node.binary<MulOp>(ai, bi));
  Value imaginary = node.binary<AddOp>(node.binary<MulOp>(ar, bi), node.binary<MulOp>(ai, br));
  return node.failed() ? failure() : node.result(node.concat({real, imaginary}, last));
}

/// Distances between all rows of A and all rows of B.
static LogicalResult cDist(Node &node) {
  Value a = node.input(0), b = node.input(1);
  std::string metric = node.getString("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return node.unsupported("metric '" + metric + "'", "use euclidean or sqeuclidean");
  if (!node.expectRank(a, 2, "A") || !node.expectRank(b, 2, "B"))
    return failure();
  DimExprs left = node.dims(a), right = node.dims(b);
  AffineExpr one = node.number(1);
  if (!node.unify(left[1], right[1], "rows of A and B have different lengths"))
    return failure();
  Type element = node.elementType(a), wide = node.builder().getF64Type(), computed = element == wide ? wide : node.builder().getF32Type();
  // A row or two are sums of their own, which take what computes the rows.
  constexpr int64_t fewRows = 4;
  if (auto rows = nn::getConstantDim(left[0]); !rows || *rows >= fewRows) {
    Value squares = node.make<DistancesOp>(node.type({left[0], right[0]}, computed), node.cast(a, computed), node.cast(b, computed));
    return node.failed() ? failure() : node.result(node.cast(metric == "euclidean" ? node.unary<SqrtOp>(squares) : squares, element));
  }
  Value apart = node.binary<SubOp>(node.reshape(a, {left[0], one, left[1]}), node.reshape(b, {one, right[0], right[1]}));
  Value squares = node.failed() ? a : node.reduce(ReduceKind::Sum, node.binary<MulOp>(apart, apart), {2}, /*keep=*/false);
  return node.failed() ? failure() : node.result(metric == "euclidean" ? node.unary<SqrtOp>(squares) : squares);
}

/// Whether no element of any input is NaN or infinite, or only one of these.
static LogicalResult isAllFinite(Node &node) {
  bool onlyInfinite = node.getFlag("isinf_only"), onlyNan = node.getFlag("isnan_only");
  if (onlyInfinite && onlyNan)
    return node.error("attributes 'isinf_only' and 'isnan_only' exclude each other");
  Value all = node.splat({}, node.builder().getI32Type(), 1);
  for (unsigned i = 0; i < node.numInputs() && !node.failed(); ++i) {
    Value x = node.input(i), isNan = node.make<IsNanOp>(node.type(node.dims(x), node.builder().getI1Type()), x);
    Value isInfinite = node.compare<EqualOp>(node.unary<AbsOp>(x), node.splatLike(x, HUGE_VAL));
    Value isBad = onlyNan ? isNan : onlyInfinite ? isInfinite : node.binary<OrOp>(isNan, isInfinite);
    Value good = node.cast(node.unary<NotOp>(isBad), node.builder().getI32Type());
    all = node.binary<MinimumOp>(all, node.reduce(ReduceKind::Min, good, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))), /*keep=*/false));
  }
  return node.failed() ? failure() : node.result(node.cast(all, node.builder().getI1Type()));
}

/// -inf for tokens that would make the last n tokens of a sequence ones that it has already.
static LogicalResult ngramRepeatBlock(Node &node) {
  Value ids = node.input(0), scores = node.input(1);
  int64_t size = node.requireInt("ngram_size");
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(ids);
  auto length = nn::getConstantDim(dims[1]);
  constexpr int64_t most = 64;
  if (!length || size > most)
    return node.unsupported("a symbolic number of tokens, or n-grams of more than " + Twine(most), "make the dimension static with --dim");
  if (!node.unify(dims[0], node.dims(scores)[0], "tokens and scores have different batches"))
    return failure();
  int64_t places = *length - size + 1;
  if (places < 1)
    return node.result(scores);
  AffineExpr count = node.number(places);
  DimExprs shape = {dims[0], count};
  Value isSame = node.splat(shape, node.builder().getI1Type(), 1);
  for (int64_t i = 0; i + 1 < size; ++i) {
    Value last = node.slice(ids, 1, node.number(*length - size + 1 + i), node.number(1));
    isSame = node.binary<AndOp>(isSame, node.compare<EqualOp>(node.slice(ids, 1, node.number(i), count), node.broadcastTo(last, shape)));
  }
  Value next = node.slice(ids, 1, node.number(size - 1), count);
  Type element = node.elementType(scores);
  Value least = node.make<SelectOp>(node.type(shape, element), isSame, node.splat(shape, element, -HUGE_VAL), node.splat(shape, element, HUGE_VAL));
  if (node.failed())
    return failure();
  return node.result(node.make<ScatterElementsOp>(scores.getType(), scores, next, least, 1, ScatterReduction::Min));
}

/// For each n from 2 on, the hash of a token and the n - 1 before it, modulo the size of each of some vocabularies: products with the multipliers are joined by
/// xor, modulo 2 to the number of their bits. What lies before the tokens is a past, or padding.
static LogicalResult ngramHashMapping(Node &node) {
  Value ids = node.input(0), multipliers = node.input(1), sizes = node.input(2), past = node.optionalInput(3);
  int64_t longest = node.requireInt("max_ngram_size"), heads = node.requireInt("n_head_per_ngram"), padding = node.requireInt("pad_id");
  constexpr int64_t most = 64;
  if (node.failed())
    return failure();
  if (longest < 2 || longest > most || heads < 1 || heads > (1 << 16))
    return node.error("attributes max_ngram_size and n_head_per_ngram are " + Twine(longest) + " and " + Twine(heads) + ", expected 2 to " + Twine(most) +
                      " and 1 to 65536");
  DimExprs dims = node.dims(ids);
  AffineExpr before = node.number(longest - 1), one = node.number(1);
  multipliers = alignDims(node, multipliers, {node.number(longest)}, "expected a multiplier for each token of an n-gram");
  sizes = alignDims(node, sizes, {node.number((longest - 1) * heads)}, "expected a size for each head of each n");
  past = past ? alignDims(node, past, {dims[0], before}, "past_ids does not have max_ngram_size - 1 tokens for each row")
              : node.splat({dims[0], before}, node.elementType(ids), static_cast<double>(padding));
  if (node.failed())
    return failure();
  Value all = node.concat({past, ids}, 1), mix;
  SmallVector<Value> hashes;
  for (int64_t back = 0; back < longest && !node.failed(); ++back) {
    Value factor = node.reshape(node.slice(multipliers, 0, node.number(back), one), {one, one});
    Value product = node.binary<MulOp>(node.slice(all, 1, node.number(longest - 1 - back), dims[1]), factor);
    mix = mix ? node.binary<XorOp>(mix, product) : product;
    if (back == 0 || node.failed())
      continue;
    Value ofHeads = node.reshape(node.slice(sizes, 0, node.number((back - 1) * heads), node.number(heads)), {one, one, node.number(heads)});
    hashes.push_back(node.binary<ModOp>(node.reshape(mix, {dims[0], dims[1], one}), ofHeads));
  }
  if (node.failed() || failed(node.result(node.concat(hashes, 2))))
    return failure();
  return node.hasOutput(1) ? node.result(1, node.slice(all, 1, dims[1], before)) : success();
}

//===- BifurcationDetector -------------------------------------------------===//

namespace {
/// Tokens, and what a search for their end in the source gives: behind which of its places that is, and whether longer ends are looked for.
struct SourceSearch {
  Node &node;
  Value source, all, count, found, isOpen;
  AffineExpr length;

  Value number(int64_t value) { return node.splat({}, node.builder().getI64Type(), static_cast<double>(value)); }
  void look(int64_t size);
};
} // namespace

/// For the last `size` tokens: their only place in the source, or -1 for several, or what was found before for none.
void SourceSearch::look(int64_t size) {
  Type i64 = node.builder().getI64Type();
  Value place = node.iota({length}, 0, i64), isSame = node.compare<LessEqualOp>(node.binary<AddOp>(place, number(size)), sizeOf(node, length, i64));
  Value padded = node.pad(source, {node.number(0)}, {node.number(size)}, PadMode::Constant, number(0));
  for (int64_t i = 0; i < size && !node.failed(); ++i) {
    Value at = node.binary<MaximumOp>(node.binary<AddOp>(count, number(i - size)), 0.0);
    Value token = node.reshape(buildGather(node, all, node.reshape(at, {node.number(1)}), 0), {});
    isSame = node.failed() ? isSame : node.binary<AndOp>(isSame, node.compare<EqualOp>(node.slice(padded, 0, node.number(i), length), token));
  }
  if (node.failed())
    return;
  Value places = node.reduce(ReduceKind::Sum, node.cast(isSame, i64), {0}, /*keep=*/false);
  Value far = node.pad(node.make<SelectOp>(place.getType(), isSame, place, node.broadcastTo(sizeOf(node, length, i64), {length})), {node.number(0)},
                       {node.number(1)}, PadMode::Constant, sizeOf(node, length, i64));
  Value behind = node.binary<AddOp>(node.reduce(ReduceKind::Min, far, {0}, /*keep=*/false), number(size));
  Value isThere = node.binary<AndOp>(node.compare<GreaterOp>(places, number(0)), node.compare<LessEqualOp>(number(size), count));
  Value takes = node.binary<AndOp>(isOpen, isThere), isAtEnd = node.compare<GreaterEqualOp>(behind, sizeOf(node, length, i64));
  Value isOne = node.binary<OrOp>(isAtEnd, node.compare<EqualOp>(places, number(1)));
  Value next = node.make<SelectOp>(found.getType(), isOne, behind, number(-1));
  found = node.make<SelectOp>(found.getType(), takes, next, found);
  isOpen = node.binary<AndOp>(takes, node.unary<NotOp>(isAtEnd));
}

/// Predicted tokens are taken as long as they are the source's, and one more. Behind which place of the source do the tokens then end, if that is one only?
static LogicalResult bifurcationDetector(Node &node) {
  Value source = node.input(0), tokens = node.input(1), before = node.input(2), predicted = node.optionalInput(3);
  int64_t least = node.getInt("min_ngram_size", 1), most = node.getInt("max_ngram_size", 3);
  constexpr int64_t longest = 64;
  if (node.failed())
    return failure();
  if (least < 1 || most < least || most > longest)
    return node.error("attributes min_ngram_size and max_ngram_size are " + Twine(least) + " and " + Twine(most) + ", expected 1 to " + Twine(longest) +
                      " in this order");
  Type i64 = node.builder().getI64Type();
  AffineExpr length = node.dims(source)[0], all = node.dims(tokens)[0];
  SourceSearch search{node, source, tokens, sizeOf(node, all, i64), {}, node.splat({}, node.builder().getI1Type(), 1), length};
  if (predicted) {
    // There is one more than the source has behind its place, which prev_suffix_match_idx gives as well.
    AffineExpr few = nn::simplifyDim(node.dims(predicted)[0] - 1), start = nn::simplifyDim(length - few);
    node.requireNotNegative(few, "pred_tokens is empty");
    node.requireNotNegative(start, "pred_tokens has more tokens than src_tokens");
    if (node.failed())
      return failure();
    Value isSame = node.compare<EqualOp>(node.slice(predicted, 0, node.number(0), few), node.slice(source, 0, start, few));
    Value places = node.iota({few}, 0, i64), end = sizeOf(node, few, i64);
    places = node.make<SelectOp>(places.getType(), isSame, node.broadcastTo(end, {few}), places);
    Value taken = node.reduce(ReduceKind::Min, node.pad(places, {node.number(0)}, {node.number(1)}, PadMode::Constant, end), {0}, /*keep=*/false);
    search.count = node.binary<AddOp>(node.binary<AddOp>(taken, search.count), 1.0);
    search.all = node.concat({tokens, predicted}, 0);
    all = node.choices().computeDim(node, search.count, node.dims(search.all)[0], node.outputName(0) + "_tokens");
    tokens = node.failed() ? tokens : node.slice(search.all, 0, node.number(0), all);
  }
  search.found = search.number(-1);
  for (int64_t size = least; size <= most && !node.failed(); ++size)
    search.look(size);
  if (node.failed() || failed(node.result(tokens)))
    return failure();
  return node.result(1, node.reshape(search.found, node.dims(before)));
}

//===- MurmurHash3 ---------------------------------------------------------===//

namespace {
/// The arithmetic of MurmurHash3_x86_32 on words of 32 bits.
class WordHash {
public:
  explicit WordHash(Node &node) : node(node) {}
  Value mix(Value hash, Value word) {
    Value scrambled = times(rotate(times(word, 0xcc9e2d51u), 15), 0x1b873593u);
    return node.binary<AddOp>(times(rotate(node.binary<XorOp>(hash, scrambled), 13), 5), node.splatLike(hash, 0xe6546b64u));
  }
  Value finish(Value hash, unsigned bytes) {
    hash = node.binary<XorOp>(hash, node.splatLike(hash, bytes));
    hash = times(fold(hash, 16), 0x85ebca6bu);
    return fold(times(fold(hash, 13), 0xc2b2ae35u), 16);
  }

private:
  Value times(Value x, unsigned factor) { return node.binary<MulOp>(x, static_cast<double>(factor)); }
  Value fold(Value x, int shift) { return node.binary<XorOp>(x, node.binary<ShiftRightOp>(x, static_cast<double>(shift))); }
  Value rotate(Value x, int by) {
    return node.binary<OrOp>(node.binary<ShiftLeftOp>(x, static_cast<double>(by)), node.binary<ShiftRightOp>(x, static_cast<double>(32 - by)));
  }

  Node &node;
};
} // namespace

/// The hash of each element's bytes.
static LogicalResult murmurHash3(Node &node) {
  Value x = node.input(0);
  bool isPositive = node.getFlag("positive", true);
  int64_t seed = node.getInt("seed", 0);
  Type element = node.elementType(x), u32 = node.builder().getIntegerType(32, false), u64 = node.builder().getIntegerType(64, false);
  if (node.failed())
    return failure();
  DimExprs dims = node.dims(x);
  auto finish = [&](Value hash) {
    if (!isPositive)
      hash = node.make<BitcastOp>(node.type(dims, node.builder().getI32Type()), hash);
    return node.failed() ? failure() : node.result(hash);
  };
  if (nn::isString(element))
    return finish(node.make<StringHashOp>(node.type(dims, u32), x, static_cast<uint64_t>(seed)));
  bool isDouble = element.getIntOrFloatBitWidth() == 64;
  Value bits = node.make<BitcastOp>(node.type(dims, isDouble ? u64 : u32), x);
  WordHash hash(node);
  Value state = node.splat(dims, u32, static_cast<double>(static_cast<uint32_t>(seed)));
  state = hash.mix(state, node.cast(isDouble ? node.binary<AndOp>(bits, node.splatLike(bits, 4294967295.0)) : bits, u32));
  if (isDouble)
    state = hash.mix(state, node.cast(node.binary<ShiftRightOp>(bits, 32.0), u32));
  return finish(hash.finish(state, isDouble ? 8 : 4));
}

//===- Characters ----------------------------------------------------------===//

/// Whether places [words, places, 1] of windows over the characters count: all within the word, and the first of a word that is shorter than the window.
static Value countPlaces(Node &node, Value lengths, AffineExpr words, AffineExpr places, int64_t window) {
  Value last = node.binary<MaximumOp>(node.binary<SubOp>(lengths, static_cast<double>(window)), 0.0);
  DimExprs dims = {words, places, node.number(1)};
  Value place = node.broadcastTo(node.iota({node.number(1), places, node.number(1)}, 1, node.builder().getI32Type()), dims);
  return node.compare<LessEqualOp>(place, node.broadcastTo(node.reshape(last, {words, node.number(1), node.number(1)}), dims));
}

/// The largest results of a convolution over the characters of each word, and tanh. A word of no characters (0) is a row of zeros.
static LogicalResult wordConvEmbedding(Node &node) {
  Value words = node.input(0), weight = node.input(1), bias = node.input(2), table = node.input(3);
  for (StringRef name : {"embedding_size", "conv_window_size", "char_embedding_size"})
    node.ignore(name);
  if (!node.expectRank(words, 2, "Sequence") || !node.expectRank(weight, 4, "W") || !node.expectRank(bias, 1, "B") || !node.expectRank(table, 2, "C"))
    return failure();
  DimExprs in = node.dims(words), filter = node.dims(weight);
  auto window = nn::getConstantDim(filter[2]);
  if (!window || *window < 1)
    return node.unsupported("a window of symbolic size or of no characters", "make it static with --dim");
  AffineExpr one = node.number(1), width = node.dims(table)[1], places = nn::simplifyDim(in[1] - (*window - 1));
  node.requireNotNegative(in[1] - *window, "words are shorter than the window");
  if (!node.unify(filter[1], one, "W is not of one channel: number of channels") || !node.unify(filter[3], width, "W and C have different widths") ||
      !node.unify(node.dims(bias)[0], filter[0], "W and B have different numbers of filters") || node.failed())
    return failure();
  Value characters = buildGather(node, table, words, 0);
  SmallVector<Value> parts;
  for (int64_t at = 0; at < *window && !node.failed(); ++at)
    parts.push_back(node.slice(characters, 1, node.number(at), places));
  if (node.failed())
    return failure();
  AffineExpr depth = nn::simplifyDim(width * *window);
  Value rows = node.reshape(node.concat(parts, 2), {in[0] * places, depth});
  Value sums = node.binary<AddOp>(node.matmul(rows, node.transpose(node.reshape(weight, {filter[0], depth}), {1, 0})), node.reshape(bias, {filter[0]}));
  sums = node.reshape(node.unary<TanhOp>(sums), {in[0], places, filter[0]});
  Value isCharacter = node.cast(node.compare<GreaterOp>(words, node.splatLike(words, 0)), node.builder().getI32Type());
  Value counts = countPlaces(node, node.reduce(ReduceKind::Sum, isCharacter, {1}, /*keep=*/false), in[0], places, *window), none = node.splatLike(sums, -2);
  node.broadcast({&counts, &sums, &none}, /*mixed=*/true);
  if (node.failed())
    return failure();
  Value largest = node.reduce(ReduceKind::Max, node.make<SelectOp>(sums.getType(), counts, sums, none), {1}, /*keep=*/false);
  Value first = node.slice(words, 1, node.number(0), one), isWord = node.compare<GreaterOp>(first, node.splatLike(first, 0)), zero = node.splatLike(largest, 0);
  node.broadcast({&isWord, &largest, &zero}, /*mixed=*/true);
  return node.failed() ? failure() : node.result(node.make<SelectOp>(largest.getType(), isWord, largest, zero));
}

//===- DynamicTimeWarping --------------------------------------------------===//

/// The costs of the cheapest paths to the places of a matrix, one anti-diagonal in a step: what a path comes from, for each step and row: 0 from the row and
/// column before, 1 from the row before, 2 from the column before.
static Value traceCosts(Node &node, Value x, AffineExpr rows, AffineExpr columns) {
  Type i64 = node.builder().getI64Type(), i32 = node.builder().getI32Type(), element = node.elementType(x);
  AffineExpr zero = node.number(0), one = node.number(1), places = nn::simplifyDim(rows + 1);
  Value flat = node.reshape(x, {nn::simplifyDim(rows * columns)}), row = node.iota({rows}, 0, i64);
  Value width = node.broadcastTo(sizeOf(node, columns, i64), {rows});
  Value never = node.splat({places}, element, HUGE_VAL), border = node.splat({one}, element, HUGE_VAL);
  Value start = node.concat({node.splat({one}, element, 0), node.splat({rows}, element, HUGE_VAL)}, 0);
  // Carried are the costs along the last two diagonals, by rows with one before the first.
  auto body = [&](AffineExpr step, ArrayRef<Value> carried) -> FailureOr<SmallVector<Value>> {
    Value both = node.slice(carried[0], 0, zero, rows), above = node.slice(carried[1], 0, zero, rows), before = node.slice(carried[1], 0, one, rows);
    auto isBest = [&](Value a, Value b, Value c) { return node.binary<AndOp>(node.compare<LessOp>(a, b), node.compare<LessOp>(a, c)); };
    auto choose = [&](Value condition, Value then, Value otherwise) { return node.make<SelectOp>(then.getType(), condition, then, otherwise); };
    auto from = [&](double number) { return node.splat({rows}, i32, number); };
    Value isBoth = isBest(both, above, before), isAbove = isBest(above, both, before);
    Value column = node.binary<SubOp>(node.broadcastTo(sizeOf(node, step, i64), {rows}), row);
    Value isInside = node.binary<AndOp>(node.compare<GreaterEqualOp>(column, node.splatLike(column, 0)), node.compare<LessOp>(column, width));
    Value at = choose(isInside, node.binary<AddOp>(node.binary<MulOp>(row, width), column), node.splatLike(column, 0));
    if (node.failed())
      return failure();
    Value own = node.make<GatherOp>(node.type({rows}, element), flat, at, 0);
    Value cost = node.binary<AddOp>(choose(isBoth, both, choose(isAbove, above, before)), own);
    cost = choose(isInside, cost, node.splatLike(cost, HUGE_VAL));
    return SmallVector<Value>{carried[1], node.concat({border, cost}, 0), choose(isBoth, from(0), choose(isAbove, from(1), from(2)))};
  };
  SmallVector<Value> results;
  if (node.failed() || failed(buildLoop(node, nn::simplifyDim(rows + columns - 1), {start, never}, {0}, body, results)) || results.empty())
    return {};
  return results.back();
}

/// The cheapest path through a matrix from its first to its last element: the rows of its places, and their columns [2, length].
static LogicalResult dynamicTimeWarping(Node &node) {
  Value x = node.input(0);
  DimExprs dims = node.dims(x);
  if (dims.size() == 3 && !node.unify(dims[0], node.number(1), "the input has several matrices, expected one"))
    return failure();
  AffineExpr rows = dims[dims.size() - 2], columns = dims.back(), one = node.number(1), zero = node.number(0);
  node.requireNotNegative(rows - 1, "the input has no rows");
  node.requireNotNegative(columns - 1, "the input has no columns");
  Value trace = node.failed() ? Value() : traceCosts(node, x, rows, columns);
  if (!trace)
    return failure(node.failed());
  Type i64 = node.builder().getI64Type(), i32 = node.builder().getI32Type();
  AffineExpr steps = nn::simplifyDim(rows + columns - 1);
  trace = node.reshape(trace, {nn::simplifyDim(steps * rows)});
  Value width = node.reshape(sizeOf(node, rows, i64), {one}), end = node.reshape(sizeOf(node, nn::simplifyDim(columns - 1), i64), {one});
  // Back from the last place, until one of its numbers is below 0.
  Value isOn = node.splat({}, node.builder().getI1Type(), 1);
  auto body = [&](AffineExpr, ArrayRef<Value> carried) -> FailureOr<SmallVector<Value>> {
    Value row = node.slice(carried[0], 0, zero, one), column = node.slice(carried[0], 0, one, one);
    Value at = node.binary<AddOp>(node.binary<MulOp>(node.binary<AddOp>(row, column), width), row);
    if (node.failed())
      return failure();
    Value from = node.make<GatherOp>(node.type({one}, i32), trace, at, 0);
    auto back = [&](Value place, double other) {
      Value isStill = node.compare<EqualOp>(from, node.splatLike(from, other));
      return node.binary<AddOp>(node.binary<SubOp>(place, 1.0), node.cast(isStill, i64));
    };
    Value next = node.concat({back(row, 2), back(column, 1)}, 0);
    Value least = node.reduce(ReduceKind::Min, next, {0}, /*keep=*/false);
    return SmallVector<Value>{node.compare<GreaterEqualOp>(least, node.splatLike(least, 0)), next, node.cast(carried[0], i32)};
  };
  SmallVector<Value> results;
  Value last = node.concat({node.binary<SubOp>(width, 1.0), end}, 0);
  if (node.failed() || failed(buildLoop(node, steps, {last}, {0}, body, results, isOn)) || results.empty())
    return failure(node.failed());
  Value path = results.back();
  AffineExpr length = node.dims(path)[0];
  Value order = node.binary<SubOp>(node.broadcastTo(sizeOf(node, nn::simplifyDim(length - 1), i64), {length}), node.iota({length}, 0, i64));
  if (node.failed())
    return failure();
  return node.result(node.transpose(node.make<GatherOp>(path.getType(), path, order, 0), {1, 0}));
}

ArrayRef<Operator> getContribSignalOperators() {
  static const Operator rows[] = {
      {"BifurcationDetector", 1, Elements::Integer, bifurcationDetector, INT64_MAX, "com.microsoft"},
      {"CDist", 1, Elements::Float, cDist, INT64_MAX, "com.microsoft"},
      {"ComplexMul", 1, Elements::Float, complexMul<false>, INT64_MAX, "com.microsoft"},
      {"ComplexMulConj", 1, Elements::Float, complexMul<true>, INT64_MAX, "com.microsoft"},
      {"DynamicTimeWarping", 1, Elements::Float, dynamicTimeWarping, INT64_MAX, "com.microsoft"},
      {"IsAllFinite", 1, Elements::Float, isAllFinite, INT64_MAX, "com.microsoft"},
      {"MurmurHash3", 1, Elements::Data, murmurHash3, INT64_MAX, "com.microsoft"},
      {"NGramHashMapping", 1, Elements::Integer, ngramHashMapping, INT64_MAX, "com.microsoft"},
      {"NGramRepeatBlock", 1, Elements::Integer, ngramRepeatBlock, INT64_MAX, "com.microsoft"},
      {"WordConvEmbedding", 1, Elements::Integer, wordConvEmbedding, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
