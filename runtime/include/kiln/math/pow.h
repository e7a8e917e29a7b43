// pow, as C and ONNX define it. Float goes through double; double carries log2(x) in two words.
#ifndef KILN_MATH_POW_H
#define KILN_MATH_POW_H

#include "kiln/math/exp.h"
#include "kiln/math/log.h"
#include "kiln/math/round.h"
#include "kiln/math/wide.h"

namespace kiln {

template <typename V> struct TwoWords {
  V high;
  V low;
};

// The upper half of a double: products of two such halves are exact, whether or not they are fused with a sum.
template <typename V> KILN_INLINE V upperHalf(V x) { return bitcast<V>(bitsOf(x) & (~uint64_t(0) << 27)); }

// log2(x) for positive finite x, to about 2^-66. With s = (m-1)/(m+1) in two words,
// ln m = 2/3 s (3 + s^2 + r), where r collects the series from s^4 on.
template <typename V> KILN_INLINE TwoWords<V> log2TwoWords(V x) {
  constexpr double scaleHigh = 0x1.ec709d0000000p-1, scaleLow = 0x1.87407fae93f83p-26, scaleAll = 0x1.ec709dc3a03fdp-1;
  Logarithm<V> split = splitPositive(x);
  V f = split.f, under = f + 2.0;
  V s = f / under, sHigh = upperHalf(s);
  V underHigh = upperHalf(under), underLow = f - (underHigh - 2.0);
  V sLow = (f - sHigh * underHigh - sHigh * underLow) / under;
  V z = s * s, zHigh = sHigh * sHigh;
  V r = fma(poly(z, 6.00000000000034062e-01, 4.28571428551381639e-01, 3.33333337819797793e-01, 2.72726763596405686e-01,
                 2.30801451231464061e-01, 1.98850070722098426e-01, 1.97965916391970337e-01),
            z * z, sLow * (sHigh + s));
  V three = upperHalf(V(3.0 + zHigh + r)), rest = r - ((three - 3.0) - zHigh);
  V u = sHigh * three, v = fma(sLow, three, rest * s);
  V sum = upperHalf(V(u + v)), sumLow = v - (sum - u);
  V productHigh = scaleHigh * sum;
  V productLow = fma(sum, scaleLow, sumLow * scaleAll);
  V high = upperHalf(V(split.exponent + productHigh + productLow));
  return {high, productLow - ((high - split.exponent) - productHigh)};
}

// x^y for positive finite x.
template <typename V> KILN_INLINE V powPositive(V x, V y) {
  TwoWords<V> l = log2TwoWords(x);
  V bounded = atLeast(atMost(y, 0x1p100), -0x1p100); // keeps the products finite; the result is 0 or infinity anyway
  V yHigh = upperHalf(bounded);
  V high = yHigh * l.high, low = fma(bounded - yHigh, l.high, bounded * l.low);
  V total = high + low;
  V clamped = atLeast(atMost(total, 1025), -1080);
  low = select(clamped == total, low - (total - high), V{});
  Rounded<V> n = roundShifted(clamped + Real<V>::shifter);
  V fraction = clamped - n.real;
  return scale(expReduced(fma(fraction, Real<V>::ln2, low * Real<V>::ln2)), n);
}

struct PowOfFloat {
  template <typename V> static KILN_INLINE V apply(V x, V y) { return exp2(V(y * log2(x))); }
};

template <typename V> KILN_INLINE V pow(V x, V y) {
  using T = lane<V>;
  V magnitude = abs(x), result;
  if constexpr (isSame<T, float>) {
    result = throughDouble<PowOfFloat>(magnitude, y);
  } else {
    V inside = select(magnitude > T(0), select(magnitude < infinity<V>(), magnitude, broadcast<V>(1)), broadcast<V>(1));
    result = select(y == y, powPositive(inside, y), y);
    result = select(magnitude == T(0), select(y < T(0), infinity<V>(), V{}), result);
    result = select(magnitude == infinity<V>(), select(y < T(0), V{}, infinity<V>()), result);
    result = select(x == x, select(y == y, result, y), x);
  }
  result = select(magnitude == T(1), select(y == y, broadcast<V>(1), y), result);
  V whole = trunc(y), halved = y * T(0.5);
  auto isOdd = (whole == y) & (trunc(halved) != halved);
  result = select(isOdd, copysign(result, x), result);
  auto hasNoRoot = (x < T(0)) & (x > -infinity<V>()) & (whole != y);
  result = select(hasNoRoot, notANumber<V>(), result);
  return select((y == T(0)) | (x == T(1)), broadcast<V>(1), result);
}

} // namespace kiln

#endif // KILN_MATH_POW_H
