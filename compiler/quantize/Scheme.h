//===- Scheme.h - Scales, zero points and rounded weights ------------------===//
#ifndef KILN_COMPILER_QUANTIZE_SCHEME_H
#define KILN_COMPILER_QUANTIZE_SCHEME_H

#include "compiler/quantize/Calibration.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace kiln::quantize {

enum class ActivationType { U8, S8 };

/// real = (stored - zeroPoint) * scale.
struct Parameters {
  float scale = 1;
  int zeroPoint = 0, low = 0, high = 255;

  float dequantize(int stored) const { return float(stored - zeroPoint) * scale; }
  /// The values that are represented.
  Range getRange() const { return {dequantize(low), dequantize(high)}; }
};

/// Zero is represented exactly. Symmetric: the zero point is in the middle.
Parameters chooseParameters(Range range, ActivationType type, bool isSymmetric);

/// Weights as rows: row r holds what is multiplied for output channel r.
struct WeightRows {
  size_t rows = 0, columns = 0;
  std::vector<float> values;

  float *row(size_t r) { return values.data() + r * columns; }
  const float *row(size_t r) const { return values.data() + r * columns; }
};

/// The rows along `axis` of a dense tensor, and back.
WeightRows toRows(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, size_t axis);
template <typename T> std::vector<T> fromRows(llvm::ArrayRef<T> rows, llvm::ArrayRef<int64_t> dims, size_t axis) {
  size_t outer = 1, channels = size_t(dims[axis]), inner = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    (i < axis ? outer : i > axis ? inner : channels) *= i == axis ? 1 : size_t(dims[i]);
  std::vector<T> values(rows.size());
  for (size_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < channels; ++c)
      for (size_t i = 0; i < inner; ++i)
        values[(o * channels + c) * inner + i] = rows[(c * outer + o) * inner + i];
  return values;
}

/// How weights are stored: symmetric integers of 8 or 4 bits, with a scale for each row, for each block of a row, or one for all.
struct WeightScheme {
  unsigned bits = 8;
  /// Columns with one scale; 0 means all.
  size_t block = 0;
  bool isPerTensor = false;

  int getHigh() const { return (1 << (bits - 1)) - 1; }
  /// -128 is not used, so that products of 8 bits can be negated; four bits need every code.
  int getLow() const { return bits == 8 ? -127 : -(1 << (bits - 1)); }
  size_t getBlocks(size_t columns) const { return block ? (columns + block - 1) / block : 1; }
  size_t getBlockOf(size_t column) const { return block ? column / block : 0; }
};

struct QuantizedRows {
  size_t rows = 0, columns = 0;
  std::vector<int8_t> values;
  /// [row][block]; one element with `isPerTensor`.
  std::vector<float> scales;

  float getScale(const WeightScheme &scheme, size_t row, size_t column) const;
  WeightRows dequantize(const WeightScheme &scheme) const;
};

/// The scale for these weights. For four bits it is the one with the least squared error. `least` is a lower bound.
float chooseWeightScale(llvm::ArrayRef<float> weights, const WeightScheme &scheme, float least = 0);
int roundWeight(float weight, float scale, const WeightScheme &scheme);

/// Rounds to the nearest. `least`: lower bounds of the rows' scales, or empty.
QuantizedRows quantizeRows(const WeightRows &weights, const WeightScheme &scheme, llvm::ArrayRef<float> least = {});

/// rms(a - b) / rms(a).
double getRelativeError(llvm::ArrayRef<float> exact, llvm::ArrayRef<float> rounded);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_SCHEME_H
