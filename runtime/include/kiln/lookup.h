// Bytes replaced by those of a table of 256 bytes: one instruction for 128 of them where the CPU has it (AVX-512 VBMI), 16 at a time
// (SSSE3, AVX2), or one by one.
#ifndef KILN_LOOKUP_H
#define KILN_LOOKUP_H

#include "kiln/vector.h"

namespace kiln {

// As many lanes as To has: those of a vector, and behind them lanes that nobody reads.
template <typename To, typename V, int... I> KILN_INLINE To widenLanes(V x, Indices<I...>) {
  return __builtin_shufflevector(x, x, (I < lanes<V> ? I : -1)...);
}
template <typename To, typename V> KILN_INLINE To widen_lanes(V x) {
  if constexpr (lanes<To> == lanes<V>)
    return x;
  else
    return widenLanes<To>(x, LaneIndices<To>());
}
template <typename To, typename V, int... I> KILN_INLINE To firstLanes(V x, Indices<I...>) {
  return __builtin_shufflevector(x, x, I...);
}
template <typename To, typename V> KILN_INLINE To first_lanes(V x) {
  if constexpr (lanes<To> == lanes<V>)
    return x;
  else
    return firstLanes<To>(x, LaneIndices<To>());
}

#if defined(__AVX512VBMI__)
// Byte i & 127 of two vectors for each byte i.
KILN_INLINE i8x64 lookUpHalf(i8x64 low, i8x64 high, i8x64 x) {
#if defined(__clang__)
  return __builtin_ia32_vpermi2varqi512(low, x, high);
#else
  return __builtin_shuffle(low, high, x);
#endif
}
KILN_INLINE i8x64 lookUpLanes(const int8_t *table, i8x64 x) {
  i8x64 low = lookUpHalf(load<i8x64>(table), load<i8x64>(table + 64), x);
  i8x64 high = lookUpHalf(load<i8x64>(table + 128), load<i8x64>(table + 192), x);
  return x < 0 ? high : low;
}
using LookUpLanes = i8x64;
#elif defined(__AVX2__) || defined(__SSSE3__)
#if defined(__AVX2__)
using LookUpLanes = i8x32;
KILN_INLINE i8x32 lookUpPart(i8x16 part, i8x32 x) {
  using Chars = vec<char, 32>;
  return bitcast<i8x32>(__builtin_ia32_pshufb256(bitcast<Chars>(join(part, part)), bitcast<Chars>(x)));
}
#else
using LookUpLanes = i8x16;
KILN_INLINE i8x16 lookUpPart(i8x16 part, i8x16 x) {
  using Chars = vec<char, 16>;
  return bitcast<i8x16>(__builtin_ia32_pshufb128(bitcast<Chars>(part), bitcast<Chars>(x)));
}
#endif
// An index whose top bit is set gives zero: those outside a part of 16 bytes get it.
KILN_INLINE LookUpLanes lookUpLanes(const int8_t *table, LookUpLanes x) {
  using Unsigned = uint_like<LookUpLanes>;
  LookUpLanes result{};
  for (int part = 0; part < 16; ++part) {
    Unsigned place = bitcast<Unsigned>(x) - uint8_t(16 * part);
    place = place > 15 ? Unsigned{} + uint8_t(128) : place;
    result |= lookUpPart(load<i8x16>(table + 16 * part), bitcast<LookUpLanes>(place));
  }
  return result;
}
#else
template <typename V, int... I> KILN_INLINE V lookUpEach(const uint8_t *table, V x, Indices<I...>) {
  return V{int8_t(table[uint8_t(x[I])])...};
}
#endif

template <typename V> KILN_INLINE V lookup(const uint8_t *table, V x) {
  if constexpr (isScalar<V>) {
    return int8_t(table[uint8_t(x)]);
  } else {
#if defined(__AVX512VBMI__) || defined(__AVX2__) || defined(__SSSE3__)
    const int8_t *bytes = reinterpret_cast<const int8_t *>(table);
    if constexpr (lanes<V> > lanes<LookUpLanes>)
      return join(lookup(table, low_half(x)), lookup(table, high_half(x)));
    else
      return first_lanes<V>(lookUpLanes(bytes, widen_lanes<LookUpLanes>(x)));
#else
    return lookUpEach(table, x, LaneIndices<V>());
#endif
  }
}

} // namespace kiln

#endif // KILN_LOOKUP_H
