//===- Calibration.cpp - Ranges of values from samples ---------------------===//
#include "compiler/quantize/Calibration.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln::quantize {

/// The smallest bins: below them all values are alike.
static constexpr double leastWidth = 0x1p-60;

/// Pairs of bins become one; an odd first bin has no neighbour before it.
static void mergePairs(std::vector<int64_t> &bins, int64_t &first) {
  int64_t merged = first >> 1;
  std::vector<int64_t> wider(bins.size() / 2 + 1);
  for (size_t i = 0; i < bins.size(); ++i)
    wider[size_t(((first + int64_t(i)) >> 1) - merged)] += bins[i];
  while (!wider.empty() && wider.back() == 0)
    wider.pop_back();
  bins = std::move(wider);
  first = merged;
}

void Histogram::widen(double low, double high) {
  if (width == 0) {
    width = leastWidth;
    double reach = std::max(high - low, std::max(std::fabs(low), std::fabs(high)) * 0x1p-20);
    while (reach / width > double(mostBins) / 2 - 2)
      width *= 2;
    first = int64_t(std::floor(low / width));
  }
  for (;;) {
    // Doubles, because a new value may be far from the bins so far.
    double begin = std::min(double(first), std::floor(low / width));
    double end = std::max(double(first) + double(bins.size()), std::floor(high / width) + 1);
    if (end - begin <= double(mostBins)) {
      bins.insert(bins.begin(), size_t(double(first) - begin), 0);
      bins.resize(size_t(end - begin));
      first = int64_t(begin);
      return;
    }
    mergePairs(bins, first);
    width *= 2;
  }
}

bool Histogram::add(ArrayRef<float> values) {
  if (values.empty())
    return true;
  double low = values[0], high = values[0];
  for (float value : values) {
    if (!std::isfinite(value))
      return false;
    low = std::min<double>(low, value);
    high = std::max<double>(high, value);
  }
  least = count ? std::min(least, low) : low;
  most = count ? std::max(most, high) : high;
  widen(low, high);
  double inverse = 1 / width;
  for (float value : values)
    ++bins[size_t(double(value) * inverse - double(first))];
  count += int64_t(values.size());
  return true;
}

double Histogram::getQuantile(double share) const {
  double target = share * double(count), before = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    double here = double(bins[i]);
    if (here > 0 && before + here >= target)
      return std::clamp(getEdge(i) + width * std::clamp((target - before) / here, 0.0, 1.0), least, most);
    before += here;
  }
  return most;
}

double Histogram::getShareOutside(Range range) const {
  if (count == 0 || (range.low <= least && most <= range.high))
    return 0;
  double outside = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    double low = std::max(getEdge(i), range.low), high = std::min(getEdge(i + 1), range.high);
    outside += double(bins[i]) * (1 - std::clamp((high - low) / width, 0.0, 1.0));
  }
  return outside / double(count);
}

/// The divergence of the bins [begin, end) from what is left of them in `levels` steps: values outside go to the first and the last bin, as they saturate.
static double measureLoss(ArrayRef<int64_t> bins, size_t begin, size_t end, unsigned levels) {
  size_t length = end - begin;
  std::vector<double> reference(bins.begin() + begin, bins.begin() + end);
  std::vector<double> kept(length, 0);
  for (unsigned level = 0; level < levels; ++level) {
    size_t from = length * level / levels, to = length * (level + 1) / levels;
    double sum = 0, used = 0;
    for (size_t i = from; i < to; ++i) {
      sum += reference[i];
      used += reference[i] > 0;
    }
    for (size_t i = from; i < to; ++i)
      kept[i] = reference[i] > 0 ? sum / used : 0;
  }
  for (size_t i = 0; i < begin; ++i)
    reference.front() += double(bins[i]);
  for (size_t i = end; i < bins.size(); ++i)
    reference.back() += double(bins[i]);
  double total = 0, keptTotal = 0, loss = 0;
  for (size_t i = 0; i < length; ++i) {
    total += reference[i];
    keptTotal += kept[i];
  }
  if (keptTotal == 0)
    return HUGE_VAL;
  // A bin that only saturated values fill has no counterpart; a small share stands for it.
  constexpr double absent = 1e-4;
  for (size_t i = 0; i < length; ++i)
    if (double p = reference[i] / total; p > 0)
      loss += p * std::log(p / (kept[i] > 0 ? kept[i] / keptTotal : absent / double(length)));
  return loss;
}

static Range findLeastLoss(const Histogram &histogram, Range full, unsigned levels) {
  constexpr int candidates = 128;
  std::vector<int64_t> bins = histogram.getBins();
  double width = histogram.getWidth();
  // The counts of nearly empty bins are chance, and a clipped tail would seem to lose nothing: fewer bins, or the whole range.
  constexpr int64_t leastPerBin = 8;
  int64_t first = std::llround(histogram.getEdge(0) / width);
  while (int64_t(bins.size()) > int64_t(levels) * 4 && histogram.getCount() < leastPerBin * int64_t(bins.size())) {
    mergePairs(bins, first);
    width *= 2;
  }
  if (histogram.getCount() < leastPerBin * int64_t(bins.size()))
    return full;
  // The bin that holds a value.
  auto toBin = [&](double value) {
    return std::clamp<int64_t>(int64_t(std::floor(value / width)) - first, 0, int64_t(bins.size()) - 1);
  };
  Range best = full;
  double bestLoss = HUGE_VAL;
  for (int i = candidates; i >= 1; --i) {
    Range range{full.low * i / candidates, full.high * i / candidates};
    int64_t begin = toBin(range.low), end = toBin(range.high) + 1;
    // With no more bins than steps nothing is lost, which says nothing.
    if (end - begin < int64_t(levels))
      break;
    double loss = measureLoss(bins, size_t(begin), size_t(end), levels);
    if (loss < bestLoss) {
      bestLoss = loss;
      best = range;
    }
  }
  return best;
}

/// The sum of the squared errors of all values, as if each lay in the middle of its bin.
static double sumSquares(const Histogram &histogram, Range range, unsigned levels) {
  double step = (range.high - range.low) / (levels - 1), sum = 0;
  if (step <= 0)
    return HUGE_VAL;
  for (auto [i, count] : enumerate(histogram.getBins())) {
    if (count == 0)
      continue;
    double value = histogram.getEdge(i) + histogram.getWidth() / 2;
    double stored = std::clamp(std::nearbyint(value / step), std::nearbyint(range.low / step), std::nearbyint(range.high / step)) * step;
    sum += double(count) * (value - stored) * (value - stored);
  }
  return sum;
}

/// One end after the other is drawn towards zero, because outliers are mostly on one side.
static Range findLeastSquares(const Histogram &histogram, Range full, unsigned levels) {
  constexpr int candidates = 64, rounds = 2;
  Range best = full;
  double least = sumSquares(histogram, full, levels);
  for (int round = 0; round < rounds; ++round)
    for (double Range::*end : {&Range::high, &Range::low})
      for (int i = candidates - 1; i >= 1 && full.*end != 0; --i) {
        Range range = best;
        range.*end = full.*end * i / candidates;
        if (double sum = sumSquares(histogram, range, levels); sum < least) {
          least = sum;
          best = range;
        }
      }
  return best;
}

Range chooseRange(const Histogram &histogram, Calibration method, double percent, unsigned levels) {
  Range full{std::min(histogram.getMin(), 0.0), std::max(histogram.getMax(), 0.0)};
  if (method == Calibration::Percentile) {
    double tail = (1 - percent / 100) / 2;
    return {std::min(histogram.getQuantile(tail), 0.0), std::max(histogram.getQuantile(1 - tail), 0.0)};
  }
  if (method == Calibration::LeastSquares)
    return findLeastSquares(histogram, full, levels);
  return method == Calibration::Entropy ? findLeastLoss(histogram, full, levels) : full;
}

} // namespace kiln::quantize
