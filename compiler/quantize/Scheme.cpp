//===- Scheme.cpp - Scales, zero points and rounded weights ----------------===//
#include "compiler/quantize/Scheme.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kiln::quantize {

/// The smallest scale: its reciprocal and its product with another one are still normal numbers.
static constexpr float leastScale = 0x1p-60f;

Parameters chooseParameters(Range range, ActivationType type, bool isSymmetric) {
  Parameters result;
  result.low = type == ActivationType::U8 ? 0 : -128;
  result.high = result.low + 255;
  double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  if (isSymmetric) {
    result.zeroPoint = result.low + 128;
    result.scale = std::max(float(std::max(-low, high) / 127), leastScale);
    return result;
  }
  result.scale = std::max(float((high - low) / 255), leastScale);
  result.zeroPoint = result.low + int(std::clamp(std::nearbyint(-low / double(result.scale)), 0.0, 255.0));
  return result;
}

WeightRows toRows(ArrayRef<float> values, ArrayRef<int64_t> dims, size_t axis) {
  size_t outer = 1, channels = size_t(dims[axis]), inner = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    (i < axis ? outer : i > axis ? inner : channels) *= i == axis ? 1 : size_t(dims[i]);
  WeightRows rows{channels, outer * inner, std::vector<float>(values.size())};
  for (size_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < channels; ++c)
      for (size_t i = 0; i < inner; ++i)
        rows.values[(c * outer + o) * inner + i] = values[(o * channels + c) * inner + i];
  return rows;
}

float QuantizedRows::getScale(const WeightScheme &scheme, size_t row, size_t column) const {
  return scales[scheme.isPerTensor ? 0 : row * scheme.getBlocks(columns) + scheme.getBlockOf(column)];
}

WeightRows QuantizedRows::dequantize(const WeightScheme &scheme) const {
  WeightRows result{rows, columns, std::vector<float>(values.size())};
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      result.row(r)[c] = float(values[r * columns + c]) * getScale(scheme, r, c);
  return result;
}

int roundWeight(float weight, float scale, const WeightScheme &scheme) {
  return int(std::clamp(std::nearbyint(weight / scale), float(scheme.getLow()), float(scheme.getHigh())));
}

float chooseWeightScale(ArrayRef<float> weights, const WeightScheme &scheme, float least) {
  float largest = 0;
  for (float weight : weights)
    largest = std::max(largest, std::fabs(weight));
  float full = std::max({largest / float(scheme.getHigh()), least, leastScale});
  if (scheme.bits == 8 || largest == 0)
    return full;
  // With few steps it pays to clip the largest weights, or to give them the one code that only negative numbers have.
  float best = full;
  double bestError = HUGE_VAL;
  for (int step = 40; step >= 20; --step) {
    float scale = full * float(step) / 40;
    double error = 0;
    for (float weight : weights) {
      double difference = double(weight) - double(roundWeight(weight, scale, scheme)) * scale;
      error += difference * difference;
    }
    if (error < bestError) {
      bestError = error;
      best = scale;
    }
  }
  return best;
}

QuantizedRows quantizeRows(const WeightRows &weights, const WeightScheme &scheme, ArrayRef<float> least) {
  QuantizedRows result{weights.rows, weights.columns, std::vector<int8_t>(weights.values.size()), {}};
  size_t blocks = scheme.getBlocks(weights.columns), size = scheme.block ? scheme.block : weights.columns;
  if (scheme.isPerTensor) {
    float bound = least.empty() ? 0 : *std::max_element(least.begin(), least.end());
    result.scales.push_back(chooseWeightScale(weights.values, scheme, bound));
  }
  for (size_t r = 0; r < weights.rows; ++r) {
    ArrayRef<float> row(weights.row(r), weights.columns);
    for (size_t b = 0; b < blocks && !scheme.isPerTensor; ++b)
      result.scales.push_back(chooseWeightScale(row.slice(b * size, std::min(size, row.size() - b * size)), scheme, least.empty() ? 0 : least[r]));
    for (size_t c = 0; c < row.size(); ++c)
      result.values[r * row.size() + c] = int8_t(roundWeight(row[c], result.getScale(scheme, r, c), scheme));
  }
  return result;
}

double getRelativeError(ArrayRef<float> exact, ArrayRef<float> rounded) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    double difference = double(exact[i]) - double(rounded[i]);
    error += difference * difference;
    norm += double(exact[i]) * exact[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : 0;
}

} // namespace kiln::quantize
