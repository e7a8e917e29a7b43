//===- Ngrams.cpp - Counts of short sequences --------------------------------===//
#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNRuntimeOps.h"

#include <map>
#include <set>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// Each skip is a pass over the rows, of which those that are longer than a row cost nothing when its length is known.
static constexpr int64_t mostSymbolicSkips = 64;

namespace {
/// The grams of one length, the columns of the result in which they count, and their weights; no weights when each counts 1.
struct Grams {
  int64_t length;
  std::vector<std::vector<int64_t>> items;
  std::vector<int64_t> columns;
  std::vector<float> factors;
};

class TfIdf {
public:
  explicit TfIdf(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool read();
  /// The pool's items as numbers: those of strings are the places in `texts`.
  std::optional<SmallVector<int64_t>> readPool();
  bool addGrams(ArrayRef<int64_t> pool, ArrayRef<int64_t> starts, ArrayRef<int64_t> columns);
  Value count(const Grams &grams, Value rows, AffineExpr width);
  /// The counts of `grams` [batch, grams] as 0 or 1, and times their weights, as the mode says.
  Value weigh(const Grams &grams, Value counts);
  Value limit(Value counts);

  Node &node;
  std::string mode;
  int64_t shortest = 1, longest = 1, skips = 0, resultSize = 0;
  SmallVector<double> weights;
  /// The distinct strings of the pool; empty for one of integers.
  std::vector<std::string> texts;
  std::vector<Grams> all;
};
} // namespace

/// Grams of length n are pool entries [starts[n - 1], starts[n]); a gram that is given twice counts as the one given last.
bool TfIdf::addGrams(ArrayRef<int64_t> pool, ArrayRef<int64_t> starts, ArrayRef<int64_t> columns) {
  size_t next = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t length = i + 1, begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : pool.size(), number = (end - begin) / length;
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) || next + number > columns.size()) {
      (void)node.error("ngram_counts, ngram_indexes and the pool do not fit each other");
      return false;
    }
    std::map<std::vector<int64_t>, int64_t> known;
    for (int64_t gram = 0; gram < number; ++gram, ++next) {
      auto *item = pool.begin() + begin + gram * length;
      known[std::vector<int64_t>(item, item + length)] = next;
    }
    if (length < shortest || length > longest || known.empty())
      continue;
    Grams &grams = all.emplace_back(Grams{length, {}, {}, {}});
    for (auto &[items, place] : known) {
      grams.items.push_back(items);
      grams.columns.push_back(columns[place]);
      if (mode != "TF" && !weights.empty())
        grams.factors.push_back(weights[place]);
    }
  }
  return true;
}

std::optional<SmallVector<int64_t>> TfIdf::readPool() {
  auto numbers = node.findInts("pool_int64s");
  auto strings = node.findStrings("pool_strings");
  bool isOfStrings = nn::isString(node.elementType(node.input(0)));
  if (isOfStrings ? !strings : !numbers) {
    (void)node.error(Twine("attribute '") + (isOfStrings ? "pool_strings" : "pool_int64s") + "' must be given for an input of this type");
    return std::nullopt;
  }
  if (!isOfStrings)
    return numbers;
  SmallVector<int64_t> places;
  std::map<std::string, int64_t> known;
  for (const std::string &text : *strings) {
    auto [entry, isNew] = known.try_emplace(text, static_cast<int64_t>(texts.size()));
    if (isNew)
      texts.push_back(text);
    places.push_back(entry->second);
  }
  return places;
}

bool TfIdf::read() {
  mode = node.getString("mode", "");
  shortest = node.requireInt("min_gram_length"), longest = node.requireInt("max_gram_length"), skips = node.requireInt("max_skip_count");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    (void)node.error("attribute 'mode' is '" + mode + "', expected TF, IDF or TFIDF");
  if (shortest < 1 || longest < shortest || skips < 0 || skips > 65536)
    (void)node.error("expected min_gram_length of at least 1, max_gram_length of at least that, and max_skip_count of at least 0");
  auto starts = node.findInts("ngram_counts"), columns = node.findInts("ngram_indexes"), pool = readPool();
  weights = node.findFloats("weights").value_or(SmallVector<double>());
  if (!node.failed() && (!starts || !columns || columns->empty()))
    (void)node.error("attributes 'ngram_counts' and 'ngram_indexes' must be given");
  if (node.failed())
    return false;
  if (*llvm::min_element(*columns) < 0 || *llvm::max_element(*columns) > (int64_t(1) << 31))
    return (void)node.error("attribute 'ngram_indexes' has an entry that is negative or too large"), false;
  resultSize = *llvm::max_element(*columns) + 1;
  if (!weights.empty() && weights.size() != columns->size())
    (void)node.error("there are " + Twine(weights.size()) + " weights for " + Twine(columns->size()) + " n-grams");
  if (mode == "IDF" && !weights.empty() && std::set<int64_t>(columns->begin(), columns->end()).size() != columns->size())
    (void)node.unsupported("mode IDF with weights and a result of several n-grams", "give each n-gram a result of its own");
  return !node.failed() && addGrams(*pool, *starts, *columns);
}

/// How often each gram [grams] is in each row, its items 1 ... skips + 1 apart: all of its items at once at the places where it may start.
Value TfIdf::count(const Grams &grams, Value rows, AffineExpr width) {
  Type element = node.elementType(rows), real = node.builder().getF32Type(), i64 = node.builder().getI64Type();
  int64_t number = grams.items.size();
  AffineExpr batch = node.dims(rows)[0];
  Value total;
  // Without a gap between items, all skips are the same.
  for (int64_t distance = 1; distance <= (grams.length == 1 ? 1 : skips + 1); ++distance) {
    AffineExpr starts = node.facts().getLarger(width - distance * (grams.length - 1), node.number(0));
    if (nn::getConstantDim(starts) == 0 || (distance > 1 && shortest == 1 && longest == 1))
      break;
    DimExprs dims = {batch, node.number(number), starts};
    Value matches;
    for (int64_t i = 0; i < grams.length; ++i) {
      std::vector<int64_t> items;
      for (const std::vector<int64_t> &gram : grams.items)
        items.push_back(gram[i]);
      Value wanted = node.cast(node.constant(nn::makeConstantOf<int64_t>(RankedTensorType::get({number, 1}, i64), items)), element);
      Value there = node.slice(rows, 1, node.number(i * distance), starts);
      there = node.reshape(there, {batch, node.number(1), starts});
      Value same = node.compare<EqualOp>(node.broadcastTo(there, dims), node.broadcastTo(wanted, dims));
      matches = matches ? node.binary<AndOp>(matches, same) : same;
    }
    Value sum = node.reduce(ReduceKind::Sum, node.cast(matches, real), {2}, /*keep=*/false);
    total = total ? node.binary<AddOp>(total, sum) : sum;
  }
  return total;
}

Value TfIdf::limit(Value counts) { return node.cast(node.compare<GreaterOp>(counts, node.splatLike(counts, 0)), node.elementType(counts)); }

Value TfIdf::weigh(const Grams &grams, Value counts) {
  if (grams.factors.empty())
    return counts;
  auto type = RankedTensorType::get({static_cast<int64_t>(grams.factors.size())}, node.builder().getF32Type());
  return node.binary<MulOp>(mode == "IDF" ? limit(counts) : counts, node.constant(nn::makeConstantOf<float>(type, grams.factors)));
}

LogicalResult TfIdf::run() {
  Value x = node.input(0);
  if (!read())
    return failure();
  if (node.rank(x) < 1 || node.rank(x) > 2)
    return node.error("the input has rank " + Twine(node.rank(x)) + ", expected 1 or 2");
  AffineExpr width = node.dims(x).back();
  if (!nn::getConstantDim(width) && skips >= mostSymbolicSkips)
    return node.unsupported("max_skip_count of " + Twine(skips) + " over rows of symbolic length", "make the dimension static with --dim");
  AffineExpr batch = node.rank(x) == 1 ? node.number(1) : node.dims(x)[0];
  Type i64 = node.builder().getI64Type();
  // A string that the pool does not have gets a number that no gram has.
  if (nn::isString(node.elementType(x)))
    x = node.make<StringFindOp>(node.type(node.dims(x), i64), x, node.builder().getStrArrayAttr(SmallVector<StringRef>(texts.begin(), texts.end())));
  Value rows = node.reshape(x, {batch, width});
  Value result = node.splat({batch, node.number(resultSize)}, node.builder().getF32Type(), 0);
  for (const Grams &grams : all)
    if (Value counts = count(grams, rows, width)) {
      int64_t number = grams.columns.size();
      counts = weigh(grams, counts);
      Value columns = node.constant(nn::makeConstantOf<int64_t>(RankedTensorType::get({number}, i64), grams.columns));
      columns = node.broadcastTo(columns, node.dims(counts));
      result = node.make<ScatterElementsOp>(result.getType(), result, columns, counts, 1, ScatterReduction::Add);
    }
  if (mode == "IDF" && weights.empty())
    result = limit(result);
  DimExprs dims = node.dims(result);
  return node.failed() ? failure() : node.result(node.rank(x) == 1 ? node.reshape(result, {dims[1]}) : result);
}

static LogicalResult tfIdfVectorizer(Node &node) { return TfIdf(node).run(); }

ArrayRef<Operator> getNgramOperators() {
  static const Operator rows[] = {{"TfIdfVectorizer", 9, Elements::Data, tfIdfVectorizer}};
  return rows;
}

} // namespace kiln::import
