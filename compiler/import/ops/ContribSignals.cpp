//===- ContribSignals.cpp - Complex numbers, distances, hashes and words -----===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"

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
  if (!element.isIntOrFloat())
    return node.unsupported("hashes of strings", "hash them before");
  bool isDouble = element.getIntOrFloatBitWidth() == 64;
  DimExprs dims = node.dims(x);
  Value bits = node.make<BitcastOp>(node.type(dims, isDouble ? u64 : u32), x);
  WordHash hash(node);
  Value state = node.splat(dims, u32, static_cast<double>(static_cast<uint32_t>(seed)));
  state = hash.mix(state, node.cast(isDouble ? node.binary<AndOp>(bits, node.splatLike(bits, 4294967295.0)) : bits, u32));
  if (isDouble)
    state = hash.mix(state, node.cast(node.binary<ShiftRightOp>(bits, 32.0), u32));
  state = hash.finish(state, isDouble ? 8 : 4);
  if (!isPositive)
    state = node.make<BitcastOp>(node.type(dims, node.builder().getI32Type()), state);
  return node.failed() ? failure() : node.result(state);
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

ArrayRef<Operator> getContribSignalOperators() {
  static const Operator rows[] = {
      {"CDist", 1, Elements::Float, cDist, INT64_MAX, "com.microsoft"},
      {"ComplexMul", 1, Elements::Float, complexMul<false>, INT64_MAX, "com.microsoft"},
      {"ComplexMulConj", 1, Elements::Float, complexMul<true>, INT64_MAX, "com.microsoft"},
      {"IsAllFinite", 1, Elements::Float, isAllFinite, INT64_MAX, "com.microsoft"},
      {"MurmurHash3", 1, Elements::Number, murmurHash3, INT64_MAX, "com.microsoft"},
      {"NGramRepeatBlock", 1, Elements::Integer, ngramRepeatBlock, INT64_MAX, "com.microsoft"},
      {"WordConvEmbedding", 1, Elements::Integer, wordConvEmbedding, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
