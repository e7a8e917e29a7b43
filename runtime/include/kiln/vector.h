// Vectors for emitted kernels: types, memory access, lane selection, reductions. Freestanding C++17, any CPU:
// only the vector_size extension that GCC and Clang share, so a width the CPU lacks still works.
//
// Every function template works for scalars too (a scalar is a vector of one lane) and computes each lane
// exactly as it does the scalar.
#ifndef KILN_VECTOR_H
#define KILN_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
// Every function here is inlined, so no vector is passed by a calling convention that the ISA may change.
#pragma GCC diagnostic ignored "-Wpsabi"
#if defined(__aarch64__)
// The sums of a tile fill the registers. Loads that are moved up before registers are chosen, values kept from one step
// to the next, and constants of the code behind the loop would take some of them.
#pragma GCC optimize("no-schedule-insns", "no-predictive-commoning", "no-gcse")
#endif
#endif

#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__) && !defined(__clang__) && !defined(KILN_ALLOW_GCC_MVE)
#error "GCC 12 makes wrong code of comparisons of vectors for MVE: compile with Clang, or with -mcpu=cortex-m55+nomve; newer ones may define KILN_ALLOW_GCC_MVE"
#endif

#define KILN_INLINE inline __attribute__((always_inline))

namespace kiln {

template <typename T, int N> struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <typename T> struct VecOf<T, 1> {
  typedef T type;
};
// N lanes of T; T itself for N = 1.
template <typename T, int N> using vec = typename VecOf<T, N>::type;

using f32x4 = vec<float, 4>;
using f32x8 = vec<float, 8>;
using f32x16 = vec<float, 16>;
using f64x2 = vec<double, 2>;
using f64x4 = vec<double, 4>;
using f64x8 = vec<double, 8>;
using i8x16 = vec<int8_t, 16>;
using i8x32 = vec<int8_t, 32>;
using i8x64 = vec<int8_t, 64>;
using i16x8 = vec<int16_t, 8>;
using i16x16 = vec<int16_t, 16>;
using i16x32 = vec<int16_t, 32>;
using i32x4 = vec<int32_t, 4>;
using i32x8 = vec<int32_t, 8>;
using i32x16 = vec<int32_t, 16>;
using i64x2 = vec<int64_t, 2>;
using i64x4 = vec<int64_t, 4>;
using i64x8 = vec<int64_t, 8>;
using u8x16 = vec<uint8_t, 16>;
using u8x32 = vec<uint8_t, 32>;
using u8x64 = vec<uint8_t, 64>;
using u16x8 = vec<uint16_t, 8>;
using u16x16 = vec<uint16_t, 16>;
using u16x32 = vec<uint16_t, 32>;
using u32x4 = vec<uint32_t, 4>;
using u32x8 = vec<uint32_t, 8>;
using u32x16 = vec<uint32_t, 16>;
using u64x2 = vec<uint64_t, 2>;
using u64x4 = vec<uint64_t, 4>;
using u64x8 = vec<uint64_t, 8>;

template <typename T> struct RemoveReference {
  using type = T;
};
template <typename T> struct RemoveReference<T &> {
  using type = T;
};
template <typename A, typename B> inline constexpr bool isSame = false;
template <typename A> inline constexpr bool isSame<A, A> = true;

template <typename T>
inline constexpr bool isScalar =
    isSame<T, float> || isSame<T, double> || isSame<T, bool> || __is_enum(T) || isSame<T, signed char> ||
    isSame<T, unsigned char> || isSame<T, short> || isSame<T, unsigned short> || isSame<T, int> ||
    isSame<T, unsigned> || isSame<T, long> || isSame<T, unsigned long> || isSame<T, long long> ||
    isSame<T, unsigned long long>;

template <typename V, bool Scalar = isScalar<V>> struct LaneOf {
  using type = V;
};
template <typename V> struct LaneOf<V, false> {
  static V value;
  using type = typename RemoveReference<decltype(value[0])>::type;
};
// The lane type of a vector; a scalar's own type.
template <typename V> using lane = typename LaneOf<V>::type;
template <typename V> inline constexpr int lanes = int(sizeof(V) / sizeof(lane<V>));

template <int Bytes> struct IntOf;
template <> struct IntOf<1> {
  using type = int8_t;
};
template <> struct IntOf<2> {
  using type = int16_t;
};
template <> struct IntOf<4> {
  using type = int32_t;
};
template <> struct IntOf<8> {
  using type = int64_t;
};
// Signed integers of the same shape: the type of a lane mask (0 or -1), and of a float's bits.
template <typename V> using int_like = vec<typename IntOf<sizeof(lane<V>)>::type, lanes<V>>;
// The same number of lanes of another type.
template <typename V, typename T> using with_lane = vec<T, lanes<V>>;

template <int Bytes> struct UintOf;
template <> struct UintOf<1> {
  using type = uint8_t;
};
template <> struct UintOf<2> {
  using type = uint16_t;
};
template <> struct UintOf<4> {
  using type = uint32_t;
};
template <> struct UintOf<8> {
  using type = uint64_t;
};
template <typename V> using uint_like = vec<typename UintOf<sizeof(lane<V>)>::type, lanes<V>>;

// Lane numbers as a pack: loops over lanes must not depend on the compiler's loop unrolling.
template <int... I> struct Indices {};
template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
template <int... I> struct Count<0, I...> {
  using type = Indices<I...>;
};
template <typename V> using LaneIndices = typename Count<lanes<V>>::type;

template <typename To, typename From> KILN_INLINE To bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bitcast keeps the size");
  return __builtin_bit_cast(To, from);
}

template <typename V> KILN_INLINE V broadcast(lane<V> value) {
  if constexpr (isScalar<V>)
    return value;
  else if constexpr (isSame<lane<V>, float> || isSame<lane<V>, double>)
    return value - V{}; // not V{} + value: that turns -0 into +0
  else
    return V{} + value;
}

// A vector in memory, aligned as its lanes are, whatever the memory's type is.
template <typename V> struct Unaligned {
  typedef V type __attribute__((aligned(alignof(lane<V>)), may_alias));
};

// Unaligned access.
template <typename V> KILN_INLINE V load(const lane<V> *from) { return *reinterpret_cast<const typename Unaligned<V>::type *>(from); }
template <typename V> KILN_INLINE void store(lane<V> *to, V value) { *reinterpret_cast<typename Unaligned<V>::type *>(to) = value; }

// Converts each lane as static_cast does (float to int truncates; out of range is the caller's business).
template <typename To, typename From> KILN_INLINE To convert(From from) {
  if constexpr (isScalar<From>)
    return static_cast<To>(from);
  else
    return __builtin_convertvector(from, To);
}

// mask ? a : b in each lane. A scalar's mask is bool or any integer; a vector's is what a comparison gives, converted where its lanes have another size.
template <typename M, typename V> KILN_INLINE V select(M mask, V a, V b) {
  if constexpr (isScalar<V>) {
    return mask ? a : b;
  } else if constexpr (sizeof(M) == sizeof(V)) {
    return bitcast<int_like<V>>(mask) ? a : b;
  } else {
    return __builtin_convertvector(mask, int_like<V>) ? a : b;
  }
}

// For MVE, Clang 22 turns an "or" of two comparisons into an "and" of their opposites as if no operand was NaN, and makes such an "or" of a test for NaN.
// It leaves comparisons with what it does not see through as they are.
template <typename V> KILN_INLINE V hideFromClang(V value) {
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
  if constexpr (sizeof(V) == 16)
    asm("" : "+w"(value));
#endif
  return value;
}
template <typename V> KILN_INLINE auto is_nan(V a) { return a != hideFromClang(a); }
// Lanes where one of two comparisons holds.
template <typename M, typename N> KILN_INLINE auto either(M a, N b) { return hideFromClang(a) | b; }
KILN_INLINE bool either(bool a, bool b) { return a || b; }

// Minimum and maximum as ONNX means them: NaN when either operand is. The second one is asked, a clamp's number, which compilers know; on Cortex-M the first.
template <typename M, typename V> KILN_INLINE V prefer(M isBetter, V asked, V other) {
  V best = select(isBetter, asked, other); // the other when unordered
  if constexpr (lane<V>(0.5) != lane<V>(0))
    best = select(is_nan(asked), asked, best);
  return best;
}
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
template <typename V> KILN_INLINE V min(V a, V b) { return prefer(a < b, a, b); }
template <typename V> KILN_INLINE V max(V a, V b) { return prefer(a > b, a, b); }
#else
template <typename V> KILN_INLINE V min(V a, V b) { return prefer(b < a, b, a); }
template <typename V> KILN_INLINE V max(V a, V b) { return prefer(b > a, b, a); }
#endif

// f(0), ... f(Count - 1), without a loop: values in arrays stay in registers.
template <int Count, int From = 0, typename F> KILN_INLINE void each(const F &f) {
  if constexpr (From < Count) {
    f(From);
    each<Count, From + 1>(f);
  }
}

template <typename V> using half = vec<lane<V>, lanes<V> / 2>;
template <int Offset, typename V, int... I> KILN_INLINE half<V> takeHalf(V value, Indices<I...>) {
  return __builtin_shufflevector(value, value, (Offset + I)...);
}
template <typename V> KILN_INLINE half<V> low_half(V value) {
  if constexpr (lanes<V> == 2)
    return value[0];
  else
    return takeHalf<0>(value, typename Count<lanes<V> / 2>::type());
}
template <typename V> KILN_INLINE half<V> high_half(V value) {
  if constexpr (lanes<V> == 2)
    return value[1];
  else
    return takeHalf<lanes<V> / 2>(value, typename Count<lanes<V> / 2>::type());
}
template <typename V, int... I>
KILN_INLINE vec<lane<V>, 2 * lanes<V>> joinHalves(V low, V high, Indices<I...>) {
  return __builtin_shufflevector(low, high, I...);
}
template <typename V> KILN_INLINE vec<lane<V>, 2 * lanes<V>> join(V low, V high) {
  if constexpr (isScalar<V>)
    return vec<V, 2>{low, high};
  else
    return joinHalves(low, high, typename Count<2 * lanes<V>>::type());
}

// Reductions over the lanes. The order is fixed: lane i meets lane i + n/2, then the lower half goes on in the
// same way. Four lanes give (v0 + v2) + (v1 + v3) on every CPU.
template <typename V> KILN_INLINE lane<V> reduce_add(V value) {
  if constexpr (lanes<V> == 1)
    return value;
  else
    return reduce_add(low_half(value) + high_half(value));
}
template <typename V> KILN_INLINE lane<V> reduce_mul(V value) {
  if constexpr (lanes<V> == 1)
    return value;
  else
    return reduce_mul(low_half(value) * high_half(value));
}
template <typename V> KILN_INLINE lane<V> reduce_min(V value) {
  if constexpr (lanes<V> == 1)
    return value;
  else
    return reduce_min(min(low_half(value), high_half(value)));
}
template <typename V> KILN_INLINE lane<V> reduce_max(V value) {
  if constexpr (lanes<V> == 1)
    return value;
  else
    return reduce_max(max(low_half(value), high_half(value)));
}
// Whether a mask is set in any lane, or in all.
template <typename M> KILN_INLINE bool any(M mask) {
  if constexpr (isScalar<M> || lanes<M> == 1)
    return mask != 0;
  else
    return any(low_half(mask) | high_half(mask));
}
template <typename M> KILN_INLINE bool all(M mask) {
  if constexpr (isScalar<M> || lanes<M> == 1)
    return mask != 0;
  else
    return all(low_half(mask) & high_half(mask));
}

} // namespace kiln

#endif // KILN_VECTOR_H
