// What all mathematical functions are made of: the bits of a floating-point type, fused multiply-add,
// polynomials, square roots.
//
// Products that feed an addition go through fma(): it is one instruction wherever the target has it and a*b+c
// elsewhere, on every compiler and for any number of lanes, so that a lane's bits do not depend on the width.
#ifndef KILN_MATH_REAL_H
#define KILN_MATH_REAL_H

#include "kiln/vector.h"

namespace kiln {

template <typename T> struct RealOf;
template <> struct RealOf<float> {
  static constexpr int mantissaBits = 23;
  static constexpr int bias = 127;
  static constexpr float shifter = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float minNormal = 1.17549435e-38f;
  static constexpr float log2E = 1.44269502f;
  static constexpr float ln2 = 0.693147182f;
  static constexpr float ln2High = 0.693359375f; // few bits: its product with an exponent is exact
  static constexpr float ln2Low = -2.12194442e-4f;
};
template <> struct RealOf<double> {
  static constexpr int mantissaBits = 52;
  static constexpr int bias = 1023;
  static constexpr double shifter = 6755399441055744.0;
  static constexpr double minNormal = 2.2250738585072014e-308;
  static constexpr double log2E = 0x1.71547652b82fep+0;
  static constexpr double ln2 = 0x1.62e42fefa39efp-1;
  static constexpr double ln2High = 0x1.62e42fee00000p-1;
  static constexpr double ln2Low = 0x1.a39ef35793c76p-33;
};
template <typename V> using Real = RealOf<lane<V>>;

template <typename V> inline constexpr bool isReal = isSame<lane<V>, float> || isSame<lane<V>, double>;

template <typename V> KILN_INLINE uint_like<V> bitsOf(V x) { return bitcast<uint_like<V>>(x); }
template <typename V> inline constexpr auto signBit = lane<uint_like<V>>(1) << (8 * sizeof(lane<V>) - 1);
template <typename V> KILN_INLINE V infinity() { return broadcast<V>(lane<V>(__builtin_inff())); }
template <typename V> KILN_INLINE V notANumber() { return broadcast<V>(lane<V>(__builtin_nanf(""))); }

template <typename V> KILN_INLINE V abs(V x) {
  if constexpr (isReal<V>)
    return bitcast<V>(bitsOf(x) & ~signBit<V>);
  else
    return select(x < V{}, V(V{} - x), x);
}
template <typename V> KILN_INLINE V copysign(V magnitude, V sign) {
  return bitcast<V>((bitsOf(magnitude) & ~signBit<V>) | (bitsOf(sign) & signBit<V>));
}

// Bytes of the widest vector register.
#if defined(__AVX512F__)
inline constexpr int vectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int vectorBytes = 32;
#else
inline constexpr int vectorBytes = 16;
#endif

template <typename V> KILN_INLINE V fma(V a, V b, V c) {
#if defined(__FMA__) && defined(__clang__)
  if constexpr (isReal<V>)
    return __builtin_elementwise_fma(a, b, c);
#elif defined(__FMA__)
  if constexpr (isSame<V, float>)
    return __builtin_fmaf(a, b, c);
  if constexpr (isSame<V, double>)
    return __builtin_fma(a, b, c);
  if constexpr (isSame<V, f32x4>)
    return __builtin_ia32_vfmaddps(a, b, c);
  if constexpr (isSame<V, f32x8>)
    return __builtin_ia32_vfmaddps256(a, b, c);
  if constexpr (isSame<V, f64x2>)
    return __builtin_ia32_vfmaddpd(a, b, c);
  if constexpr (isSame<V, f64x4>)
    return __builtin_ia32_vfmaddpd256(a, b, c);
#if defined(__AVX512F__)
  if constexpr (isSame<V, f32x16>)
    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
  if constexpr (isSame<V, f64x8>)
    return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
#endif
  if constexpr (isReal<V> && lanes<V> > 1 && sizeof(V) > vectorBytes)
    return join(fma(low_half(a), low_half(b), low_half(c)), fma(high_half(a), high_half(b), high_half(c)));
#endif
  return a * b + c;
}
template <typename V> KILN_INLINE V fma(V a, V b, lane<V> c) {
  return fma(a, b, broadcast<V>(c));
}
template <typename V> KILN_INLINE V fma(V a, lane<V> b, V c) {
  return fma(a, broadcast<V>(b), c);
}
template <typename V> KILN_INLINE V fma(V a, lane<V> b, lane<V> c) {
  return fma(a, broadcast<V>(b), broadcast<V>(c));
}
KILN_INLINE float fma(float a, float b, float c) { return fma<float>(a, b, c); }
KILN_INLINE double fma(double a, double b, double c) { return fma<double>(a, b, c); }

// c0 + x * (c1 + x * (...)), by Horner's rule.
template <typename V> KILN_INLINE V poly(V, lane<V> c0) { return broadcast<V>(c0); }
template <typename V, typename... C> KILN_INLINE V poly(V x, lane<V> c0, C... higher) {
  V rest = poly(x, lane<V>(higher)...);
  return fma(rest, x, broadcast<V>(c0));
}

template <typename V, typename F, int... I> KILN_INLINE V mapLanes(V x, F f, Indices<I...>) {
  return V{f(x[I])...};
}

KILN_INLINE float sqrtScalar(float x) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(x);
#elif defined(__SSE2__)
  return __builtin_ia32_sqrtss(f32x4{x, 0, 0, 0})[0];
#elif defined(__aarch64__)
  __asm__("fsqrt %s0, %s1" : "=w"(x) : "w"(x));
  return x;
#else
  return __builtin_sqrtf(x);
#endif
}
KILN_INLINE double sqrtScalar(double x) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(x);
#elif defined(__SSE2__)
  return __builtin_ia32_sqrtsd(f64x2{x, 0})[0];
#elif defined(__aarch64__)
  __asm__("fsqrt %d0, %d1" : "=w"(x) : "w"(x));
  return x;
#else
  return __builtin_sqrt(x);
#endif
}
// A compiler's own scalar square root may set errno, which is a call into the C library.
template <typename V> KILN_INLINE V sqrt(V x) {
  if constexpr (isScalar<V>) {
    return sqrtScalar(x);
  } else {
#if defined(__clang__)
    return __builtin_elementwise_sqrt(x);
#else
#if defined(__SSE2__)
    if constexpr (isSame<V, f32x4>)
      return __builtin_ia32_sqrtps(x);
    if constexpr (isSame<V, f64x2>)
      return __builtin_ia32_sqrtpd(x);
#endif
#if defined(__AVX__)
    if constexpr (isSame<V, f32x8>)
      return __builtin_ia32_sqrtps256(x);
    if constexpr (isSame<V, f64x4>)
      return __builtin_ia32_sqrtpd256(x);
#endif
#if defined(__AVX512F__)
    if constexpr (isSame<V, f32x16>)
      return __builtin_ia32_sqrtps512_mask(x, x, -1, 4);
    if constexpr (isSame<V, f64x8>)
      return __builtin_ia32_sqrtpd512_mask(x, x, -1, 4);
#endif
    return mapLanes(x, [](lane<V> value) { return sqrtScalar(value); }, LaneIndices<V>());
#endif
  }
}
template <typename V> KILN_INLINE V rsqrt(V x) { return lane<V>(1) / sqrt(x); }

// An integer of few bits as a float: convert() of 64-bit lanes is slow on most CPUs.
template <typename V> KILN_INLINE V fromSmallInt(int_like<V> n) {
  return bitcast<V>(bitcast<uint_like<V>>(n) + bitsOf(Real<V>::shifter)) - Real<V>::shifter;
}

// x rounded to the nearest integer, as a float and as an integer; |x| < 2^22 (float), 2^51 (double).
template <typename V> struct Rounded {
  V real;
  int_like<V> integer;
};
template <typename V> KILN_INLINE Rounded<V> roundShifted(V shifted) {
  V real = shifted - Real<V>::shifter;
  return {real, bitcast<int_like<V>>(bitsOf(shifted) - bitsOf(Real<V>::shifter))};
}
// The same for x * factor.
template <typename V> KILN_INLINE Rounded<V> roundProduct(V x, lane<V> factor) {
  return roundShifted(fma(x, factor, Real<V>::shifter));
}

// 2^n, for n between the exponents of the smallest and the largest normal number.
template <typename V> KILN_INLINE V powerOfTwo(int_like<V> n) {
  using Word = lane<uint_like<V>>;
  return bitcast<V>((bitcast<uint_like<V>>(n) + Word(Real<V>::bias)) << Word(Real<V>::mantissaBits));
}

// p * 2^n with one rounding, into infinity and through the subnormals; |p| is about 1.
template <typename V> KILN_INLINE V scale(V p, Rounded<V> n) {
#if defined(__AVX512F__)
  if constexpr (isSame<V, f32x16>)
    return __builtin_ia32_scalefps512_mask(p, n.real, p, -1, 4);
  if constexpr (isSame<V, f64x8>)
    return __builtin_ia32_scalefpd512_mask(p, n.real, p, -1, 4);
#endif
  int_like<V> lower = n.integer >> lane<int_like<V>>(1);
  return p * powerOfTwo<V>(lower) * powerOfTwo<V>(n.integer - lower);
}

// The same where the result is known to be a normal number.
template <typename V> KILN_INLINE V scaleNormal(V p, Rounded<V> n) {
#if defined(__AVX512F__)
  if constexpr (isSame<V, f32x16> || isSame<V, f64x8>)
    return scale(p, n);
#endif
  return p * powerOfTwo<V>(n.integer);
}

} // namespace kiln

#endif // KILN_MATH_REAL_H
