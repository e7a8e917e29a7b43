//===- WeightRounding.cpp - Weights in fewer bits, and the error of that -----===//
#include "passes/graph/WeightRounding.h"
#include "dialects/nn/ConstantData.h"
#include "kiln/half.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

void WeightError::add(double weight, double rounded) {
  double off = std::fabs(weight - rounded);
  squares += off * off;
  power += weight * weight;
  largest = std::max(largest, off);
  top = std::max(top, std::fabs(weight));
}

void WeightError::add(const WeightError &other) {
  squares += other.squares;
  power += other.power;
  largest = std::max(largest, other.largest);
  top = std::max(top, other.top);
}

std::string WeightError::describe() const {
  std::string text;
  double rms = power > 0 ? std::sqrt(squares / power) : 0, most = top > 0 ? largest / top : 0;
  llvm::raw_string_ostream(text) << llvm::format("rms error %.2g of the weights' rms, largest %.2g of the largest weight", rms, most);
  return text;
}

static std::string findNotFinite(ArrayRef<float> numbers) {
  return llvm::all_of(numbers, [](float number) { return std::isfinite(number); }) ? "" : "not all of its numbers are finite";
}

RoundedWeights roundToHalves(ElementsAttr weights, Type half) {
  ConstantData data(weights);
  ArrayRef<float> numbers = data.as<float>();
  RoundedWeights result{findNotFinite(numbers)};
  std::vector<uint16_t> words(numbers.size());
  for (size_t i = 0; i < numbers.size() && result.fault.empty(); ++i) {
    words[i] = half.isBF16() ? f32_to_bf16(numbers[i]) : f32_to_f16(numbers[i]);
    float rounded = half.isBF16() ? bf16_to_f32(words[i]) : f16_to_f32(words[i]);
    if (!std::isfinite(rounded))
      llvm::raw_string_ostream(result.fault) << llvm::format("%g is beyond the largest number of ", static_cast<double>(numbers[i])) << half;
    result.error.add(numbers[i], rounded);
  }
  if (result.fault.empty())
    result.value = makeConstantOf<uint16_t>(RankedTensorType::get(cast<RankedTensorType>(weights.getType()).getShape(), half), words);
  return result;
}

RoundedWeights roundToBytes(ElementsAttr weights, unsigned axis, ArrayRef<int64_t> scaleShape) {
  constexpr float highest = 127;
  auto type = cast<RankedTensorType>(weights.getType());
  ConstantData data(weights);
  ArrayRef<float> numbers = data.as<float>();
  RoundedWeights result{findNotFinite(numbers)};
  if (!result.fault.empty())
    return result;
  int64_t channels = type.getDimSize(axis), inner = 1;
  for (int64_t i = axis + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  std::vector<float> scales(channels, 0);
  auto channelOf = [&](int64_t i) { return i / inner % channels; };
  for (int64_t i = 0, count = data.numElements(); i < count; ++i)
    scales[channelOf(i)] = std::max(scales[channelOf(i)], std::fabs(numbers[i]));
  // A channel of zeros, or of numbers so small that their scale would be zero, is stored as zeros.
  for (float &scale : scales)
    scale = scale / highest;
  std::vector<int8_t> bytes(numbers.size());
  for (int64_t i = 0, count = data.numElements(); i < count; ++i) {
    float scale = scales[channelOf(i)], number = scale > 0 ? std::nearbyint(numbers[i] / scale) : 0;
    bytes[i] = static_cast<int8_t>(std::max(-highest, std::min(highest, number)));
    result.error.add(numbers[i], static_cast<double>(bytes[i]) * scale);
  }
  Builder b(weights.getContext());
  result.value = makeConstantOf<int8_t>(RankedTensorType::get(type.getShape(), b.getI8Type()), bytes);
  result.scale = makeConstantOf<float>(RankedTensorType::get(scaleShape, b.getF32Type()), scales);
  return result;
}

/// The scale of a block: that which makes -8, the number without a counterpart, of the one of the largest magnitude.
static float chooseBlockScale(ArrayRef<float> block) {
  float extreme = 0;
  for (float number : block)
    if (std::fabs(number) > std::fabs(extreme))
      extreme = number;
  return extreme / -8;
}

/// Whether f16 holds all of these numbers with all of its bits.
static bool fitsNormalHalves(ArrayRef<float> numbers) {
  constexpr float smallest = 0x1p-14f, largest = 65504;
  return llvm::all_of(numbers, [](float number) { return number == 0 || (std::fabs(number) >= smallest && std::fabs(number) <= largest); });
}

RoundedWeights roundToBlocks(ElementsAttr weights, unsigned sumAxis, int64_t block) {
  auto type = cast<RankedTensorType>(weights.getType());
  ConstantData data(weights);
  ArrayRef<float> numbers = data.as<float>();
  RoundedWeights result{findNotFinite(numbers)};
  if (!result.fault.empty())
    return result;
  int64_t depth = type.getDimSize(sumAxis), columns = type.getDimSize(1 - sumAxis), blocks = depth / block;
  auto at = [&](int64_t n, int64_t k) { return numbers[sumAxis == 0 ? k * columns + n : n * depth + k]; };
  std::vector<float> scales(columns * blocks), part(block);
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t k = 0; k < block; ++k)
        part[k] = at(n, b * block + k);
      scales[n * blocks + b] = chooseBlockScale(part);
    }
  bool areHalves = fitsNormalHalves(scales);
  std::vector<uint16_t> words;
  for (float &scale : scales)
    if (areHalves)
      words.push_back(f32_to_f16(scale)), scale = f16_to_f32(words.back());
  BlockWeights packed{columns, blocks, block, /*bits=*/4, std::vector<uint8_t>(columns * depth)};
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t k = 0; k < depth; ++k) {
      float scale = scales[n * blocks + k / block], number = scale != 0 ? std::nearbyint(at(n, k) / scale) : 0;
      int stored = static_cast<int>(std::max(-8.0f, std::min(7.0f, number)));
      packed.numbers[n * depth + k] = static_cast<uint8_t>(stored + 8);
      result.error.add(at(n, k), static_cast<double>(stored) * scale);
    }
  Builder b(weights.getContext());
  result.value = packed.makeWeight(weights.getContext());
  SmallVector<int64_t> shape{columns, blocks};
  result.scale = areHalves ? makeConstantOf<uint16_t>(RankedTensorType::get(shape, b.getF16Type()), words)
                           : makeConstantOf<float>(RankedTensorType::get(shape, b.getF32Type()), scales);
  return result;
}

} // namespace kiln
