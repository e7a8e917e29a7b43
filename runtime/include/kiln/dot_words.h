// Steps of targets that add several neighbouring products of words, which stand for real numbers, to each sum of f32.
#ifndef KILN_DOT_WORDS_H
#define KILN_DOT_WORDS_H

#include "kiln/half.h"
#include "kiln/vector.h"

namespace kiln {

// Word `Position` of each lane's.
template <int Position, typename V, typename Words, int... I> KILN_INLINE with_lane<V, uint16_t> everyWord(Words words, Indices<I...>) {
  constexpr int each = lanes<Words> / lanes<V>;
  return with_lane<V, uint16_t>{words[each * I + Position]...};
}

// What words stand for.
struct F16Words {
  template <typename W> static KILN_INLINE FloatsOf<W> toFloats(W words) { return f16_to_f32(words); }
};
struct Bf16Words {
  template <typename W> static KILN_INLINE FloatsOf<W> toFloats(W words) { return bf16_to_f32(words); }
};

// sum[i] + left[0] * right[n i] + ... + left[n - 1] * right[n i + n - 1], one product after the other, for n words of a format.
template <typename Format, int Position, typename Some, typename Words, typename V> KILN_INLINE V dot_words(Some left, Words right, V sum) {
  if constexpr (Position == lanes<Some>) {
    return sum;
  } else {
    V product = broadcast<V>(Format::toFloats(uint16_t(left[Position]))) * Format::toFloats(everyWord<Position, V>(right, LaneIndices<V>()));
    return dot_words<Format, Position + 1>(left, right, V(sum + product));
  }
}

// The same for words of f16: the step `dot_f16`, for any number of them.
template <int Lanes, typename Some, typename Words, typename V> KILN_INLINE V dot_f16(Some left, Words right, V sum) {
  static_assert(lanes<V> == Lanes && lanes<Words> == lanes<Some> * Lanes, "as many words of the right side for each sum as of the left");
  return dot_words<F16Words, 0>(left, right, sum);
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
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) && defined(__clang__)
  using Bytes = vec<int8_t, 16>;
  if constexpr (Lanes == 4)
    return __builtin_bit_cast(V, __builtin_neon_vbfdotq_f32(bitcast<Bytes>(sum), bitcast<Bytes>(a), bitcast<Bytes>(b), 41));
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  using Halves = __Bfloat16x8_t;
  if constexpr (Lanes == 4)
    return __builtin_aarch64_bfdotv4sf(sum, bitcast<Halves>(a), bitcast<Halves>(b));
#endif
  return sum + bitcast<V>(a << 16u) * bitcast<V>(b << 16u) + bitcast<V>(a & 0xffff0000u) * bitcast<V>(b & 0xffff0000u);
}

// Four words of bf16 for each sum: the step `dot_bf16_fours`, of targets that multiply so many in the time of one product of f32.
template <int Lanes, typename Four, typename Words, typename V> KILN_INLINE V dot_bf16_fours(Four left, Words right, V sum) {
  static_assert(lanes<V> == Lanes && lanes<Words> == 4 * Lanes && lanes<Four> == 4, "four words of the right side for each sum");
  return dot_words<Bf16Words, 0>(left, right, sum);
}

} // namespace kiln

#endif // KILN_DOT_WORDS_H
