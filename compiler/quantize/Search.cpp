//===- Search.cpp - Which layers stay in f32 -------------------------------===//
#include "compiler/quantize/Search.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace kiln::quantize {

/// How many layers are tried again: each costs a run of all samples.
static constexpr size_t mostTries = 64;

Expected<std::vector<Quality>> measureAlone(size_t layers, Measure measure) {
  std::vector<Quality> alone;
  for (size_t i = 0; i < layers; ++i) {
    std::vector<bool> quantized(layers);
    quantized[i] = true;
    Expected<Quality> quality = measure(quantized);
    if (!quality)
      return quality.takeError();
    alone.push_back(*quality);
  }
  return alone;
}

namespace {

/// One search on its way.
struct LayerSearch {
  size_t layers;
  const Budget &budget;
  Measure measure;
  SearchResult result;
  /// The most harmful first.
  std::vector<size_t> order;

  /// Measures with the first `count` layers of the order left in f32.
  Expected<bool> isEnough(size_t count) {
    std::vector<bool> quantized(layers, true);
    for (size_t layer : ArrayRef(order).take_front(count))
      quantized[layer] = false;
    return tryLayers(quantized);
  }

  /// Keeps the layers if they meet the budget.
  Expected<bool> tryLayers(const std::vector<bool> &quantized) {
    Expected<Quality> quality = measure(quantized);
    if (!quality)
      return quality.takeError();
    bool isMet = budget.isMet(*quality);
    if (isMet) {
      result.isMet = true;
      result.quality = *quality;
      for (size_t i = 0; i < layers; ++i)
        result.left[i] = !quantized[i];
    }
    return isMet;
  }

  void rank();
  Error bisect();
  Error quantizeAgain();
};

} // namespace

void LayerSearch::rank() {
  order.resize(layers);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    const Quality &left = result.alone[a], &right = result.alone[b];
    // The errors decide where as many positions change, and the order of the layers where errors are equal.
    if (budget.minAgreement > 0 && left.agreement != right.agreement)
      return left.agreement < right.agreement;
    return std::make_pair(-left.error, a) < std::make_pair(-right.error, b);
  });
}

Error LayerSearch::bisect() {
  // With `enough` layers left in f32 the budget is met, with `few` it is not.
  size_t few = 0, enough = layers;
  while (enough - few > 1) {
    size_t middle = few + (enough - few) / 2;
    Expected<bool> met = isEnough(middle);
    if (!met)
      return met.takeError();
    (*met ? enough : few) = middle;
  }
  return Error::success();
}

Error LayerSearch::quantizeAgain() {
  size_t tries = 0;
  for (size_t layer : reverse(order)) {
    if (!result.left[layer] || tries == mostTries)
      continue;
    ++tries;
    std::vector<bool> quantized = result.left;
    quantized.flip();
    quantized[layer] = true;
    if (Expected<bool> met = tryLayers(quantized); !met)
      return met.takeError();
  }
  return Error::success();
}

Expected<SearchResult> searchLayers(size_t layers, const Budget &budget, Measure measure) {
  LayerSearch search{layers, budget, measure, {std::vector<bool>(layers, true), {}, {}, false}, {}};
  Expected<std::vector<Quality>> alone = measureAlone(layers, measure);
  if (!alone)
    return alone.takeError();
  search.result.alone = std::move(*alone);
  search.rank();
  Expected<bool> met = search.isEnough(0);
  if (!met)
    return met.takeError();
  if (*met)
    return std::move(search.result);
  if (Error error = search.bisect())
    return std::move(error);
  if (Error error = search.quantizeAgain())
    return std::move(error);
  return std::move(search.result);
}

} // namespace kiln::quantize
