// x = k pi/2 + r, |r| <= pi/4, for every double x.
#ifndef KILN_MATH_PI_REDUCTION_H
#define KILN_MATH_PI_REDUCTION_H

#include "kiln/math/real.h"

namespace kiln {

template <typename V> struct Quadrant {
  V r;
  V low; // r + low is the remainder
  int_like<V> k;
};

// 2/pi in words of 32 bits, after two words of zeros.
inline constexpr uint32_t twoOverPi[] = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

// Upper 64 bits of a product of 64-bit numbers.
KILN_INLINE uint64_t multiplyHigh(uint64_t a, uint64_t b) {
  uint64_t al = uint32_t(a), ah = a >> 32, bl = uint32_t(b), bh = b >> 32;
  uint64_t middle = ah * bl + (al * bl >> 32);
  uint64_t other = al * bh + uint32_t(middle);
  return ah * bh + (middle >> 32) + (other >> 32);
}

// Payne and Hanek's reduction of a finite |x| >= 2^19: multiplies the mantissa by those 192 bits of 2/pi whose
// product matters modulo 4. The words are read from bit `start` on, so the product is a fraction of 190 bits.
static __attribute__((noinline, unused)) Quadrant<double> reduceHuge(double x) {
  uint64_t word = bitsOf(x) & ~signBit<double>;
  uint64_t mantissa = (word & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int start = int(word >> 52) - 1075 - 2 + 64; // the exponent of the mantissa's last bit, less 2, plus the zeros
  uint32_t product[6] = {}; // least significant word first
  for (int half = 0; half < 2; ++half) {
    uint64_t factor = half ? mantissa >> 32 : uint32_t(mantissa), carry = 0;
    for (int i = half; i < 6; ++i) {
      int bit = start + 32 * (5 - (i - half));
      uint64_t pair = uint64_t(twoOverPi[bit / 32]) << 32 | twoOverPi[bit / 32 + 1];
      uint64_t sum = uint32_t(pair >> (32 - bit % 32)) * factor + product[i] + carry;
      product[i] = uint32_t(sum);
      carry = sum >> 32;
    }
  }
  int64_t k = product[5] >> 30;
  // The fraction, left-justified in 128 bits; more than one half means the next quadrant, from below.
  uint64_t top = (uint64_t(product[5]) << 34) | (uint64_t(product[4]) << 2) | (product[3] >> 30);
  uint64_t next = (uint64_t(product[3]) << 34) | (uint64_t(product[2]) << 2) | (product[1] >> 30);
  bool below = top >> 63;
  if (below) {
    ++k;
    top = ~top;
    next = ~next;
  }
  // No double is closer to a multiple of pi/2 than 2^-62 of it: top is not 0.
  int zeros = __builtin_clzll(top | 1);
  if (zeros)
    top = top << zeros | next >> (64 - zeros);
  int exponent = -1 - zeros;
  uint64_t scaled = multiplyHigh(top, 0xc90fdaa22168c234u); // times pi/4
  uint64_t lead = scaled & ~uint64_t(0x7ff);
  double unit = powerOfTwo<double>(exponent - 63 + 1);
  double sign = (below ? -1.0 : 1.0) * unit;
  double r = double(lead) * sign, low = double(scaled - lead) * sign;
  return __builtin_signbit(x) ? Quadrant<double>{-r, -low, -k} : Quadrant<double>{r, low, k};
}

// Replaces the lanes whose |x| exceeds the limit.
template <typename V> KILN_INLINE void reduceHugeLanes(V x, double limit, Quadrant<V> &q) {
  double xs[lanes<V>], r[lanes<V>], low[lanes<V>];
  int64_t k[lanes<V>];
  store(xs, x);
  store(r, q.r);
  store(low, q.low);
  store(k, q.k);
  for (int i = 0; i < lanes<V>; ++i) {
    if (!(abs(xs[i]) >= limit) || xs[i] - xs[i] != 0) // in range, or not finite
      continue;
    Quadrant<double> one = reduceHuge(xs[i]);
    r[i] = one.r;
    low[i] = one.low;
    k[i] = one.k;
  }
  q = {load<V>(r), load<V>(low), load<int_like<V>>(k)};
}

// a - b in two words.
template <typename V> KILN_INLINE V subtract(V a, V b, V &lost) {
  V difference = a - b, back = difference - a;
  lost = lost + ((a - (difference - back)) - (b + back));
  return difference;
}

// Steps with parts of pi/2 short enough that k times a part is exact (Cody and Waite). Infinity and NaN give NaN.
// With Accurate, good for a double result; without, for a float one.
template <bool Accurate, typename V> KILN_INLINE Quadrant<V> reduceByHalfPi(V x) {
  constexpr double limit = Accurate ? 0x1p19 : 0x1p25;
  Rounded<V> k = roundProduct(x, 0x1.45f306dc9c883p-1);
  Quadrant<V> q{x, V{}, k.integer};
  if constexpr (Accurate) {
    q.r = x - k.real * 0x1.921fb54400000p+0;
    q.r = subtract(q.r, V(k.real * 0x1.0b4611a600000p-34), q.low);
    q.r = subtract(q.r, V(k.real * 0x1.3198a2e000000p-69), q.low);
    q.low = fma(k.real, -0x1.b839a252049c1p-104, q.low);
  } else {
    q.r = x - k.real * 0x1.921fb54000000p+0;
    q.r = q.r - k.real * 0x1.10b4600000000p-30;
    q.r = fma(k.real, -0x1.1a62633145c07p-54, q.r);
  }
  auto huge = abs(x) >= limit;
  if (__builtin_expect(any(huge), 0))
    reduceHugeLanes(x, limit, q);
  return q;
}

} // namespace kiln

#endif // KILN_MATH_PI_REDUCTION_H
