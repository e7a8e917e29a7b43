// sin, cos, tan, for arguments of any size. Float goes through double.
#ifndef KILN_MATH_TRIG_H
#define KILN_MATH_TRIG_H

#include "kiln/math/pi_reduction.h"
#include "kiln/math/wide.h"

namespace kiln {

template <bool Accurate, typename V> KILN_INLINE V sinReduced(V r, V low) {
  V z = r * r;
  if constexpr (Accurate) {
    V p = poly(z, -1.66666666666666324e-01, 8.33333333332247211e-03, -1.98412698298356446e-04, 2.75573136973126378e-06,
               -2.50507584830504815e-08, 1.58967958726809553e-10);
    return r + fma(p, z * r, low);
  } else {
    return fma(poly(z, -1.66666666415270670e-01, 8.33332937414284387e-03, -1.98393310035151546e-04,
                    2.71827453492199328e-06),
               z * r, r);
  }
}
template <bool Accurate, typename V> KILN_INLINE V cosReduced(V r, V low) {
  V z = r * r;
  if constexpr (Accurate) {
    V p = poly(z, 4.16666666666666019e-02, -1.38888888888744565e-03, 2.48015872896528648e-05, -2.75573143938720973e-07,
               2.08757281116630147e-09, -1.13598650449266457e-11);
    V half = z * 0.5, w = 1.0 - half;
    return w + fma(p, z * z, fma(-r, low, (1.0 - w) - half));
  } else {
    return fma(poly(z, 4.16666666226552032e-02, -1.38888837382111665e-03, 2.47995159307843257e-05,
                    -2.72098959745493804e-07),
               z * z, fma(z, -0.5, 1.0));
  }
}

// sin(x + quarter * pi/2)
template <bool Accurate, typename V> KILN_INLINE V sinInQuadrant(V x, int64_t quarter) {
  Quadrant<V> q = reduceByHalfPi<Accurate>(x);
  int_like<V> k = q.k + quarter;
  V value = select((k & 1) != 0, cosReduced<Accurate>(q.r, q.low), sinReduced<Accurate>(q.r, q.low));
  uint_like<V> sign = (bitcast<uint_like<V>>(k) & uint64_t(2)) << uint64_t(62);
  return bitcast<V>(bitsOf(value) ^ sign);
}
template <bool Accurate, typename V> KILN_INLINE V tanOfQuadrant(V x) {
  Quadrant<V> q = reduceByHalfPi<Accurate>(x);
  auto odd = (q.k & 1) != 0;
  V s = sinReduced<Accurate>(q.r, q.low), c = cosReduced<Accurate>(q.r, q.low);
  return select(odd, -c, s) / select(odd, s, c);
}

struct SinOfFloat {
  template <typename V> static KILN_INLINE V apply(V x) { return sinInQuadrant<false>(x, 0); }
};
struct CosOfFloat {
  template <typename V> static KILN_INLINE V apply(V x) { return sinInQuadrant<false>(x, 1); }
};
struct TanOfFloat {
  template <typename V> static KILN_INLINE V apply(V x) { return tanOfQuadrant<false>(x); }
};

template <typename V> KILN_INLINE V sin(V x) {
  V result;
  if constexpr (isSame<lane<V>, float>)
    result = throughDouble<SinOfFloat>(x);
  else
    result = sinInQuadrant<true>(x, 0);
  return select(x == lane<V>(0), x, result);
}
template <typename V> KILN_INLINE V cos(V x) {
  if constexpr (isSame<lane<V>, float>)
    return throughDouble<CosOfFloat>(x);
  else
    return sinInQuadrant<true>(x, 1);
}
template <typename V> KILN_INLINE V tan(V x) {
  V result;
  if constexpr (isSame<lane<V>, float>)
    result = throughDouble<TanOfFloat>(x);
  else
    result = tanOfQuadrant<true>(x);
  return select(x == lane<V>(0), x, result);
}

} // namespace kiln

#endif // KILN_MATH_TRIG_H
