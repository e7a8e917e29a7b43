// exp and two cheaper forms of it, exp2, expm1, sigmoid: x = n ln 2 + r with |r| <= ln 2 / 2, a minimax polynomial for e^r, then times 2^n.
#ifndef KILN_MATH_EXP_H
#define KILN_MATH_EXP_H

#include "kiln/math/real.h"

namespace kiln {

// Limits that let NaN through, as Arm's instructions do; elsewhere, the smaller one of two numbers with NaN takes several.
#if defined(__aarch64__) && defined(__clang__)
#if __has_builtin(__builtin_elementwise_minimum)
#define KILN_MINIMUM 1
#endif
#endif
#ifdef KILN_MINIMUM
template <typename V> KILN_INLINE V atMost(V x, lane<V> limit) { return __builtin_elementwise_minimum(x, broadcast<V>(limit)); }
template <typename V> KILN_INLINE V atLeast(V x, lane<V> limit) { return __builtin_elementwise_maximum(x, broadcast<V>(limit)); }
#else
template <typename V> KILN_INLINE V atMost(V x, lane<V> limit) { return select(x > limit, broadcast<V>(limit), x); }
template <typename V> KILN_INLINE V atLeast(V x, lane<V> limit) { return select(x < limit, broadcast<V>(limit), x); }
#endif

// r of x = n ln 2 + r, given -n. Two steps, the first exact, keep r accurate to its last bits.
template <typename V> KILN_INLINE V reduceByLn2(V x, V minusN) { return fma(minusN, Real<V>::ln2Low, fma(minusN, Real<V>::ln2High, x)); }

// The same with n, where it does not matter which zero r is.
template <typename V> struct ReducedByLn2 {
  Rounded<V> n;
  V r;
};
template <typename V> KILN_INLINE ReducedByLn2<V> reduceByLn2(V x) {
  V shifted = fma(x, Real<V>::log2E, Real<V>::shifter);
  Rounded<V> n = roundShifted(shifted);
#if defined(__AVX512F__)
  return {n, reduceByLn2(x, V(-n.real))}; // scale() needs the number itself
#else
  // Compilers turn a difference from a constant into a sum with another constant, which takes a register more in a loop.
  return {n, reduceByLn2(x, V(Real<V>::shifter - shifted))};
#endif
}

// (e^r - 1 - r) / r^2 of floats.
template <typename V> KILN_INLINE V expTail(V r) {
  return poly(r, 4.999999404e-01f, 1.666651666e-01f, 4.166810215e-02f, 8.369165473e-03f, 1.383800409e-03f);
}

// e^r; relative error of the polynomial 3e-9 (float), 6e-18 (double).
template <typename V> KILN_INLINE V expReduced(V r) {
  V p;
  if constexpr (isSame<lane<V>, float>)
    p = expTail(r);
  else
    p = poly(r, 5.00000000000001110e-01, 1.66666666666664354e-01, 4.16666666665257909e-02, 8.33333333347582861e-03,
             1.38888889448506568e-03, 1.98412695548708280e-04, 2.48014917866170602e-05, 2.75575331137999601e-06,
             2.76307402123375924e-07, 2.50211375205898840e-08);
  return fma(p, r * r, r) + lane<V>(1);
}

// e^r - 1; relative error 5e-10 (float), 1e-19 (double).
template <typename V> KILN_INLINE V expm1Reduced(V r) {
  V p;
  if constexpr (isSame<lane<V>, float>)
    p = poly(r, 5.000000000e-01f, 1.666666567e-01f, 4.166646674e-02f, 8.333643898e-03f, 1.393509912e-03f,
             1.966439013e-04f);
  else
    p = poly(r, 5.00000000000000000e-01, 1.66666666666666879e-01, 4.16666666666668239e-02, 8.33333333331389217e-03,
             1.38888888887778389e-03, 1.98412699033771348e-04, 2.48015875595034808e-05, 2.75572286736430525e-06,
             2.75570677920493249e-07, 2.51139378686942355e-08, 2.09776180388359825e-09);
  return fma(p, r * r, r);
}

// e^x * 2^shift, for x of any size; the shift is not positive.
template <typename V> KILN_INLINE V expShifted(V x, int shift) {
  constexpr bool isFloat = isSame<lane<V>, float>;
#ifdef KILN_MINIMUM
  // Outside, e^x is infinite or 0, as it is at these limits, of which Arm has instructions that make them: floats' take no registers in a loop.
  x = atLeast(atMost(x, isFloat ? 128 : 711), isFloat ? -128 : -746);
#else
  // What is rounded to 0 is never multiplied: Intel's CPUs take 150 cycles for a product that underflows, and a mask makes most of a softmax's numbers such.
  const auto vanishes = x < lane<V>(isFloat ? -104 : -746);
  x = select(vanishes, V{}, atMost(x, isFloat ? 90 : 711));
#endif
  auto [n, r] = reduceByLn2(x);
  V p = expReduced(r);
#ifndef KILN_MINIMUM
  p = select(vanishes, V{}, p);
#endif
  n.real += lane<V>(shift);
  n.integer += lane<int_like<V>>(shift);
  return scale(p, n);
}

// Within 1 ulp (float: measured over all numbers). Overflows to infinity, underflows gradually to zero.
template <typename V> KILN_INLINE V exp(V x) { return expShifted(x, 0); }

// The same bits for x known to lie within -+87.32 (float) or -+708 (double), where the result is a normal number.
template <typename V> KILN_INLINE V exp_normal(V x) {
  auto [n, r] = reduceByLn2(x);
  return scaleNormal(expReduced(r), n);
}

// A power of two for the cheaper forms, which have half of it and twice the polynomial: then one product overflows and
// rounds as it should, and what would need 2^-127 becomes 0.
template <typename V> struct HalvedPower {
  V minusExponent, half;
};
template <typename V> KILN_INLINE HalvedPower<V> halvedPower(V x) {
  constexpr float shifter = Real<V>::shifter + (Real<V>::bias - 1); // the biased exponent is in the sum's lowest bits
  V shifted = fma(x, Real<V>::log2E, shifter);
  return {shifter - shifted, bitcast<V>(bitsOf(shifted) << lane<uint_like<V>>(Real<V>::mantissaBits))};
}
// Outside, e^x is infinite or 0 with the exponents 128 and -126.
template <typename V> KILN_INLINE V clampForHalvedPower(V x) { return atLeast(atMost(x, lane<V>(88.8)), lane<V>(-87.5)); }

// Within 4 ulp. Overflows to infinity; results below 2^-125 may be 0. NaN stays NaN. Doubles are those of exp.
template <typename V> KILN_INLINE V exp_ulp4(V x) {
  if constexpr (!isSame<lane<V>, float>) {
    return exp(x);
  } else {
    x = clampForHalvedPower(x);
    HalvedPower<V> n = halvedPower(x);
    V r = reduceByLn2(x, n.minusExponent);
    // Relative error 9.2e-8, 0.8 ulp; 1 at 0.
    V p = poly(r, 2.0f, 1.999999404e+00f, 9.999829531e-01f, 3.333527744e-01f, 8.379632235e-02f, 1.658054441e-02f);
    return p * n.half;
  }
}

// e^x as an addend of 1 or more: the sum has the bits that it has with exp(x). There is no small result to be told from another, and the power is halved for
// the largest ones.
template <typename V> KILN_INLINE V exp_addend(V x) {
  if constexpr (!isSame<lane<V>, float>) {
    return exp(x);
  } else {
    // e^-32 adds nothing to 1. Arm has an instruction that makes this limit, so it takes no register in a loop.
    x = atLeast(atMost(x, 89), -32);
    HalvedPower<V> n = halvedPower(x);
    // As expReduced, and twice as large.
    V r = reduceByLn2(x, n.minusExponent);
    V twice = r + r;
    return (fma(expTail(r), r * twice, twice) + 2.0f) * n.half;
  }
}

// Within 2^-12 of the result, half an ulp of f16: for numbers that are rounded to f16 or bf16. Limits as exp_ulp4.
template <typename V> KILN_INLINE V exp_half(V x) {
  if constexpr (!isSame<lane<V>, float>) {
    return exp(x);
  } else {
    x = clampForHalvedPower(x);
    HalvedPower<V> n = halvedPower(x);
    // 2^f; relative error 1.02e-4, less than 2^-13; 1 at 0.
    V f = fma(x, Real<V>::log2E, n.minusExponent);
    return poly(f, 2.0f, 1.386565924e+00f, 4.844227135e-01f, 1.100176647e-01f) * n.half;
  }
}

template <typename V> KILN_INLINE V exp2(V x) {
  constexpr bool isFloat = isSame<lane<V>, float>;
  x = atLeast(atMost(x, isFloat ? 129 : 1025), isFloat ? -151 : -1076);
  Rounded<V> n = roundShifted(x + Real<V>::shifter);
  return scale(expReduced((x - n.real) * Real<V>::ln2), n);
}

// e^x - 1 for x below the overflow of e^x, accurate near 0 but for the sign of -0.
template <typename V> KILN_INLINE V expm1Bounded(V x) {
  auto [n, r] = reduceByLn2(x);
  V q = expm1Reduced(r);
  V s = powerOfTwo<V>(n.integer - lane<int_like<V>>(1)); // half of 2^n, which itself may overflow
  return fma(s, q, s - lane<V>(0.5)) * lane<V>(2);
}
template <typename V> KILN_INLINE V expm1(V x) {
  constexpr bool isFloat = isSame<lane<V>, float>;
  V result = expm1Bounded(atLeast(atMost(x, isFloat ? lane<V>(88.8) : lane<V>(709.8)), isFloat ? -20 : -40));
  return select(x == lane<V>(0), x, result);
}

// 1 / (1 + e^-x), with e^-|x| so that nothing overflows and small results keep their bits.
template <typename V> KILN_INLINE V sigmoid(V x) {
  V e = exp(-abs(x));
  return select(x < lane<V>(0), e, broadcast<V>(1)) / (e + lane<V>(1));
}

} // namespace kiln

#endif // KILN_MATH_EXP_H
