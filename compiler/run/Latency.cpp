//===- Latency.cpp - The times of some runs ----------------------------------===//
#include "compiler/run/Latency.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

namespace kiln {

/// What half of the runs take longer on a machine that does something else. Frequencies and caches alone make a few hundredths.
static constexpr double noisyPart = 0.1;
/// Shorter runs differ by what the clock and a cache miss take.
static constexpr double shortestMilliseconds = 0.01;

double findMedian(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 0 : (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

Latency summarize(std::vector<double> times) {
  llvm::sort(times);
  size_t last = times.size() - 1;
  double p95 = times[std::min(last, size_t(0.95 * double(times.size())))];
  return {findMedian(times), times.front(), p95, times.size()};
}

std::string describeNoise(const Latency &latency) {
  if (latency.noise() <= noisyPart || latency.min < shortestMilliseconds)
    return "";
  return "the machine is noisy: half of the runs took " + std::to_string(std::lround(latency.noise() * 100)) +
         " % longer than the fastest, or more; compare minima, and measure again when nothing else runs";
}

} // namespace kiln
