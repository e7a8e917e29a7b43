// Lanes one by one, and comparisons that no C++ operator has, for scalars and vectors.
#ifndef KILN_LANES_H
#define KILN_LANES_H

#include "kiln/vector.h"

namespace kiln {

// The vector with one lane replaced.
template <typename V> KILN_INLINE V insert(V value, int64_t position, lane<V> element) {
  value[position] = element;
  return value;
}

// Elements `stride` apart. A loop over lanes would go through memory where compilers leave loops as they are.
template <typename V, int... I> KILN_INLINE V loadStrided(const lane<V> *from, int64_t stride, Indices<I...>) {
  return V{from[I * stride]...};
}
template <typename V> KILN_INLINE V load_strided(const lane<V> *from, int64_t stride) { return loadStrided<V>(from, stride, LaneIndices<V>()); }

// What a comparison of V gives: bool, or a lane mask.
template <typename V> KILN_INLINE auto unordered(V a, V b) { return either(is_nan(a), is_nan(b)); }
template <typename V> KILN_INLINE auto ordered(V a, V b) {
  if constexpr (isScalar<V>)
    return a == a && b == b;
  else
    return (a == hideFromClang(a)) & (b == hideFromClang(b));
}
template <typename V> KILN_INLINE auto less_or_greater(V a, V b) { return either(a < b, a > b); }
template <typename V> KILN_INLINE auto equal_or_unordered(V a, V b) { return either(a == b, unordered(a, b)); }

// The other operand where one is NaN.
template <typename V> KILN_INLINE V min_number(V a, V b) { return select(is_nan(a), b, select(b < a, b, a)); }
template <typename V> KILN_INLINE V max_number(V a, V b) { return select(is_nan(a), b, select(b > a, b, a)); }

} // namespace kiln

#endif // KILN_LANES_H
