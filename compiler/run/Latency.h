//===- Latency.h - The times of some runs ------------------------------------===//
#ifndef KILN_COMPILER_RUN_LATENCY_H
#define KILN_COMPILER_RUN_LATENCY_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

struct Latency {
  double median = 0, min = 0, p95 = 0; // milliseconds
  size_t runs = 0;
  /// Of one run, where an emulator counts them.
  std::optional<int64_t> instructions = std::nullopt;

  /// By which part of the fastest run the median run takes longer.
  double noise() const { return min > 0 ? median / min - 1 : 0; }
};

/// Of times in milliseconds, of which there is one at least.
Latency summarize(std::vector<double> times);

/// Half of the values are not above it; 0 if there are none.
double findMedian(std::vector<double> values);

/// A sentence if something else kept the machine busy: half of the runs took much longer than the fastest. Otherwise empty.
std::string describeNoise(const Latency &latency);

} // namespace kiln

#endif // KILN_COMPILER_RUN_LATENCY_H
