//===- SizeProposal.cpp - Sizes with which a model runs -----------------------===//
#include "tools/kiln/SizeProposal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

namespace {

/// What a dimension is likely to count.
enum class Meaning { Batch, Side, Length, Other };

/// Gives the open dimensions sizes one after the other, and takes back those that leave a later one without.
class Proposer {
public:
  Proposer(const LoadedModel &model, const NamedSizes &known);
  /// First with a few likely sizes for each dimension, then with many.
  bool solve() { return meetsDemands(none) && (solve(0, /*isThorough=*/false) || solve(0, /*isThorough=*/true)); }
  const std::vector<int64_t> &getSizes() const { return sizes; }
  Meaning findMeaning(int symbol) const;

private:
  static constexpr int64_t none = -1;
  /// Expressions that are evaluated before the search gives up.
  static constexpr int mostTries = 8000;

  std::vector<int64_t> listCandidates(int symbol, bool isThorough) const;
  void addSolutions(int symbol, std::vector<int64_t> &candidates) const;
  std::vector<int> listOpen(const kiln_demand_info &demand) const;
  bool meetsDemands(int symbol);
  bool solve(size_t next, bool isThorough);

  const LoadedModel &model;
  std::vector<int64_t> sizes;
  std::vector<int> open;
  int tries = 0;
};

} // namespace

Proposer::Proposer(const LoadedModel &model, const NamedSizes &known) : model(model), sizes(model.getInfo().num_symbols, none) {
  for (int symbol = 0; symbol < model.getInfo().num_symbols - model.getInfo().num_computed; ++symbol) {
    auto found = known.find(model.getInfo().symbols[symbol].name);
    if (found == known.end())
      open.push_back(symbol);
    else
      sizes[symbol] = found->second;
  }
}

/// By the name, and by the place among the dimensions of an input that looks like a picture, or that has a batch in front.
Meaning Proposer::findMeaning(int symbol) const {
  std::string name = StringRef(model.getInfo().symbols[symbol].name).lower();
  auto has = [&](StringRef word) { return StringRef(name).contains(word); };
  if (has("batch"))
    return Meaning::Batch;
  if (has("height") || has("width"))
    return Meaning::Side;
  if (has("seq") || has("length") || has("time") || has("token") || has("past"))
    return Meaning::Length;
  for (const kiln_tensor_info &input : model.getInputs()) {
    if (!input.dim_symbols)
      continue;
    ArrayRef<int32_t> symbols(input.dim_symbols, size_t(input.rank));
    auto isChannels = [&](size_t axis) { return input.rank == 4 && is_contained({1, 3, 4}, input.dims[axis]); };
    const auto *place = llvm::find(symbols, symbol);
    if (place == symbols.end())
      continue;
    size_t axis = size_t(place - symbols.begin());
    if (axis == 0 && input.rank > 1)
      return Meaning::Batch;
    if ((isChannels(1) && axis >= 2) || (isChannels(3) && axis >= 1))
      return Meaning::Side;
    return input.rank > 1 ? Meaning::Length : Meaning::Other;
  }
  return Meaning::Other;
}

std::vector<int64_t> Proposer::listCandidates(int symbol, bool isThorough) const {
  std::vector<int64_t> candidates;
  switch (findMeaning(symbol)) {
  case Meaning::Batch:
    candidates = {1};
    break;
  case Meaning::Side:
    candidates = {224, 256, 320, 640, 64, 32};
    break;
  case Meaning::Length:
    candidates = {128, 64, 32, 16};
    break;
  case Meaning::Other:
    candidates = {16};
  }
  const kiln_symbol_info &bounds = model.getInfo().symbols[symbol];
  addSolutions(symbol, candidates);
  for (int64_t size = 1; isThorough && size <= 64; ++size)
    candidates.push_back(size);
  for (int64_t size = 96; isThorough && size <= 1024; size += 32)
    candidates.push_back(size);
  for (int64_t size : {int64_t(8), int64_t(4), bounds.min, bounds.max})
    candidates.push_back(size);
  llvm::erase_if(candidates, [&](int64_t size) { return size < bounds.min || size > bounds.max; });
  return candidates;
}

std::vector<int> Proposer::listOpen(const kiln_demand_info &demand) const {
  std::vector<int> result;
  for (int32_t symbol : ArrayRef(demand.symbols, size_t(demand.num_symbols)))
    if (sizes[symbol] == none)
      result.push_back(symbol);
  return result;
}

/// An equation in which only this symbol is open, such as total == past + length, says its size: in front of all others.
void Proposer::addSolutions(int symbol, std::vector<int64_t> &candidates) const {
  for (const kiln_demand_info &demand : model.getDemands()) {
    if (demand.is_least || listOpen(demand) != std::vector<int>{symbol} || demand.num_symbols < 2)
      continue;
    std::vector<int64_t> guess = sizes;
    auto at = [&](int64_t size) {
      guess[symbol] = size;
      return model.evaluateDemand(demand, guess);
    };
    std::optional<int64_t> one = at(1), two = at(2);
    if (one && two && *one != *two && *one % (*one - *two) == 0)
      candidates.insert(candidates.begin(), 1 + *one / (*one - *two));
  }
}

/// Of those that are about symbols with sizes, and about this one if it is any.
bool Proposer::meetsDemands(int symbol) {
  return all_of(model.getDemands(), [&](const kiln_demand_info &demand) {
    bool isAbout = symbol == none || is_contained(ArrayRef(demand.symbols, size_t(demand.num_symbols)), symbol);
    if (!isAbout || !listOpen(demand).empty())
      return true;
    ++tries;
    std::optional<int64_t> number = model.evaluateDemand(demand, sizes);
    return number && LoadedModel::isMet(demand, *number);
  });
}

bool Proposer::solve(size_t next, bool isThorough) {
  if (next == open.size())
    return true;
  for (int64_t candidate : listCandidates(open[next], isThorough)) {
    sizes[open[next]] = candidate;
    if (tries < mostTries && meetsDemands(open[next]) && solve(next + 1, isThorough))
      return true;
    sizes[open[next]] = none;
  }
  return false;
}

NamedSizes proposeSizes(const LoadedModel &model, const NamedSizes &known) {
  Proposer proposer(model, known);
  if (!proposer.solve())
    return {};
  NamedSizes result;
  for (auto [symbol, size] : enumerate(proposer.getSizes()))
    if (std::string name = model.getInfo().symbols[symbol].name; size >= 0 && !known.count(name))
      result[name] = size;
  return result;
}

bool areSingleBatches(const LoadedModel &model, const NamedSizes &sizes) {
  Proposer proposer(model, {});
  auto isBatch = [&](const auto &size) {
    for (int symbol = 0; symbol < model.getInfo().num_symbols; ++symbol)
      if (size.first == model.getInfo().symbols[symbol].name)
        return size.second == 1 && proposer.findMeaning(symbol) == Meaning::Batch;
    return false;
  };
  return !sizes.empty() && all_of(sizes, isBatch);
}

} // namespace kiln
