// Real numbers as integers of 8 or 16 bits: to the nearest integer, halves to the even one, plus a zero point, saturated.
#ifndef KILN_QUANTIZE_H
#define KILN_QUANTIZE_H

#include "kiln/integer.h"
#include "kiln/math/real.h"
#include "kiln/math/round.h"

namespace kiln {

// Instructions that convert with the current rounding, which is to nearest as everywhere, and that saturate: those of Arm's cores for signals.
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SAT) && defined(__ARM_FP) && (__ARM_FP & 4)
#define KILN_SATURATES 1
// The nearest integer, saturated; 0 for NaN.
KILN_INLINE int32_t nearestSaturated(float x) {
  float bits;
  __asm__("vcvtr.s32.f32 %0, %1" : "=t"(bits) : "t"(x));
  return bitcast<int32_t>(bits);
}
// A sum of integers, saturated to those of T.
template <typename T> KILN_INLINE int32_t addSaturated(int32_t x, int32_t zero) {
  constexpr int bits = 8 * int(sizeof(T));
  const int32_t sum = __builtin_constant_p(zero) && zero == 0 ? x : __builtin_arm_qadd(x, zero);
  if constexpr (T(-1) > T(0))
    return int32_t(__builtin_arm_usat(sum, bits));
  else
    return __builtin_arm_ssat(sum, bits);
}
#else
#define KILN_SATURATES 0
#endif

// The nearest integers of numbers of at most 2^22. One instruction where the CPU has it; the mode is round to nearest, as everywhere.
template <typename V> KILN_INLINE with_lane<V, int32_t> nearest_integer(V x) {
#if defined(__AVX512F__)
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_cvtps2dq512_mask(x, with_lane<V, int32_t>{}, uint16_t(-1), 4);
#endif
#if defined(__AVX__)
  if constexpr (lanes<V> == 8)
    return __builtin_ia32_cvtps2dq256(x);
#endif
#if defined(__SSE2__)
  if constexpr (lanes<V> == 4)
    return __builtin_ia32_cvtps2dq(x);
  else if constexpr (lanes<V> > 4)
    return join(nearest_integer(low_half(x)), nearest_integer(high_half(x)));
#endif
#if defined(__riscv)
  // Compilers make vectors of loops over scalars, too.
  constexpr bool adds = sizeof(lane<V>) == 4;
#else
  constexpr bool adds = sizeof(lane<V>) == 4 && !isScalar<V>;
#endif
  if constexpr (adds) {
    // In these sums, the last bit stands for one.
    using Ints = with_lane<V, int32_t>;
    return bitcast<Ints>(x + Real<V>::shifter) - bitcast<Ints>(broadcast<V>(Real<V>::shifter));
  } else {
    return convert<with_lane<V, int32_t>>(roundeven(x));
  }
}

// NaN gives the lower bound.
template <typename V> KILN_INLINE V clamp(V x, V low, V high) {
  x = select(x > low, x, low);
  return select(x < high, x, high);
}

// The integers of T that are nearest to numbers, less their zero points. The bounds are integers, so that clamping before rounding and after it are the same.
template <typename T, typename V, typename Zero> KILN_INLINE with_lane<V, int32_t> integerSteps(V x, Zero zero) {
#if KILN_SATURATES
  if constexpr (isSame<V, float> && isSame<Zero, int32_t>) {
    // NaN gives the lower bound, which 0 is only for unsigned integers that count from 0.
    const float low = float(lowestInt<T>) - float(zero);
    if (!(T(-1) > T(0) && __builtin_constant_p(zero) && zero == 0))
      x = select(x > low, x, low);
    return addSaturated<T>(nearestSaturated(x), zero) - zero;
  }
#endif
  const V offset = convert<V>(zero);
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE & 2
  if constexpr (isSame<V, f32x4>) {
    // The instruction saturates.
    const V low = broadcast<V>(float(lowestInt<T>)) - offset;
    const i32x4 high = broadcast<i32x4>(int32_t(highestInt<T>)) - zero;
    i32x4 steps;
    const V least = select(x > low, x, low);
    __asm__("vcvtn.s32.f32 %q0, %q1" : "=w"(steps) : "w"(least));
    return select(steps < high, steps, high);
  }
#endif
  return nearest_integer(clamp(x, broadcast<V>(float(lowestInt<T>)) - offset, broadcast<V>(float(highestInt<T>)) - offset));
}

// The same of x / divisor. A division takes as long as ten products or more. The inverse is held in two parts, and the compiler has proved that the nearest
// integers are those of the quotients (isDividedByProduct). Numbers are clamped first, because infinities cannot be multiplied so.
template <typename T, typename V, typename Zero> KILN_INLINE with_lane<V, int32_t> integerSteps(V x, float divisor, Zero zero) {
#if defined(__FMA__)
  const double inverse = 1.0 / double(divisor);
  const float high = float(inverse), low = float(inverse - double(high));
  const V offset = convert<V>(zero), scale = broadcast<V>(divisor);
  x = clamp(x, (broadcast<V>(float(lowestInt<T>)) - offset) * scale, (broadcast<V>(float(highestInt<T>)) - offset) * scale);
  return nearest_integer(fma(x, broadcast<V>(high), x * broadcast<V>(low)));
#else
  return integerSteps<T>(x / broadcast<V>(divisor), zero);
#endif
}

// x / divisor rounded to f32, if that is less than 2^17 and x a number; otherwise any of the quotients that saturate like it. Where the CPU multiplies and
// adds at once, each of two steps adds the remainder's quotient (P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990): the first one leaves less than a unit in the last place, and the second one rounds as a division does. Remainders that are too small to be exact are
// those of quotients near zero.
template <typename V> KILN_INLINE V quotient(V x, float divisor) {
#if defined(__FMA__)
  if (divisor >= 0x1p-100f && divisor <= 0x1p100f) {
    const V scale = broadcast<V>(divisor), inverse = broadcast<V>(1.0f / divisor), most = broadcast<V>(divisor * 0x1p17f);
    x = clamp(x, -most, most);
    V q = x * inverse;
    q = fma(fma(-q, scale, x), inverse, q);
    return fma(fma(-q, scale, x), inverse, q);
  }
#endif
  return x / broadcast<V>(divisor);
}

// integerSteps + zero, of which only the bits of T count.
template <typename T, typename V, typename Zero> KILN_INLINE with_lane<V, int32_t> integersOf(V x, Zero zero) {
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE & 2
  if constexpr (isSame<V, f32x4> && sizeof(T) == 1) {
    // Narrowing saturates at the bounds of unsigned bytes, and NaN becomes 0: it needs no registers for bounds, of which there are only eight.
    if (__builtin_constant_p(zero[0]) && zero[0] == int32_t(lowestInt<T>)) {
      i32x4 steps;
      __asm__("vcvtn.s32.f32 %q0, %q1\n\tvqmovunb.s32 %q0, %q0\n\tvqmovnb.u16 %q0, %q0" : "=w"(steps) : "w"(x));
      return steps + zero;
    }
  }
#endif
  return integerSteps<T>(x, zero) + zero;
}

template <typename To, typename V, typename Zero> KILN_INLINE To quantize(V x, Zero zero) {
  return convert<To>(integersOf<lane<To>>(x, zero));
}
template <typename To, typename V, typename Zero> KILN_INLINE To quantize(V x, float divisor, Zero zero) {
  return convert<To>(integerSteps<lane<To>>(x, divisor, zero) + zero);
}
// The same bits as an unsigned integer has.
template <typename To, typename V, typename Zero> KILN_INLINE To quantize_unsigned(V x, Zero zero) {
  return convert<To>(integersOf<lane<uint_like<To>>>(x, zero));
}
template <typename To, typename V, typename Zero> KILN_INLINE To quantize_unsigned(V x, float divisor, Zero zero) {
  return convert<To>(integerSteps<lane<uint_like<To>>>(x, divisor, zero) + zero);
}
// What these integers stand for in units of the scale. T is the type of the integers.
template <typename T, typename V, typename Zero> KILN_INLINE V quantized_steps(V x, Zero zero) {
  return convert<V>(integerSteps<T>(x, zero));
}
template <typename T, typename V, typename Zero> KILN_INLINE V quantized_steps(V x, float divisor, Zero zero) {
  return convert<V>(integerSteps<T>(x, divisor, zero));
}

} // namespace kiln

#endif // KILN_QUANTIZE_H
