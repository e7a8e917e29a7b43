// The step that adds eight neighbouring products of bytes to a single sum, for vectors of MVE, which add all their products to a register.
#ifndef KILN_DOT_EIGHTS_H
#define KILN_DOT_EIGHTS_H

#include "kiln/vector.h"

#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
namespace kiln::mve {
// What Clang's arm_mve.h declares; the built-in compiler has no such file. The attribute asks for this name.
typedef __attribute__((neon_vector_type(8))) int16_t Words;
static __inline__ __attribute__((__clang_arm_builtin_alias(__builtin_arm_mve_vmladavaq_s16))) int32_t __arm_vmladavaq_s16(int32_t, Words, Words);
} // namespace kiln::mve
#endif

namespace kiln {

// sum + left[0] * right[0] + ... + left[7] * right[7]: bytes on the left count as unsigned, those on the right as signed. Loads widen them to words.
template <int Lanes, typename Bytes> KILN_INLINE int32_t dot_u8s8_eights(Bytes left, Bytes right, int32_t sum) {
  static_assert(Lanes == 1 && lanes<Bytes> == 8, "eight bytes on either side of one sum");
  using Words = vec<int16_t, 8>;
  const Words a = convert<Words>(bitcast<uint_like<Bytes>>(left)), b = convert<Words>(right);
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
  return mve::__arm_vmladavaq_s16(sum, a, b);
#else
  uint32_t total = uint32_t(sum);
  for (int i = 0; i < 8; ++i)
    total += uint32_t(int32_t(a[i]) * b[i]);
  return int32_t(total);
#endif
}

} // namespace kiln

#endif // KILN_DOT_EIGHTS_H
