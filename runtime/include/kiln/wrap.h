// Integers as ONNX has them, for scalars and vectors: they wrap around, which C++ alone would call undefined,
// and unsigned arithmetic on signed types, because a kernel's buffers have one type for both.
#ifndef KILN_WRAP_H
#define KILN_WRAP_H

#include "kiln/integer.h"

namespace kiln {

template <typename V> KILN_INLINE uint_like<V> asUnsigned(V value) {
  if constexpr (isScalar<V>)
    return static_cast<uint_like<V>>(value);
  else
    return bitcast<uint_like<V>>(value);
}
// Back from unsigned arithmetic; a narrow scalar comes as an int, to which C++ has promoted it.
template <typename V, typename U> KILN_INLINE V fromUnsigned(U value) {
  if constexpr (isScalar<V>)
    return static_cast<V>(static_cast<uint_like<V>>(value));
  else
    return bitcast<V>(value);
}

template <typename V> KILN_INLINE V add(V a, V b) { return fromUnsigned<V>(asUnsigned(a) + asUnsigned(b)); }
template <typename V> KILN_INLINE V sub(V a, V b) { return fromUnsigned<V>(asUnsigned(a) - asUnsigned(b)); }
template <typename V> KILN_INLINE V mul(V a, V b) {
  if constexpr (isScalar<V>) // 1u: two uint16_t would be multiplied as int, and that can overflow
    return fromUnsigned<V>(1u * asUnsigned(a) * asUnsigned(b));
  else
    return fromUnsigned<V>(asUnsigned(a) * asUnsigned(b));
}

// An index for machines with addresses of 32 bits. What lies beyond 2^30, such as a user's index of no element, becomes 2^30 or its negative, which are
// outside of all tensors.
template <typename V> constexpr auto narrow_index_of(lane<V> x) {
  constexpr int64_t most = int64_t(1) << 30;
  return int32_t(x > most ? most : x < -most ? -most : x);
}
template <typename To, typename V> KILN_INLINE To narrow_index(V x) {
  if constexpr (isScalar<V>) {
    return narrow_index_of<V>(x);
  } else {
    To result{};
    for (unsigned i = 0; i < lanes<V>; ++i)
      result[i] = narrow_index_of<V>(x[i]);
    return result;
  }
}

// Applies a function of scalars to each lane.
template <typename V, typename F> KILN_INLINE V eachLane(V a, V b, F function) {
  if constexpr (isScalar<V>) {
    return function(a, b);
  } else {
    V result = a;
    for (int i = 0; i < lanes<V>; ++i)
      result[i] = function(a[i], b[i]);
    return result;
  }
}

// Unsigned division of what is stored as signed.
template <typename V> KILN_INLINE V div_unsigned(V a, V b) { return fromUnsigned<V>(div(asUnsigned(a), asUnsigned(b))); }
template <typename V> KILN_INLINE V rem_unsigned(V a, V b) { return fromUnsigned<V>(rem(asUnsigned(a), asUnsigned(b))); }
// A quotient that rounds up.
template <typename V> KILN_INLINE V ceil_div(V a, V b) {
  return eachLane(a, b, [](lane<V> x, lane<V> y) -> lane<V> {
    Division<lane<V>> d = divide(x, y);
    return lane<V>(d.quotient + (d.remainder != 0 && (x < 0) == (y < 0) ? 1 : 0));
  });
}

// Shifts by any distance: all bits are gone from the width on (the arithmetic shift keeps the sign).
template <typename V> KILN_INLINE V shift_left(V a, V b) {
  return eachLane(a, b, [](lane<V> x, lane<V> y) -> lane<V> {
    return asUnsigned(y) >= 8 * sizeof(x) ? lane<V>(0) : lane<V>(uint64_t(asUnsigned(x)) << asUnsigned(y));
  });
}
template <typename V> KILN_INLINE V shift_right_unsigned(V a, V b) {
  using U = uint_like<V>;
  constexpr lane<U> longest = 8 * sizeof(lane<V>) - 1;
  if constexpr (isScalar<V>) {
    return asUnsigned(b) > longest ? V(0) : V(asUnsigned(a) >> asUnsigned(b));
  } else { // without a loop over lanes, which compilers leave as it is where they are told not to unroll
    U distance = asUnsigned(b);
    return bitcast<V>(U((asUnsigned(a) >> (distance & longest)) & bitcast<U>(distance <= longest)));
  }
}
template <typename V> KILN_INLINE V shift_right(V a, V b) {
  return eachLane(a, b, [](lane<V> x, lane<V> y) -> lane<V> {
    return lane<V>(x >> (asUnsigned(y) >= 8 * sizeof(x) ? 8 * sizeof(x) - 1 : size_t(asUnsigned(y))));
  });
}

template <typename V> KILN_INLINE V min_unsigned(V a, V b) {
  return fromUnsigned<V>(min<uint_like<V>>(asUnsigned(a), asUnsigned(b)));
}
template <typename V> KILN_INLINE V max_unsigned(V a, V b) {
#if defined(__ARM_FEATURE_SIMD32) && !defined(__ARM_NEON) && !defined(__ARM_FEATURE_MVE)
  // Differences of four bytes leave flags by which an instruction picks each byte.
  if constexpr (sizeof(V) == 4 && sizeof(lane<V>) == 1) {
    (void)__builtin_arm_usub8(bitcast<uint32_t>(a), bitcast<uint32_t>(b));
    return bitcast<V>(__builtin_arm_sel(bitcast<uint32_t>(a), bitcast<uint32_t>(b)));
  }
#endif
  return fromUnsigned<V>(max<uint_like<V>>(asUnsigned(a), asUnsigned(b)));
}

template <typename V> KILN_INLINE V abs_integer(V a) { return select(a < V{}, sub(V{}, a), a); }

// a to the power of b; what is no integer (a negative exponent of a number beyond 1) is 0.
template <typename V> KILN_INLINE V pow_integer(V a, V b) {
  return eachLane(a, b, [](lane<V> x, lane<V> y) -> lane<V> {
    if (y < 0)
      return x == 1 ? lane<V>(1) : x == lane<V>(-1) ? lane<V>(y % 2 ? -1 : 1) : lane<V>(0);
    lane<V> result = 1;
    for (; y > 0; y = lane<V>(y >> 1)) {
      if (y & 1)
        result = mul(result, x);
      x = mul(x, x);
    }
    return result;
  });
}

template <typename V> KILN_INLINE lane<V> reduce_add_wrapping(V value) {
#if defined(__AVX512F__) && defined(__clang__)
  // Clang 22 does not end when eight lanes of 32 bits come from a comparison. It leaves a sum of what it does not see through as it is.
  if constexpr (sizeof(V) == 32 && sizeof(lane<V>) == 4)
    asm("" : "+x"(value));
#endif
  return lane<V>(reduce_add(asUnsigned(value)));
}
template <typename V> KILN_INLINE lane<V> reduce_mul_wrapping(V value) { return lane<V>(reduce_mul(asUnsigned(value))); }
template <typename V> KILN_INLINE lane<V> reduce_min_unsigned(V value) { return lane<V>(reduce_min(asUnsigned(value))); }
template <typename V> KILN_INLINE lane<V> reduce_max_unsigned(V value) { return lane<V>(reduce_max(asUnsigned(value))); }

} // namespace kiln

#endif // KILN_WRAP_H
