// erf and erfc: an odd polynomial below 1; above, 1 - erfc, where erfc is e to a polynomial (float) or e^-x^2 times one.
#ifndef KILN_MATH_ERF_H
#define KILN_MATH_ERF_H

#include "kiln/math/exp.h"

namespace kiln {

// e^x for x in a normal result's range.
template <typename V> KILN_INLINE V expBounded(V x) {
  Rounded<V> n = roundProduct(x, Real<V>::log2E);
  return expReduced(reduceByLn2(x, n)) * powerOfTwo<V>(n.integer);
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

// erfc(x) for 1 <= x <= 10.1 (float), 27.3 (double), down to 0. The power is taken of half the exponent and squared, so that it underflows gradually.
template <typename V> KILN_INLINE V erfcLarge(V x) {
  if constexpr (isSame<lane<V>, float>) {
    V half = expBounded(poly(x - 2.0f, -2.682470560e+00f, -2.209080219e+00f, -4.618758261e-01f, -8.233394474e-03f, 1.786409528e-03f,
                             -3.656898043e-04f, 6.665939873e-05f, -1.005202739e-05f, 1.151219294e-06f, -9.090572917e-08f,
                             4.323849279e-09f, -9.231898579e-11f));
    return half * half;
  } else {
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
}

// 1 - erf(x), with the digits of small results: a relative error of (6 + 3 x^2) 2^-24 (float), (80 + 2 x^2) 2^-53 (double) at most.
template <typename V> KILN_INLINE V erfc(V x) {
  V magnitude = abs(x);
  V small = lane<V>(1) - copysign(fma(magnitude, erfSmall(magnitude * magnitude), magnitude), x);
  V large = erfcLarge(atLeast(atMost(magnitude, isSame<lane<V>, float> ? lane<V>(10.1) : lane<V>(27.3)), 1));
  return select(magnitude < lane<V>(1), small, select(x < lane<V>(0), lane<V>(2) - large, large));
}

} // namespace kiln

#endif // KILN_MATH_ERF_H
