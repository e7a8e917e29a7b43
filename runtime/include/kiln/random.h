// Random numbers of the Mersenne Twister MT19937: those of numpy.random.RandomState(seed), of any length from the start.
#ifndef KILN_RANDOM_H
#define KILN_RANDOM_H

#include "kiln/math.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

class MersenneTwister {
public:
  explicit MersenneTwister(uint32_t seed) {
    for (uint32_t i = 0; i < words; ++i) {
      state[i] = seed;
      seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
    }
  }

  uint32_t next() {
    if (position == words)
      refill();
    uint32_t x = state[position++];
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680u;
    x ^= (x << 15) & 0xefc60000u;
    return x ^ (x >> 18);
  }

  // In [0, 1), with 53 random bits.
  double uniform() {
    const uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

private:
  static constexpr uint32_t words = 624, shift = 397;
  void refill() {
    for (uint32_t i = 0; i < words; ++i) {
      const uint32_t joined = (state[i] & 0x80000000u) | (state[(i + 1) % words] & 0x7fffffffu);
      state[i] = state[(i + shift) % words] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0dfu : 0);
    }
    position = 0;
  }

  uint32_t state[words];
  uint32_t position = words;
};

// Of mean 0 and deviation 1, by the polar method: two from each point in the unit circle.
class NormalNumbers {
public:
  explicit NormalNumbers(uint32_t seed) : source(seed) {}

  double next() {
    if (hasKept) {
      hasKept = false;
      return kept;
    }
    double x, y, square;
    do {
      x = 2.0 * source.uniform() - 1.0;
      y = 2.0 * source.uniform() - 1.0;
      // Rounded products on every target: one that is fused could accept another point, and all later numbers were others.
      volatile double xx = x * x, yy = y * y;
      square = xx + yy;
    } while (square >= 1.0 || square == 0.0);
    const double factor = sqrt(-2.0 * log(square) / square);
    kept = factor * x;
    hasKept = true;
    return factor * y;
  }

private:
  MersenneTwister source;
  double kept = 0;
  bool hasKept = false;
};

} // namespace

// The seed's low 32 bits count.
template <typename T> static inline void random_uniform(T *out, int64_t count, int64_t seed, double low, double high) {
  MersenneTwister source{uint32_t(seed)};
  const double range = high - low;
  for (int64_t i = 0; i < count; ++i)
    out[i] = T(low + range * source.uniform());
}

template <typename T> static inline void random_normal(T *out, int64_t count, int64_t seed, double mean, double deviation) {
  NormalNumbers source{uint32_t(seed)};
  for (int64_t i = 0; i < count; ++i)
    out[i] = T(mean + deviation * source.next());
}

} // namespace kiln

#endif // KILN_RANDOM_H
