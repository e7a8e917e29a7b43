// Steps of targets that add several neighbouring products to each 32-bit sum. Those of bytes, `dot_u8s8` and `dot_u8s8_pairs`, saturate nothing, so both
// give the same bits on any CPU.
#ifndef KILN_DOT_H
#define KILN_DOT_H

#include "kiln/vector.h"

namespace kiln {

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define KILN_DOT_BITS 512
#elif defined(__AVXVNNI__)
#define KILN_DOT_BITS 256
#else
#define KILN_DOT_BITS 0
#endif

// x[2 i] * y[2 i] + x[2 i + 1] * y[2 i + 1] for each lane i of V.
template <typename V, typename Words> KILN_INLINE V multiply_pairs(Words x, Words y) {
#if defined(__AVX512BW__) && defined(__clang__)
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_pmaddwd512(x, y);
#elif defined(__AVX512BW__)
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_pmaddwd512_mask(x, y, V{}, -1);
#endif
#if defined(__AVX2__)
  if constexpr (lanes<V> == 8)
    return __builtin_ia32_pmaddwd256(x, y);
#endif
#if defined(__SSE2__)
  if constexpr (lanes<V> == 4)
    return __builtin_ia32_pmaddwd128(x, y);
  if constexpr (lanes<V> > 4)
    return join(multiply_pairs<half<V>>(low_half(x), low_half(y)), multiply_pairs<half<V>>(high_half(x), high_half(y)));
#endif
  V a = bitcast<V>(x), b = bitcast<V>(y);
  auto low = [](V pair) { return V(bitcast<V>(bitcast<uint_like<V>>(pair) << 16u) >> 16); };
  return low(a) * low(b) + (a >> 16) * (b >> 16);
}

// sum[i] + left[0] * right[4 i] + ... + left[3] * right[4 i + 3]; the bytes of the left side count as unsigned. The bytes become words, of which an
// instruction multiplies pairs: bytes 0 and 2, then 1 and 3.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_u8s8_pairs(Four left, Bytes right, V sum) {
  static_assert(lanes<V> == Lanes && lanes<Bytes> == 4 * Lanes && lanes<Four> == 4, "four bytes of the right side for each sum");
  using Words = vec<int16_t, 2 * Lanes>;
  using Unsigned = vec<uint16_t, 2 * Lanes>;
  Unsigned a = bitcast<Unsigned>(broadcast<V>(bitcast<int32_t>(left)));
  Words b = bitcast<Words>(right);
  Words even = bitcast<Words>(bitcast<Unsigned>(right) << 8u) >> 8, odd = b >> 8;
  return sum + multiply_pairs<V>(bitcast<Words>(a & 0xffu), even) + multiply_pairs<V>(bitcast<Words>(a >> 8u), odd);
}

// The same by one instruction, where the CPU has it.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_u8s8(Four left, Bytes right, V sum) {
#if KILN_DOT_BITS
  V four = broadcast<V>(bitcast<int32_t>(left));
#if defined(__clang__) && __clang_major__ >= 22
  vec<uint8_t, 4 * Lanes> a = bitcast<vec<uint8_t, 4 * Lanes>>(four);
  vec<int8_t, 4 * Lanes> b = right;
#else
  V a = four, b = bitcast<V>(right);
#endif
#if defined(__clang__)
#if KILN_DOT_BITS == 512
  if constexpr (Lanes == 16)
    return __builtin_ia32_vpdpbusd512(sum, a, b);
#endif
  if constexpr (Lanes == 8)
    return __builtin_ia32_vpdpbusd256(sum, a, b);
  if constexpr (Lanes == 4)
    return __builtin_ia32_vpdpbusd128(sum, a, b);
#else
#if KILN_DOT_BITS == 512
  if constexpr (Lanes == 16)
    return __builtin_ia32_vpdpbusd_v16si(sum, a, b);
#endif
  if constexpr (Lanes == 8)
    return __builtin_ia32_vpdpbusd_v8si(sum, a, b);
  if constexpr (Lanes == 4)
    return __builtin_ia32_vpdpbusd_v4si(sum, a, b);
#endif
#endif
  return dot_u8s8_pairs<Lanes>(left, right, sum);
}

// sum[i] + left[0] * right[2 i] + left[1] * right[2 i + 1] for words of bf16 and sums of f32: the step `dot_bf16`. Kernels that ask for it promise no
// bits: an instruction may take subnormal numbers for zero, and round once where this rounds twice.
template <int Lanes, typename Two, typename Words, typename V> KILN_INLINE V dot_bf16(Two left, Words right, V sum) {
  static_assert(lanes<V> == Lanes && lanes<Words> == 2 * Lanes && lanes<Two> == 2, "two words of the right side for each sum");
  using Bits = uint_like<V>;
  Bits a = broadcast<Bits>(bitcast<uint32_t>(left)), b = bitcast<Bits>(right);
#if defined(__AVX512BF16__) && defined(__AVX512VL__) && defined(__clang__)
  using Halves = vec<__bf16, 2 * Lanes>;
  if constexpr (Lanes == 16)
    return __builtin_ia32_dpbf16ps_512(sum, bitcast<Halves>(a), bitcast<Halves>(b));
  if constexpr (Lanes == 8)
    return __builtin_ia32_dpbf16ps_256(sum, bitcast<Halves>(a), bitcast<Halves>(b));
  if constexpr (Lanes == 4)
    return __builtin_ia32_dpbf16ps_128(sum, bitcast<Halves>(a), bitcast<Halves>(b));
#elif defined(__AVX512BF16__) && defined(__AVX512VL__)
  if constexpr (Lanes == 16)
    return __builtin_ia32_dpbf16ps_v16sf(sum, bitcast<vec<int16_t, 32>>(a), bitcast<vec<int16_t, 32>>(b));
#endif
  return sum + bitcast<V>(a << 16u) * bitcast<V>(b << 16u) + bitcast<V>(a & 0xffff0000u) * bitcast<V>(b & 0xffff0000u);
}

} // namespace kiln

#endif // KILN_DOT_H
