// The steps that add many neighbouring products of signed bytes to a single sum, for vectors of MVE, which add all their products to a register.
#ifndef KILN_DOT_SINGLE_H
#define KILN_DOT_SINGLE_H

#include "kiln/vector.h"

#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
namespace kiln::mve {
// What Clang's arm_mve.h declares; the built-in compiler has no such file. The attributes ask for these names.
typedef __attribute__((neon_vector_type(16))) int8_t Bytes;
typedef __attribute__((neon_vector_type(8))) int16_t Words;
static __inline__ __attribute__((__clang_arm_builtin_alias(__builtin_arm_mve_vmladavaq_s8))) int32_t __arm_vmladavaq_s8(int32_t, Bytes, Bytes);
static __inline__ __attribute__((__clang_arm_builtin_alias(__builtin_arm_mve_vmladavaq_s16))) int32_t __arm_vmladavaq_s16(int32_t, Words, Words);
} // namespace kiln::mve
#endif

namespace kiln {

// sum + left[0] * right[0] + ... on any CPU. The products of signed bytes that a sum has may wrap.
template <typename Bytes> KILN_INLINE int32_t addProducts(Bytes left, Bytes right, int32_t sum) {
  uint32_t total = uint32_t(sum);
  for (int i = 0; i < lanes<Bytes>; ++i)
    total += uint32_t(int32_t(left[i]) * right[i]);
  return int32_t(total);
}

// Sixteen products.
template <int Lanes, typename Bytes> KILN_INLINE int32_t dot_s8s8_sixteens(Bytes left, Bytes right, int32_t sum) {
  static_assert(Lanes == 1 && lanes<Bytes> == 16, "sixteen bytes on either side of one sum");
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
  return mve::__arm_vmladavaq_s8(sum, bitcast<mve::Bytes>(left), bitcast<mve::Bytes>(right));
#else
  return addProducts(left, right, sum);
#endif
}

// Eight products of bytes that loads widen to words.
template <int Lanes, typename Bytes> KILN_INLINE int32_t dot_s8s8_eights(Bytes left, Bytes right, int32_t sum) {
  static_assert(Lanes == 1 && lanes<Bytes> == 8, "eight bytes on either side of one sum");
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
  using Words = vec<int16_t, 8>;
  return mve::__arm_vmladavaq_s16(sum, convert<Words>(left), convert<Words>(right));
#else
  return addProducts(left, right, sum);
#endif
}

} // namespace kiln

#endif // KILN_DOT_SINGLE_H
