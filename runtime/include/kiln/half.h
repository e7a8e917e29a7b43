// float <-> f16 and bf16, which live in memory as 16-bit words. Rounds to the nearest, halves to even; NaN stays NaN.
#ifndef KILN_HALF_H
#define KILN_HALF_H

#include "kiln/vector.h"

namespace kiln {

template <typename W> using FloatsOf = with_lane<W, float>;
template <typename V> using WordsOf = with_lane<V, uint16_t>;

template <typename W> KILN_INLINE FloatsOf<W> bf16_to_f32(W word) {
  return bitcast<FloatsOf<W>>(convert<with_lane<W, uint32_t>>(word) << 16u);
}
template <typename V> KILN_INLINE WordsOf<V> f32_to_bf16_bits(V x) {
  uint_like<V> bits = bitcast<uint_like<V>>(x);
  uint_like<V> rounded = (bits + ((bits >> 16u & 1u) + 0x7fffu)) >> 16u;
  uint_like<V> nan = bits >> 16u | 0x40u;
  return convert<WordsOf<V>>(select(x == x, rounded, nan));
}

#if defined(__AVX512BF16__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__clang__)
#define KILN_NATIVE_BF16 1
// The hardware's conversion, which takes subnormal numbers for zero: one instruction for up to 32 of them.
template <typename V> KILN_INLINE WordsOf<V> f32_to_bf16_flushed(V x) {
  if constexpr (lanes<V> == 16)
    return bitcast<WordsOf<V>>(__builtin_ia32_cvtneps2bf16_512_mask(x, with_lane<V, __bf16>{}, -1));
  else if constexpr (lanes<V> == 32)
    return bitcast<WordsOf<V>>(__builtin_ia32_cvtne2ps2bf16_512(high_half(x), low_half(x)));
  else
    return join(f32_to_bf16_flushed(low_half(x)), f32_to_bf16_flushed(high_half(x)));
}
// Not zero if there are any.
template <typename V> KILN_INLINE uint32_t any_subnormal(V x) {
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_fpclassps512_mask(x, 0x20, -1);
  else
    return any_subnormal(low_half(x)) | any_subnormal(high_half(x));
}
template <typename W> KILN_INLINE uint32_t any_zero(W words) {
  if constexpr (lanes<W> > 32) {
    return any_zero(low_half(words)) | any_zero(high_half(words));
  } else {
    __asm__("" : "+v"(words)); // else Clang compares the numbers, as f32
    int_like<W> magnitudes = bitcast<int_like<W>>(words) & 0x7fff;
    if constexpr (lanes<W> == 32)
      return __builtin_ia32_cmpw512_mask(magnitudes, int_like<W>{}, 0, -1);
    else
      return __builtin_ia32_cmpw256_mask(magnitudes, int_like<W>{}, 0, -1);
  }
}
#else
#define KILN_NATIVE_BF16 0
#endif

template <typename V> KILN_INLINE WordsOf<V> f32_to_bf16(V x) {
#if KILN_NATIVE_BF16
  if constexpr (lanes<V> >= 16) {
    // Zeros are few in most data, and looked for in half as many registers as subnormal numbers.
    WordsOf<V> words = f32_to_bf16_flushed(x);
    if (__builtin_expect(any_zero(words) == 0, 1) || any_subnormal(x) == 0)
      return words;
  }
#endif
  return f32_to_bf16_bits(x);
}

// The portable forms; the hardware's give the same bits.
template <typename W> KILN_INLINE FloatsOf<W> f16BitsToFloat(W word) {
  using U = with_lane<W, uint32_t>;
  U bits = convert<U>(word);
  U sign = (bits & 0x8000u) << 16u, magnitude = (bits & 0x7fffu) << 13u;
  // Scaling by 2^112 moves the exponent and normalizes the subnormals at once.
  U scaled = bitcast<U>(bitcast<FloatsOf<W>>(magnitude) * 0x1p112f);
  U special = magnitude | 0x7f800000u;
  special = select((magnitude & 0x7fffffu) != 0u, U(special | 0x400000u), special); // quiet
  return bitcast<FloatsOf<W>>(select(magnitude >= 0x0f800000u, special, scaled) | sign);
}
template <typename V> KILN_INLINE WordsOf<V> floatToF16Bits(V x) {
  using U = uint_like<V>;
  U bits = bitcast<U>(x), sign = bits >> 16u & 0x8000u, magnitude = bits & 0x7fffffffu;
  // Subnormal: adding a power of two rounds to units of 2^-24, which then are the lowest bits of the sum.
  U tiny = bitcast<U>(bitcast<V>(magnitude) + 0.5f) - 0x3f000000u;
  U normal = (magnitude + ((magnitude >> 13u & 1u) + 0xfffu) - 0x38000000u) >> 13u;
  U large = select(magnitude > 0x7f800000u, U((magnitude >> 13u & 0x1ffu) | 0x7e00u), U{} + 0x7c00u);
  U word = select(magnitude < 0x38800000u, tiny, normal);
  word = select(magnitude >= 0x477ff000u, large, word); // from 65520 on
  return convert<WordsOf<V>>(word | sign);
}

#if defined(__F16C__) || defined(__aarch64__)
#define KILN_NATIVE_F16 1
#else
#define KILN_NATIVE_F16 0
#endif

template <typename W> KILN_INLINE FloatsOf<W> f16_to_f32(W word) {
#if KILN_NATIVE_F16 && defined(__clang__)
  if constexpr (isScalar<W>)
    return static_cast<float>(bitcast<_Float16>(word));
  else
    return __builtin_convertvector(bitcast<with_lane<W, _Float16>>(word), FloatsOf<W>);
#else
#if KILN_NATIVE_F16 && defined(__x86_64__)
  if constexpr (lanes<W> == 8)
    return __builtin_ia32_vcvtph2ps256(bitcast<i16x8>(word));
#if defined(__AVX512F__)
  if constexpr (lanes<W> == 16)
    return __builtin_ia32_vcvtph2ps512_mask(bitcast<i16x16>(word), FloatsOf<W>{}, -1, 4);
#endif
#endif
  return f16BitsToFloat(word);
#endif
}
template <typename V> KILN_INLINE WordsOf<V> f32_to_f16(V x) {
#if KILN_NATIVE_F16 && defined(__clang__)
  if constexpr (isScalar<V>)
    return bitcast<uint16_t>(static_cast<_Float16>(x));
  else
    return bitcast<WordsOf<V>>(__builtin_convertvector(x, with_lane<V, _Float16>));
#else
#if KILN_NATIVE_F16 && defined(__x86_64__)
  if constexpr (lanes<V> == 8)
    return bitcast<WordsOf<V>>(__builtin_ia32_vcvtps2ph256(x, 0));
#if defined(__AVX512F__)
  if constexpr (lanes<V> == 16)
    return bitcast<WordsOf<V>>(__builtin_ia32_vcvtps2ph512_mask(x, 0, i16x16{}, -1));
#endif
#endif
  return floatToF16Bits(x);
#endif
}

// Loads and stores as float vectors.
template <typename V> KILN_INLINE V load_f16(const uint16_t *from) { return f16_to_f32(load<WordsOf<V>>(from)); }
template <typename V> KILN_INLINE V load_bf16(const uint16_t *from) { return bf16_to_f32(load<WordsOf<V>>(from)); }
template <typename V> KILN_INLINE void store_f16(uint16_t *to, V x) { store<WordsOf<V>>(to, f32_to_f16(x)); }
template <typename V> KILN_INLINE void store_bf16(uint16_t *to, V x) { store<WordsOf<V>>(to, f32_to_bf16(x)); }

} // namespace kiln

#endif // KILN_HALF_H
