// Rounding to integers, and fmod. Plain arithmetic on CPUs without rounding instructions; same bits either way.
#ifndef KILN_MATH_ROUND_H
#define KILN_MATH_ROUND_H

#include "kiln/math/real.h"

#if defined(__clang__) && (defined(__SSE4_1__) || defined(__aarch64__) || defined(__wasm__))
#define KILN_NATIVE_ROUNDING 1
#else
#define KILN_NATIVE_ROUNDING 0
#endif

namespace kiln {

// To the nearest integer, halves to the even one.
template <typename V> KILN_INLINE V roundeven(V x) {
#if KILN_NATIVE_ROUNDING
  return __builtin_elementwise_roundeven(x);
#else
  const lane<V> limit = Real<V>::shifter / lane<V>(1.5); // from here on every number is an integer
  V magnitude = abs(x);
  V rounded = (magnitude + limit) - limit;
  return copysign(select(magnitude < limit, rounded, x), x);
#endif
}
template <typename V> KILN_INLINE V floor(V x) {
#if KILN_NATIVE_ROUNDING
  return __builtin_elementwise_floor(x);
#else
  V near = roundeven(x);
  return copysign(select(near > x, near - lane<V>(1), near), x);
#endif
}
template <typename V> KILN_INLINE V ceil(V x) {
#if KILN_NATIVE_ROUNDING
  return __builtin_elementwise_ceil(x);
#else
  V near = roundeven(x);
  return copysign(select(near < x, near + lane<V>(1), near), x);
#endif
}
template <typename V> KILN_INLINE V trunc(V x) {
#if KILN_NATIVE_ROUNDING
  return __builtin_elementwise_trunc(x);
#else
  return copysign(floor(abs(x)), x);
#endif
}
// To the nearest integer, halves away from zero.
template <typename V> KILN_INLINE V round(V x) {
  V whole = trunc(x);
  V rest = abs(x - whole);
  return copysign(select(rest >= lane<V>(0.5), abs(whole) + lane<V>(1), abs(whole)), x);
}

// A finite nonzero magnitude as mantissa * 2^exponent.
template <typename T> struct Parts {
  uint64_t mantissa;
  int exponent;
};
template <typename T> KILN_INLINE Parts<T> partsOf(T magnitude) {
  constexpr int bits = Real<T>::mantissaBits;
  uint64_t word = bitsOf(magnitude);
  int exponent = int(word >> bits);
  uint64_t mantissa = word & ((uint64_t(1) << bits) - 1);
  return exponent ? Parts<T>{mantissa | uint64_t(1) << bits, exponent} : Parts<T>{mantissa, 1};
}

// x - y * trunc(x / y), exact, with the sign of x; NaN for y = 0 or infinite x.
template <typename T> KILN_INLINE T fmodScalar(T x, T y) {
  T ax = abs(x), ay = abs(y);
  if (!(ax < infinity<T>()) || !(ay > 0))
    return notANumber<T>();
  if (ax < ay || ay == infinity<T>())
    return x;
  Parts<T> a = partsOf(ax), b = partsOf(ay);
  constexpr int room = 63 - Real<T>::mantissaBits; // bits by which a remainder may move up
  uint64_t rest = a.mantissa % b.mantissa;
  for (int left = a.exponent - b.exponent; left > 0; left -= room)
    rest = (rest << (left < room ? left : room)) % b.mantissa;
  // rest * 2^(exponent of b), and rest < mantissa of b: the result is exact.
  constexpr int bits = Real<T>::mantissaBits;
  uint64_t unit = b.exponent > bits ? uint64_t(b.exponent - bits) << bits : uint64_t(1) << (b.exponent - 1);
  return copysign(T(rest) * bitcast<T>(lane<uint_like<T>>(unit)), x);
}
template <typename V> KILN_INLINE V fmodLanes(V x, V y) {
  if constexpr (isScalar<V>) {
    return fmodScalar(x, y);
  } else {
    lane<V> a[lanes<V>], b[lanes<V>];
    store(a, x);
    store(b, y);
    for (int i = 0; i < lanes<V>; ++i)
      a[i] = fmodScalar(a[i], b[i]);
    return load<V>(a);
  }
}
template <typename V> KILN_INLINE V fmod(V x, V y) {
#if defined(__FMA__)
  // A quotient with no more bits than a mantissa is at most 1 too large after rounding, and what is left fits into a mantissa.
  const lane<V> limit = lane<V>(uint64_t(1) << Real<V>::mantissaBits);
  V numerator = abs(x), denominator = abs(y), quotient = numerator / denominator;
  V rest = fma(V(V{} - trunc(quotient)), denominator, numerator);
  if (__builtin_expect(all(quotient < broadcast<V>(limit)) && all(denominator < infinity<V>()), 1))
    return copysign(select(rest < V{}, V(rest + denominator), rest), x);
#endif
  return fmodLanes(x, y);
}

} // namespace kiln

#endif // KILN_MATH_ROUND_H
