//===- Calibration.h - Ranges of values from samples -----------------------===//
#ifndef KILN_COMPILER_QUANTIZE_CALIBRATION_H
#define KILN_COMPILER_QUANTIZE_CALIBRATION_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace kiln::quantize {

struct Range {
  double low = 0, high = 0;
};

/// The distribution of values that arrive piece by piece, in bounded memory. The width of its bins is a power of two that doubles when the values no longer
/// fit, so that no count is ever divided between two bins.
class Histogram {
public:
  static constexpr int64_t mostBins = 4096;

  /// False if a value is not finite; the values before it are counted.
  bool add(llvm::ArrayRef<float> values);

  int64_t getCount() const { return count; }
  double getMin() const { return least; }
  double getMax() const { return most; }
  double getWidth() const { return width; }
  llvm::ArrayRef<int64_t> getBins() const { return bins; }
  /// Where bin `i` begins.
  double getEdge(size_t bin) const { return double(first + int64_t(bin)) * width; }
  /// The value below which this share of all values lies.
  double getQuantile(double share) const;
  /// The share of the values outside of a range. Values in a bin count as evenly spread over it.
  double getShareOutside(Range range) const;

private:
  void widen(double low, double high);

  int64_t count = 0;
  double least = 0, most = 0, width = 0;
  /// The number of the first bin, counted from zero.
  int64_t first = 0;
  std::vector<int64_t> bins;
};

enum class Calibration { MinMax, Percentile, Entropy, LeastSquares };

/// The range that 8-bit values cover; it contains zero.
/// MinMax: of all values. Percentile: (100 - percent) / 2 percent of the values are left out at each end. Entropy: of the ranges between zero and that of
/// all values, the one whose `levels` steps lose the least information (Kullback-Leibler divergence). LeastSquares: the one whose steps and ends change the
/// values least, by the sum of the squares.
Range chooseRange(const Histogram &histogram, Calibration method, double percent, unsigned levels = 256);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_CALIBRATION_H
