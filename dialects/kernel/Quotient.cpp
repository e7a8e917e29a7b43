//===- Quotient.cpp - Divisions that are products --------------------------===//
#include "dialects/kernel/Quotient.h"

#include <cmath>

namespace kiln::kernel {

/// Divisors for which no number near the range of the integers, no product with it and no inverse is subnormal or infinite.
static constexpr float smallestDivisor = 0x1p-60f, largestDivisor = 0x1p60f;
/// So many numbers on either side of a place where the nearest integer changes are tried.
static constexpr int neighbours = 4;

bool isDividedByProduct(float divisor, unsigned bits) {
  if (!(divisor >= smallestDivisor && divisor <= largestDivisor))
    return false;
  double inverse = 1.0 / divisor;
  float high = static_cast<float>(inverse), low = static_cast<float>(inverse - high);
  // Both forms change their sign with the number.
  for (float half = 0.5f; half < std::ldexp(1.0f, static_cast<int>(bits)); half += 1) {
    float x = half * divisor;
    for (int i = 0; i < neighbours; ++i)
      x = std::nextafter(x, 0.0f);
    for (int i = 0; i <= 2 * neighbours; ++i, x = std::nextafter(x, INFINITY))
      if (std::nearbyint(x / divisor) != std::nearbyint(std::fma(x, high, x * low)))
        return false;
  }
  return true;
}

} // namespace kiln::kernel
