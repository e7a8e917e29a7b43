// Discrete Fourier transforms of any length by stages of mixed radix, each of which reads one array and writes the other in order.
//
// A stage of radix r behind stages whose radices multiply to `before` works on `after` = n / (before * r) neighbours at a time:
// point i + after * (j + r * k) goes to i + after * (k + before * j), times the root of unity j * before * i of n. No product is fused with
// a sum, so each row has the same bits whatever the target, and whether it is one lane of a vector or a vector goes along it.
#ifndef KILN_RADIX_H
#define KILN_RADIX_H

#include "kiln/order.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

template <typename V> struct Complex {
  V re, im;
};
template <typename V> KILN_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) { return {a.re + b.re, a.im + b.im}; }
template <typename V> KILN_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) { return {a.re - b.re, a.im - b.im}; }
template <typename V> KILN_INLINE Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re)};
}
template <typename V> KILN_INLINE Complex<V> scaled(Complex<V> a, lane<V> by) { return {rounded(a.re * by), rounded(a.im * by)}; }
// Times -i and i.
template <typename V> KILN_INLINE Complex<V> turn_back(Complex<V> a) { return {a.im, -a.re}; }
template <typename V> KILN_INLINE Complex<V> turn(Complex<V> a) { return {-a.im, a.re}; }

// Transforms of R points in place.
template <typename V> KILN_INLINE void transform(Complex<V> (&x)[2]) {
  const Complex<V> a = x[0];
  x[0] = a + x[1], x[1] = a - x[1];
}
template <typename V> KILN_INLINE void transform(Complex<V> (&x)[3]) {
  using T = lane<V>;
  const Complex<V> sum = x[1] + x[2], difference = x[1] - x[2];
  const Complex<V> a = x[0] + scaled(sum, T(-0.5)), b = turn(scaled(difference, T(-0.86602540378443864676)));
  x[0] = x[0] + sum, x[1] = a + b, x[2] = a - b;
}
template <typename V> KILN_INLINE void transform(Complex<V> (&x)[4]) {
  const Complex<V> even = x[0] + x[2], difference = x[0] - x[2], odd = x[1] + x[3], turned = turn_back(x[1] - x[3]);
  x[0] = even + odd, x[1] = difference + turned, x[2] = even - odd, x[3] = difference - turned;
}
template <typename V> KILN_INLINE void transform(Complex<V> (&x)[5]) {
  using T = lane<V>;
  constexpr T c1 = T(0.30901699437494742410), s1 = T(-0.95105651629515357212), c2 = T(-0.80901699437494742410),
              s2 = T(-0.58778525229247312917);
  const Complex<V> t1 = x[1] + x[4], t4 = x[1] - x[4], t2 = x[2] + x[3], t3 = x[2] - x[3];
  const Complex<V> a1 = x[0] + scaled(t1, c1) + scaled(t2, c2), b1 = turn(scaled(t4, s1) + scaled(t3, s2));
  const Complex<V> a2 = x[0] + scaled(t1, c2) + scaled(t2, c1), b2 = turn(scaled(t4, s2) + scaled(t3, -s1));
  x[0] = x[0] + t1 + t2, x[1] = a1 + b1, x[4] = a1 - b1, x[2] = a2 + b2, x[3] = a2 - b2;
}

// One stage. Points are `unit` elements apart, imaginary parts `plane` elements behind the real ones.
template <typename T> struct FourierStage {
  T *from, *to, *spare;
  const T *twiddles; // real parts of point j of neighbour i at (j - 1) * after + i, then imaginary parts; then all roots of unity of an unusual radix
  int64_t unit, plane, radix, before, after;

  template <typename V> KILN_INLINE Complex<V> load(int64_t i, int64_t j, int64_t k) const {
    const T *p = from + (i + after * (j + radix * k)) * unit;
    return {kiln::load<V>(p), kiln::load<V>(p + plane)};
  }
  template <typename V> KILN_INLINE void store(int64_t i, int64_t k, int64_t j, Complex<V> x) const {
    T *p = to + (i + after * (k + before * j)) * unit;
    kiln::store(p, x.re), kiln::store(p + plane, x.im);
  }
  // For the rows of all lanes, or for lanes along the transform.
  template <bool Along, typename V> KILN_INLINE Complex<V> twiddle(int64_t i, int64_t j) const {
    const T *re = twiddles + (j - 1) * after + i, *im = re + (radix - 1) * after;
    if constexpr (Along)
      return {kiln::load<V>(re), kiln::load<V>(im)};
    else
      return {broadcast<V>(*re), broadcast<V>(*im)};
  }
};

// Neighbour i of group k; a vector along the transform has the ones behind it, too.
template <int R, bool Along, typename V, typename T> KILN_INLINE void stage_at(const FourierStage<T> &s, int64_t i, int64_t k) {
  Complex<V> x[R];
  each<R>([&](int j) __attribute__((always_inline)) { x[j] = s.template load<V>(i, j, k); });
  transform(x);
  each<R>([&](int j) __attribute__((always_inline)) { s.store(i, k, j, i && j ? x[j] * s.template twiddle<Along, V>(i, j) : x[j]); });
}

// The same for any odd radix: points j and radix - j share their products.
template <bool Along, typename V, typename T> KILN_INLINE void any_stage_at(const FourierStage<T> &s, int64_t i, int64_t k) {
  const int64_t half = s.radix / 2;
  const T *roots = s.twiddles + 2 * (s.radix - 1) * s.after;
  constexpr int64_t width = lanes<V>;
  T *spare = s.spare;
  auto put = [&](int64_t at, Complex<V> x) { store(spare + 2 * at * width, x.re), store(spare + (2 * at + 1) * width, x.im); };
  auto get = [&](int64_t at) { return Complex<V>{load<V>(spare + 2 * at * width), load<V>(spare + (2 * at + 1) * width)}; };
  auto finish = [&](int64_t j, Complex<V> x) { s.store(i, k, j, i ? x * s.template twiddle<Along, V>(i, j) : x); };
  const Complex<V> first = s.template load<V>(i, 0, k);
  Complex<V> total = first;
  for (int64_t j = 1; j <= half; ++j) {
    const Complex<V> a = s.template load<V>(i, j, k), b = s.template load<V>(i, s.radix - j, k);
    put(2 * j - 2, a + b), put(2 * j - 1, a - b);
    total = total + (a + b);
  }
  s.store(i, k, 0, total);
  for (int64_t u = 1; u <= half; ++u) {
    Complex<V> a = first, b{};
    for (int64_t j = 1, power = u; j <= half; ++j, power = power + u < s.radix ? power + u : power + u - s.radix)
      a = a + scaled(get(2 * j - 2), roots[2 * power]), b = b + scaled(get(2 * j - 1), roots[2 * power + 1]);
    finish(u, a + turn(b)), finish(s.radix - u, a - turn(b));
  }
}

template <int R, bool Along, typename V, typename T> KILN_INLINE void stage_step(const FourierStage<T> &s, int64_t i, int64_t k) {
  if constexpr (R == 0)
    any_stage_at<Along, V>(s, i, k);
  else
    stage_at<R, Along, V>(s, i, k);
}

template <int R, int W, typename T> void run_stage(const FourierStage<T> &s) {
  using V = vec<T, W>;
  const bool along = s.unit == 1;
  for (int64_t k = 0; k < s.before; ++k) {
    if (!along) {
      for (int64_t i = 0; i < s.after; ++i)
        stage_step<R, false, V>(s, i, k);
      continue;
    }
    stage_step<R, true, T>(s, 0, k);
    int64_t i = 1;
    for (; i + W <= s.after; i += W)
      stage_step<R, true, V>(s, i, k);
    for (; i < s.after; ++i)
      stage_step<R, true, T>(s, i, k);
  }
}

} // namespace

} // namespace kiln

#endif // KILN_RADIX_H
