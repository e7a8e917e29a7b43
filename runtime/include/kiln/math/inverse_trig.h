// asin, acos, atan.
#ifndef KILN_MATH_INVERSE_TRIG_H
#define KILN_MATH_INVERSE_TRIG_H

#include "kiln/math/real.h"

namespace kiln {

// pi/2 in two words.
template <typename V>
inline constexpr lane<V> halfPi = isSame<lane<V>, float> ? lane<V>(1.5707963705062866) : lane<V>(0x1.921fb54442d18p+0);
template <typename V>
inline constexpr lane<V> halfPiLow = isSame<lane<V>, float> ? lane<V>(-4.371138828673793e-08)
                                                            : lane<V>(0x1.1a62633145c07p-54);

// asin(x) for 0 <= x <= 1/2, z = x^2.
template <typename V> KILN_INLINE V asinReduced(V x, V z) {
  V p;
  if constexpr (isSame<lane<V>, float>)
    p = poly(z, 1.666665971e-01f, 7.500521094e-02f, 4.451363534e-02f, 3.183605522e-02f, 1.432918943e-02f,
             3.767312691e-02f);
  else
    p = poly(z, 1.66666666666667629e-01, 7.49999999997012778e-02, 4.46428571752567754e-02, 3.03819426767521598e-02,
             2.23722158625655441e-02, 1.73515963106864179e-02, 1.39810084484220248e-02, 1.13973784800321006e-02,
             1.07888267605522094e-02, 3.67410893234784448e-03, 2.17858337674603567e-02, -2.11097257908291237e-02,
             3.26976777481762793e-02);
  return fma(p, z * x, x);
}

// asin(|x|) up to 1/2; above, asin(sqrt((1 - |x|) / 2)), of which asin(|x|) = pi/2 - 2 times this. NaN above 1.
template <typename V> KILN_INLINE V asinOfPart(V magnitude) {
  auto large = magnitude > lane<V>(0.5);
  V z = select(large, (lane<V>(1) - magnitude) * lane<V>(0.5), magnitude * magnitude);
  return asinReduced(select(large, sqrt(z), magnitude), z);
}

template <typename V> KILN_INLINE V asin(V x) {
  V magnitude = abs(x), part = asinOfPart(magnitude);
  V large = halfPi<V> - (part + part - halfPiLow<V>);
  return copysign(select(magnitude > lane<V>(0.5), large, part), x);
}

template <typename V> KILN_INLINE V acos(V x) {
  V magnitude = abs(x), part = asinOfPart(magnitude), twice = part + part;
  V beyond = lane<V>(2) * halfPi<V> - (twice - lane<V>(2) * halfPiLow<V>);
  V middle = halfPi<V> - (copysign(part, x) - halfPiLow<V>);
  return select(magnitude > lane<V>(0.5), select(x < lane<V>(0), beyond, twice), middle);
}

// |x| is turned by 0, pi/4 or pi/2 so that the polynomial sees at most tan(pi/8).
template <typename V> KILN_INLINE V atan(V x) {
  V magnitude = abs(x);
  auto large = magnitude > lane<V>(2.414213562373095);
  auto middle = magnitude > lane<V>(0.4142135623730950);
  V over = select(large, broadcast<V>(-1), select(middle, magnitude - lane<V>(1), magnitude));
  V under = select(large, magnitude, select(middle, magnitude + lane<V>(1), broadcast<V>(1)));
  V t = over / under, z = t * t;
  V p;
  if constexpr (isSame<lane<V>, float>)
    p = poly(z, -3.333331645e-01f, 1.999853253e-01f, -1.424451023e-01f, 1.060016602e-01f, -6.092711911e-02f);
  else
    p = poly(z, -3.33333333333331983e-01, 1.99999999999538214e-01, -1.42857142802209652e-01, 1.11111107847024798e-01,
             -9.09089779365193779e-02, 7.69206085104589543e-02, -6.66311118874950703e-02, 5.84794025570615633e-02,
             -5.03952875924461099e-02, 3.80700973055140557e-02, -1.79130918491699626e-02);
  V turn = select(large, broadcast<V>(halfPi<V>), select(middle, broadcast<V>(halfPi<V> / 2), V{}));
  V turnLow = select(large, broadcast<V>(halfPiLow<V>), select(middle, broadcast<V>(halfPiLow<V> / 2), V{}));
  return copysign(turn + (t + fma(p, z * t, turnLow)), x);
}

} // namespace kiln

#endif // KILN_MATH_INVERSE_TRIG_H
