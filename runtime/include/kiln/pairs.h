// Steps of targets that multiply two rows by two columns: a vector has the sums [row 0, column 0], [row 0, column 1], [row 1, column 0], [row 1, column 1].
// `left` has the elements of row 0, then those of row 1; `right` those of either column. Sums of bytes have the same bits on any CPU.
#ifndef KILN_PAIRS_H
#define KILN_PAIRS_H

#include "kiln/half.h"
#include "kiln/vector.h"

namespace kiln {

// Eight products of unsigned by signed bytes for each sum: the step `pair_u8s8`.
template <int Sums, typename Bytes, typename V> KILN_INLINE V pair_u8s8(Bytes left, Bytes right, V sum) {
  static_assert(Sums == 4 && lanes<V> == 4 && lanes<Bytes> == 16, "two rows and two columns of eight bytes");
#if defined(__ARM_FEATURE_MATMUL_INT8) && defined(__clang__)
  return __builtin_bit_cast(V, __builtin_neon_vusmmlaq_s32(bitcast<vec<int8_t, 16>>(sum), bitcast<vec<int8_t, 16>>(left), bitcast<vec<int8_t, 16>>(right), 34));
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  return __builtin_aarch64_simd_usmmlav16qi_ssus(sum, bitcast<vec<uint8_t, 16>>(left), bitcast<vec<int8_t, 16>>(right));
#else
  const auto a = bitcast<vec<uint8_t, 16>>(left);
  const auto b = bitcast<vec<int8_t, 16>>(right);
  for (int i = 0; i < 32; ++i) {
    const int at = i / 8;
    sum[at] += int32_t(a[at / 2 * 8 + i % 8]) * int32_t(b[at % 2 * 8 + i % 8]);
  }
  return sum;
#endif
}

// Four products of bf16 for each sum of f32: the step `pair_bf16`. Kernels that ask for it promise no bits: the instruction takes subnormal numbers for zero
// and rounds sums of two products to odd before it adds them.
template <int Sums, typename Words, typename V> KILN_INLINE V pair_bf16(Words left, Words right, V sum) {
  static_assert(Sums == 4 && lanes<V> == 4 && lanes<Words> == 8, "two rows and two columns of four words");
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) && defined(__clang__)
  return __builtin_bit_cast(V, __builtin_neon_vbfmmlaq_f32(bitcast<vec<int8_t, 16>>(sum), bitcast<vec<int8_t, 16>>(left), bitcast<vec<int8_t, 16>>(right), 41));
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  return __builtin_aarch64_bfmmlaqv4sf(sum, bitcast<__Bfloat16x8_t>(left), bitcast<__Bfloat16x8_t>(right));
#else
  for (int i = 0; i < 16; ++i) {
    const int at = i / 4;
    sum[at] += bf16_to_f32(uint16_t(left[at / 2 * 4 + i % 4])) * bf16_to_f32(uint16_t(right[at % 2 * 4 + i % 4]));
  }
  return sum;
#endif
}

} // namespace kiln

#endif // KILN_PAIRS_H
