// Access to the first lanes of a vector, for the ends of rows: memory behind them is neither read nor written.
#ifndef KILN_PARTIAL_H
#define KILN_PARTIAL_H

#include "kiln/vector.h"

namespace kiln {

template <typename V, int... I>
KILN_INLINE void loadLanes(V &value, const lane<V> *from, int count, Indices<I...>) {
  ((I < count ? void(value[I] = from[I]) : void()), ...);
}
template <typename V, int... I>
KILN_INLINE void storeLanes(lane<V> *to, V value, int count, Indices<I...>) {
  ((I < count ? void(to[I] = value[I]) : void()), ...);
}

// The masked instructions that move lanes of this type, if the target has any.
template <typename V>
inline constexpr bool hasMask512 =
#if defined(__AVX512F__)
    sizeof(V) == 64 && sizeof(lane<V>) == 4;
#else
    false;
#endif
template <typename V>
inline constexpr bool hasMask256 =
#if defined(__AVX2__)
    sizeof(V) == 32 && sizeof(lane<V>) == 4;
#else
    false;
#endif

#if defined(__AVX512F__)
KILN_INLINE uint16_t maskOf(int count) { return uint16_t((uint32_t(1) << count) - 1); }
KILN_INLINE f32x16 maskedLoad(const void *from, f32x16 fill, int count) {
  return __builtin_ia32_loadups512_mask(static_cast<const float *>(from), fill, maskOf(count));
}
KILN_INLINE void maskedStore(void *to, f32x16 value, int count) {
  __builtin_ia32_storeups512_mask(static_cast<float *>(to), value, maskOf(count));
}
#endif
#if defined(__AVX2__)
KILN_INLINE i32x8 maskOf8(int count) { return i32x8{0, 1, 2, 3, 4, 5, 6, 7} < count; }
KILN_INLINE f32x8 maskedLoad(const void *from, f32x8 fill, int count) {
  i32x8 mask = maskOf8(count);
  return mask ? f32x8(__builtin_ia32_maskloadps256(static_cast<const f32x8 *>(from), mask)) : fill;
}
KILN_INLINE void maskedStore(void *to, f32x8 value, int count) {
  __builtin_ia32_maskstoreps256(static_cast<f32x8 *>(to), maskOf8(count), value);
}
#endif

// The first `count` lanes, 0 <= count <= lanes; the others are `fill`.
template <typename V> KILN_INLINE V load_partial(const lane<V> *from, int count, lane<V> fill = lane<V>()) {
  V value = broadcast<V>(fill);
  if constexpr (isScalar<V>) {
    if (count > 0)
      value = *from;
  } else if constexpr (hasMask512<V> || hasMask256<V>) {
    value = bitcast<V>(maskedLoad(from, bitcast<vec<float, lanes<V>>>(value), count));
  } else {
    loadLanes(value, from, count, LaneIndices<V>());
  }
  return value;
}

template <typename V> KILN_INLINE void store_partial(lane<V> *to, V value, int count) {
  if constexpr (isScalar<V>) {
    if (count > 0)
      *to = value;
  } else if constexpr (hasMask512<V> || hasMask256<V>) {
    maskedStore(to, bitcast<vec<float, lanes<V>>>(value), count);
  } else {
    storeLanes(to, value, count, LaneIndices<V>());
  }
}

} // namespace kiln

#endif // KILN_PARTIAL_H
