// log, log2, log1p: x = 2^e * m with m between sqrt(1/2) and sqrt(2), then a polynomial in m - 1 (float) or in
// (m - 1) / (m + 1) (double).
#ifndef KILN_MATH_LOG_H
#define KILN_MATH_LOG_H

#include "kiln/math/real.h"

namespace kiln {

template <typename V> struct Logarithm {
  V exponent; // an integer
  V f;        // m - 1, exact
};

// Splits a positive normal number.
template <typename V> KILN_INLINE Logarithm<V> splitNormal(V x) {
  using Word = lane<uint_like<V>>;
  constexpr int bits = Real<V>::mantissaBits;
  const Word sqrtHalf = bitsOf(isSame<lane<V>, float> ? lane<V>(0x1.6a09e6p-1) : lane<V>(0x1.6a09e667f3bcdp-1));
  uint_like<V> word = bitsOf(x) - sqrtHalf;
  V m = bitcast<V>((word & ((Word(1) << bits) - 1)) + sqrtHalf);
  int_like<V> exponent = bitcast<int_like<V>>(word) >> lane<int_like<V>>(bits);
  return {fromSmallInt<V>(exponent), m - lane<V>(1)};
}
// Subnormal numbers, too.
template <typename V> KILN_INLINE Logarithm<V> splitPositive(V x) {
  auto tiny = x < Real<V>::minNormal;
  Logarithm<V> split = splitNormal(select(tiny, x * lane<V>(0x1p54), x));
  split.exponent -= select(tiny, broadcast<V>(54), V{});
  return split;
}

// log(1 + f) - f for the f of a split, plus a small `rest` added where it loses least.
template <typename V> KILN_INLINE V logTail(V f, V rest) {
  V square = f * f;
  if constexpr (isSame<lane<V>, float>) {
    V p = poly(f, 3.333331347e-01f, -2.500016987e-01f, 2.000222504e-01f, -1.665921360e-01f, 1.420942396e-01f,
               -1.255215704e-01f, 1.211221516e-01f, -1.090391204e-01f, 5.317085236e-02f);
    return fma(square, lane<V>(-0.5), fma(p, f * square, rest));
  } else {
    V s = f / (f + lane<V>(2)), z = s * s;
    V q = poly(z, 6.66666666666673513e-01, 3.99999999994093525e-01, 2.85714287436866110e-01, 2.22221984289549257e-01,
               1.81835723566575513e-01, 1.53138321061859289e-01, 1.47982595280800627e-01);
    V half = square * lane<V>(0.5);
    return fma(s, fma(q, z, half), rest) - half;
  }
}
template <typename V> KILN_INLINE V logOfSplit(Logarithm<V> split, V rest) {
  V tail = logTail(split.f, fma(split.exponent, Real<V>::ln2Low, rest));
  return fma(split.exponent, Real<V>::ln2High, split.f + tail);
}

// NaN below 0, -infinity at 0; infinity and NaN stay.
template <typename V> KILN_INLINE V logLimits(V x, V result) {
  V outside = select(x == lane<V>(0), -infinity<V>(), notANumber<V>());
  return select(x > lane<V>(0), select(x < infinity<V>(), result, x), outside);
}

template <typename V> KILN_INLINE V log(V x) { return logLimits(x, logOfSplit(splitPositive(x), V{})); }

template <typename V> KILN_INLINE V log2(V x) {
  Logarithm<V> split = splitPositive(x);
  V mantissa = split.f + logTail(split.f, V{});
  return logLimits(x, fma(mantissa, Real<V>::log2E, split.exponent));
}

// log(1 + x) from the rounded sum u and what its rounding lost.
template <typename V> KILN_INLINE V log1p(V x) {
  V u = x + lane<V>(1);
  V lost = select(u > lane<V>(1), select(x > lane<V>(1), lane<V>(1) - (u - x), x - (u - lane<V>(1))),
                  x - (u - lane<V>(1)));
  V result = logLimits(u, logOfSplit(splitNormal(u), lost / u));
  return select(x == lane<V>(0), x, result);
}

} // namespace kiln

#endif // KILN_MATH_LOG_H
