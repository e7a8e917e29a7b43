// tanh, sinh, cosh and their inverses, through expm1 and log1p, which keep small numbers accurate.
#ifndef KILN_MATH_HYPERBOLIC_H
#define KILN_MATH_HYPERBOLIC_H

#include "kiln/math/exp.h"
#include "kiln/math/log.h"

namespace kiln {

// t / (t + 2) with t = e^2|x| - 1; 1 to the last bit from the bound on.
template <typename V> KILN_INLINE V tanh(V x) {
  V bounded = atMost(abs(x), isSame<lane<V>, float> ? 10 : 20);
  V t = expm1Bounded(bounded + bounded);
  return copysign(t / (t + lane<V>(2)), x);
}

template <typename V> KILN_INLINE V sinh(V x) {
  V magnitude = abs(x);
  V t = expm1Bounded(atMost(magnitude, 1));
  V small = (t + t / (t + lane<V>(1))) * lane<V>(0.5);
  V half = expShifted(magnitude, -1); // e^|x| / 2 overflows no earlier than the result
  V large = half - lane<V>(0.25) / half;
  return copysign(select(magnitude < lane<V>(1), small, large), x);
}

template <typename V> KILN_INLINE V cosh(V x) {
  V half = expShifted(abs(x), -1);
  return half + lane<V>(0.25) / half;
}

// log(2 |x|), which the inverses become when 1 is lost beside x^2.
template <typename V> KILN_INLINE V logOfDouble(V magnitude) {
  Logarithm<V> split = splitNormal(magnitude);
  split.exponent += lane<V>(1);
  return logLimits(magnitude, logOfSplit(split, V{}));
}
template <typename V> inline constexpr lane<V> hugeForInverse = isSame<lane<V>, float> ? 0x1p13f : 0x1p28;

template <typename V> KILN_INLINE V asinh(V x) {
  V magnitude = abs(x);
  auto huge = magnitude > hugeForInverse<V>;
  V bounded = select(huge, broadcast<V>(1), magnitude);
  V square = bounded * bounded;
  V small = log1p(bounded + square / (sqrt(fma(bounded, bounded, lane<V>(1))) + lane<V>(1)));
  return copysign(select(huge, logOfDouble(magnitude), small), x);
}

// NaN below 1.
template <typename V> KILN_INLINE V acosh(V x) {
  auto huge = x > hugeForInverse<V>;
  V t = select(huge, broadcast<V>(1), x) - lane<V>(1);
  V small = log1p(t + sqrt(fma(t, t, t + t)));
  return select(x < lane<V>(1), notANumber<V>(), select(huge, logOfDouble(x), small));
}

// NaN outside [-1, 1], infinity at its ends.
template <typename V> KILN_INLINE V atanh(V x) {
  V magnitude = abs(x);
  V result = log1p((magnitude + magnitude) / (lane<V>(1) - magnitude)) * lane<V>(0.5);
  return copysign(select(magnitude > lane<V>(1), notANumber<V>(), result), x);
}

} // namespace kiln

#endif // KILN_MATH_HYPERBOLIC_H
