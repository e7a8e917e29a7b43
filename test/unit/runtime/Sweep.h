// Comparing the mathematical functions of the kernel headers with the C library's in higher precision.
#ifndef KILN_TEST_RUNTIME_SWEEP_H
#define KILN_TEST_RUNTIME_SWEEP_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace sweep {

template <typename T> constexpr int mantissaBits = std::numeric_limits<T>::digits - 1;

// The distance between `got` and `want` in units of the last place of a T at `want`. Infinite when one is NaN or
// when the signs of two zeros differ. An overflow counts as the next power of two.
template <typename T, typename Wide> double ulpError(T got, Wide want) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want) ? 0 : wrong;
  if (want == 0 && got == 0)
    return std::signbit(want) == std::signbit(got) ? 0 : wrong;
  if (std::isinf(want))
    return std::isinf(got) && std::signbit(want) == std::signbit(got) ? 0 : wrong;
  int exponent = want == 0 ? std::numeric_limits<T>::min_exponent - 1 : std::ilogb(want);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent - 1);
  Wide ulp = std::ldexp(Wide(1), exponent - mantissaBits<T>);
  if (std::isinf(got)) {
    Wide limit = std::ldexp(Wide(1), std::numeric_limits<T>::max_exponent - 1) * 2;
    return std::signbit(want) != std::signbit(got) ? wrong : double((limit - std::fabs(want)) / ulp);
  }
  return double(std::fabs(Wide(got) - want) / ulp);
}

inline float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

struct Worst {
  double ulp = 0;
  float at = 0;
  uint64_t widthMismatches = 0; // lanes whose bits differ from the scalar function's
  float mismatchAt = 0;
};

struct Function {
  const char *name;
  double bound; // ulp
  float (*scalar)(float);
  void (*vectors)(const float *in, float *out4, float *out8, float *out16); // 16 numbers in, and out of each width
  double (*reference)(double);
  double least; // true values below may become 0
};
extern const Function functions[];
extern const int numFunctions;
const Function *find(const char *name);

// Every stride-th of the 2^32 floats.
Worst run(const Function &function, uint32_t stride);

} // namespace sweep

#endif // KILN_TEST_RUNTIME_SWEEP_H
