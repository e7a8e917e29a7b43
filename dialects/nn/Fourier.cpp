//===- Fourier.cpp - The stages of a Fourier transform --------------------===//
#include "dialects/nn/Fourier.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

/// Radices with a function of their own are at most this.
static constexpr int64_t usualRadix = 5;

/// Fours, a two in front of them, then odd primes from small to large.
static SmallVector<int32_t> factorize(int64_t length) {
  SmallVector<int32_t> factors;
  for (; length % 4 == 0; length /= 4)
    factors.push_back(4);
  if (length % 2 == 0) {
    factors.insert(factors.begin(), 2);
    length /= 2;
  }
  for (int64_t prime = 3; prime * prime <= length; prime += 2)
    for (; length % prime == 0; length /= prime)
      factors.push_back(static_cast<int32_t>(prime));
  if (length > 1)
    factors.push_back(static_cast<int32_t>(length));
  return factors;
}

/// exp(-2 pi i power / length). Angles stay below an eighth of a turn, where they have all their digits.
static std::pair<double, double> rootOfUnity(int64_t power, int64_t length) {
  int64_t eighths = 8 * (power % length), octant = eighths / length, rest = eighths % length;
  // Even octants count on from a multiple of a quarter, odd ones back to the next.
  double angle = 2 * llvm::numbers::pi * static_cast<double>(octant % 2 ? length - rest : rest) / (8 * static_cast<double>(length));
  double c = std::cos(angle), s = octant % 2 ? -std::sin(angle) : std::sin(angle);
  switch ((octant + 1) / 2 % 4) {
  case 0:
    return {c, -s};
  case 1:
    return {-s, -c};
  case 2:
    return {-c, s};
  default:
    return {s, c};
  }
}

FourierPlan::FourierPlan(int64_t length, bool packs) : length(length), packs(packs), factors(factorize(points())) {}

FourierPlan FourierPlan::of(int64_t length, bool isReal, bool isInverse, bool toReal) {
  return {length, length % 2 == 0 && (toReal || (isReal && !isInverse))};
}

FourierPlan FourierPlan::of(FourierOp op) {
  auto parts = [](RankedTensorType type) { return type.getShape().back(); };
  return of(op.getLength(), parts(op.getInput().getType()) == 1, op.getInverse(), parts(op.getType()) == 1);
}

int64_t FourierPlan::largestUnusual() const {
  int64_t largest = 0;
  for (int64_t radix : factors)
    if (radix > usualRadix)
      largest = std::max(largest, radix);
  return largest;
}

int64_t FourierPlan::tableSize() const {
  int64_t size = packs ? length + 2 : 0, after = points();
  for (int64_t radix : factors) {
    after /= radix;
    size += 2 * (radix - 1) * after + (radix > usualRadix ? 2 * radix : 0);
  }
  return size;
}

SmallVector<double> FourierPlan::table() const {
  SmallVector<double> result;
  auto add = [&](std::pair<double, double> root) { result.append({root.first, root.second}); };
  for (int64_t power = 0; packs && power <= length / 2; ++power)
    add(rootOfUnity(power, length));
  int64_t before = 1, after = points();
  for (int64_t radix : factors) {
    after /= radix;
    for (bool imaginary : {false, true})
      for (int64_t j = 1; j < radix; ++j)
        for (int64_t i = 0; i < after; ++i) {
          auto [re, im] = rootOfUnity(j * before * i, points());
          result.push_back(imaginary ? im : re);
        }
    for (int64_t power = 0; radix > usualRadix && power < radix; ++power)
      add(rootOfUnity(power, radix));
    before *= radix;
  }
  return result;
}
