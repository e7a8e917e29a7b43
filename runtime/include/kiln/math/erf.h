// erf: an odd polynomial below 1; above, 1 - erfc. erfc is a power of e or 2 whose exponent is a polynomial (float), or e^-x^2 times one.
#ifndef KILN_MATH_ERF_H
#define KILN_MATH_ERF_H

#include "kiln/math/exp.h"

namespace kiln {

// e^x for x in a normal result's range.
template <typename V> KILN_INLINE V expBounded(V x) {
  auto [n, r] = reduceByLn2(x);
  return expReduced(r) * powerOfTwo<V>(n.integer);
}

// erf(x) / x - 1, z = x^2 <= 1.
template <typename V> KILN_INLINE V erfSmall(V z) {
  if constexpr (isSame<lane<V>, float>)
    return poly(z, 1.283791661e-01f, -3.761262894e-01f, 1.128361821e-01f, -2.685512602e-02f, 5.190733820e-03f,
                -8.030761383e-04f, 7.920368080e-05f);
  else
    return poly(z, 1.28379167095512586e-01, -3.76126389031841091e-01, 1.12837916709720640e-01, -2.68661706482809133e-02,
                5.22397765568301253e-03, -8.54832873512676177e-04, 1.20553943223567688e-04, -1.49270945992705688e-05,
                1.64847250480386981e-06, -1.65982733470069956e-07, 1.63033127528577039e-08, -1.76310687467824862e-09,
                1.63831814241245692e-10);
}

// erf(x) for 1 <= x <= 3.95 (float), 6 (double).
template <typename V> KILN_INLINE V erfLarge(V x) {
  if constexpr (isSame<lane<V>, float>) {
    return lane<V>(1) - expBounded(-poly(x, 3.327120794e-04f, 1.127122402e+00f, 6.380937099e-01f, 1.031478867e-01f,
                                      -2.185631357e-02f, 2.951894887e-03f, -1.867817045e-04f));
  } else {
    V t = (x - 2.0) / (x + 2.0);
    V g = poly(t, 2.55395676310505748e-01, -4.27185847413956266e-01, 2.41658194242493962e-01, -7.89785810163426416e-02,
               3.73289239434971762e-03, 6.99746174765040856e-03, -8.47142545912463185e-04, -9.81974692038714353e-04,
               4.35426639406960594e-05, 1.74281273172118288e-04, 2.75259718825581268e-05, -2.68359785801205074e-05,
               -1.28175627588574494e-05);
    return fma(-expBounded(-(x * x)), g, broadcast<V>(1));
  }
}

template <typename V> KILN_INLINE V erf(V x) {
  V magnitude = abs(x);
  V small = fma(magnitude, erfSmall(magnitude * magnitude), magnitude);
  V bounded = atLeast(atMost(magnitude, isSame<lane<V>, float> ? lane<V>(3.95) : 6), 1);
  V large = erfLarge(bounded);
  return copysign(select(magnitude < lane<V>(1), small, large), x);
}

// log2(erfc(x)) / x for 0 <= x <= 10.1. Even and odd powers apart are two chains of half the length.
template <typename V> KILN_INLINE V erfcExponent(V x) {
  V t = x - 3.0f, square = t * t;
  V even = poly(square, -5.155404950e+00f, -2.274335732e-02f, -6.886810575e-04f, -1.610389113e-05f, -2.239139486e-07f, 1.537713260e-08f,
                5.513053582e-10f, 1.093018645e-12f);
  V odd = poly(square, -1.312996834e+00f, 4.017726180e-03f, 1.108009138e-04f, 2.106649481e-06f, -1.040624406e-08f, -4.097384069e-09f,
               -3.831033970e-11f);
  return fma(odd, t, even);
}

// erfc(x) for 0 <= x <= 10.1, down to 0. The exponent is not rounded before its fraction is taken; 2^f has a relative error of 2e-9.
template <typename V> KILN_INLINE V erfcOfFloat(V x) {
  V factor = erfcExponent(x);
  Rounded<V> n = roundShifted(fma(x, factor, Real<V>::shifter));
  V f = fma(x, factor, -n.real);
  return scale(fma(f, poly(f, 6.931472029e-01f, 2.402264791e-01f, 5.550332471e-02f, 9.618437358e-03f, 1.339887445e-03f, 1.535336180e-04f), lane<V>(1)), n);
}

// erfc(x) for 1 <= x <= 27.3, down to 0. The power is taken of half the exponent and squared, so that it underflows gradually.
template <typename V> KILN_INLINE V erfcLarge(V x) {
  V t = (x - 2.0) / (x + 2.0);
  V g = poly(t, 2.55395676310505970e-01, -4.27185847413966424e-01, 2.41658194242460628e-01, -7.89785810145963441e-02,
             3.73289240013759778e-03, 6.99746170582272922e-03, -8.47143030903499124e-04, -9.81977023266743763e-04,
             4.35523534130681237e-05, 1.74370274136455289e-04, 2.75312632295212265e-05, -2.76662623678937300e-05,
             -1.37942858612801143e-05, 1.44640255748461285e-06, 2.99829314444164919e-06, 2.46939111663639955e-06,
             -1.16109218548959194e-06, -7.84477095988480770e-07, 3.61973779979545642e-07);
  V square = x * x;
  V half = expBounded(square * -0.5);
  // What the square's rounding lost.
  return half * fma(fma(x, x, -square), -g, g) * half;
}

// 1 - erf(x), with the digits of small results: a relative error of (7 + 4 x^2) 2^-24 (float), (80 + 2 x^2) 2^-53 (double) at most.
template <typename V> KILN_INLINE V erfc(V x) {
  V magnitude = abs(x);
  if constexpr (isSame<lane<V>, float>) {
    V large = erfcOfFloat(atMost(magnitude, 10.1f));
    return select(x < 0.0f, 2.0f - large, large);
  } else {
    V small = 1.0 - copysign(fma(magnitude, erfSmall(magnitude * magnitude), magnitude), x);
    V large = erfcLarge(atLeast(atMost(magnitude, 27.3), 1));
    return select(magnitude < 1.0, small, select(x < 0.0, 2.0 - large, large));
  }
}

} // namespace kiln

#endif // KILN_MATH_ERF_H
