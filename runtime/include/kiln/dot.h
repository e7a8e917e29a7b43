// Steps of targets that add several neighbouring products to each 32-bit sum. Those of bytes, `dot_u8s8`, `dot_s8u8` and `dot_s8s8` and the first two in
// pairs, saturate nothing, so all of them give the same bits on any CPU.
#ifndef KILN_DOT_H
#define KILN_DOT_H

#include "kiln/dot_riscv.h"
#include "kiln/dot_single.h"
#include "kiln/dot_words.h"
#include "kiln/fours.h"
#include "kiln/vector.h"

namespace kiln {

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define KILN_DOT_BITS 512
#elif defined(__AVXVNNI__)
#define KILN_DOT_BITS 256
#elif defined(__ARM_FEATURE_MATMUL_INT8) || defined(__ARM_FEATURE_DOTPROD)
#define KILN_DOT_BITS 128
#else
#define KILN_DOT_BITS 0
#endif

// The left side of each sum: four bytes for all of them, or four for each.
template <typename V, typename Four> KILN_INLINE V spreadFours(Four left) {
  if constexpr (sizeof(Four) == sizeof(V))
    return bitcast<V>(left);
  else
    return broadcast<V>(bitcast<int32_t>(left));
}

// sum[i] + left[0] * right[4 i] + ... + left[3] * right[4 i + 3], one side of which is unsigned, on any CPU.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_u8s8_pairs(Four left, Bytes right, V sum) {
  static_assert(lanes<V> == Lanes && lanes<Bytes> == 4 * Lanes, "four bytes of the right side for each sum");
  return multiplyFoursInPairs(spreadFours<V>(left), bitcast<V>(right), sum);
}
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_s8u8_pairs(Four left, Bytes right, V sum) {
  static_assert(lanes<V> == Lanes && lanes<Bytes> == 4 * Lanes, "four bytes of the right side for each sum");
  return multiplyFoursInPairs(bitcast<V>(right), spreadFours<V>(left), sum);
}

// x[2 i] * y[2 i] + x[2 i + 1] * y[2 i + 1] for each lane i of V: bytes of `x` count as unsigned, those of `y` as signed, and sums beyond 16 bits saturate.
#if defined(__SSSE3__)
#define KILN_BYTE_PAIRS 1
template <typename V> KILN_INLINE auto multiplyBytePairs(V x, V y) {
  using Bytes = vec<char, 4 * lanes<V>>;
  [[maybe_unused]] Bytes a = bitcast<Bytes>(x), b = bitcast<Bytes>(y);
#if defined(__AVX512BW__) && defined(__clang__)
  if constexpr (lanes<V> == 16)
    return bitcast<vec<int16_t, 32>>(__builtin_ia32_pmaddubsw512(a, b));
#elif defined(__AVX512BW__)
  if constexpr (lanes<V> == 16)
    return bitcast<vec<int16_t, 32>>(__builtin_ia32_pmaddubsw512_mask(a, b, vec<int16_t, 32>{}, -1));
#endif
#if defined(__AVX2__)
  if constexpr (lanes<V> == 8)
    return bitcast<vec<int16_t, 16>>(__builtin_ia32_pmaddubsw256(a, b));
#endif
  if constexpr (lanes<V> == 4)
    return bitcast<vec<int16_t, 8>>(__builtin_ia32_pmaddubsw128(a, b));
  else if constexpr (lanes<V> > 4)
    return join(multiplyBytePairs(low_half(x), low_half(y)), multiplyBytePairs(high_half(x), high_half(y)));
}
#else
#define KILN_BYTE_PAIRS 0
#endif

// The sums of four products for each lane, as multiplyFoursInPairs has them, where no sum of two products goes beyond 16 bits.
template <typename V> KILN_INLINE V multiplyBoundedFours(V x, V y, V sum) {
#if KILN_BYTE_PAIRS
  using Words = vec<int16_t, 2 * lanes<V>>;
  return sum + multiply_pairs<V>(multiplyBytePairs(x, y), broadcast<Words>(int16_t(1)));
#elif defined(__aarch64__)
  if constexpr (lanes<V> == 4) {
    using Words = vec<int16_t, 8>;
    using Unsigned = uint_like<Words>;
    Unsigned a = bitcast<Unsigned>(x);
    Words even = bitcast<Words>(bitcast<Unsigned>(y) << 8u) >> 8, odd = bitcast<Words>(y) >> 8;
    return addWordPairs(sum, Words(bitcast<Words>(a & 0xffu) * even + bitcast<Words>(a >> 8u) * odd));
  } else {
    return multiplyFoursInPairs(x, y, sum);
  }
#else
  return multiplyFoursInPairs(x, y, sum);
#endif
}

// dot_u8s8_pairs for right sides of which it is known that no sum of two products, right[2 i] and right[2 i + 1] by any bytes, goes beyond 16 bits.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_u8s8_bounded(Four left, Bytes right, V sum) {
  return multiplyBoundedFours(spreadFours<V>(left), bitcast<V>(right), sum);
}

// dot_s8u8_pairs for right sides of seven bits: 2 * 127 * 128 is below 2^15. WebAssembly's relaxed product of pairs leaves to the machine what an eighth bit
// means. Its product of fours is not used: in functions that V8 11.3 (Node 20) has compiled in haste, it adds everything twice.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_s8u8_bounded(Four left, Bytes right, V sum) {
#if defined(__wasm_relaxed_simd__)
  if constexpr (Lanes == 4) {
    using Words = vec<int16_t, 8>;
    using Signed = vec<int8_t, 16>;
    Words words = __builtin_wasm_relaxed_dot_i8x16_i7x16_s_i16x8(bitcast<Signed>(spreadFours<V>(left)), bitcast<Signed>(right));
    return sum + multiply_pairs<V>(words, broadcast<Words>(int16_t(1)));
  }
#endif
  return multiplyBoundedFours(bitcast<V>(right), spreadFours<V>(left), sum);
}

#if KILN_DOT_BITS && defined(__aarch64__)
#if defined(__ARM_FEATURE_DOTPROD)
#define KILN_SIGNED_DOT 1
// The sums of four products for each lane where both sides are signed. The instruction takes a lane of `y` as it is for all of `x`.
template <typename V> KILN_INLINE V multiply_signed_fours(V x, V y, V sum) {
  using Bytes = vec<int8_t, 16>;
#if defined(__clang__)
  return __builtin_bit_cast(V, __builtin_neon_vdotq_s32(bitcast<Bytes>(sum), bitcast<Bytes>(x), bitcast<Bytes>(y), 34));
#else
  return __builtin_aarch64_sdot_prodv16qi(bitcast<Bytes>(x), bitcast<Bytes>(y), sum);
#endif
}
#endif

// The sums of four products for each lane: bytes of `x` count as unsigned, those of `y` as signed. Without an instruction for that, bytes of `x` count from
// -128 on, and 128 times the sum of the others is added: as twice 64 times, which depends on `y` only.
template <int Lanes, typename V> KILN_INLINE V multiply_fours(V x, V y, V sum) {
  static_assert(Lanes == 4, "a vector of 128 bits");
#if defined(__ARM_FEATURE_MATMUL_INT8)
  using Bytes = vec<int8_t, 16>;
#if defined(__clang__)
  return __builtin_bit_cast(V, __builtin_neon_vusdotq_s32(bitcast<Bytes>(sum), bitcast<Bytes>(x), bitcast<Bytes>(y), 34));
#else
  return __builtin_aarch64_usdot_prodv16qi_suss(bitcast<vec<uint8_t, 16>>(x), bitcast<Bytes>(y), sum);
#endif
#else
  const V middles = broadcast<V>(0x40404040);
  V offset = multiply_signed_fours(middles, y, multiply_signed_fours(middles, y, V{}));
  return multiply_signed_fours(V(x ^ int32_t(0x80808080u)), y, V(sum + offset));
#endif
}
#elif KILN_DOT_BITS
// One instruction for 4 bytes of each lane: those of `x` count as unsigned, those of `y` as signed.
template <int Lanes, typename V> KILN_INLINE V multiply_fours(V x, V y, V sum) {
#if defined(__clang__) && __clang_major__ >= 22
  vec<uint8_t, 4 * Lanes> a = bitcast<vec<uint8_t, 4 * Lanes>>(x);
  vec<int8_t, 4 * Lanes> b = bitcast<vec<int8_t, 4 * Lanes>>(y);
#else
  V a = x, b = y;
#endif
#if defined(__clang__)
#if KILN_DOT_BITS == 512
  if constexpr (Lanes == 16)
    return __builtin_ia32_vpdpbusd512(sum, a, b);
#endif
  if constexpr (Lanes == 8)
    return __builtin_ia32_vpdpbusd256(sum, a, b);
  if constexpr (Lanes == 4)
    return __builtin_ia32_vpdpbusd128(sum, a, b);
#else
#if KILN_DOT_BITS == 512
  if constexpr (Lanes == 16)
    return __builtin_ia32_vpdpbusd_v16si(sum, a, b);
#endif
  if constexpr (Lanes == 8)
    return __builtin_ia32_vpdpbusd_v8si(sum, a, b);
  if constexpr (Lanes == 4)
    return __builtin_ia32_vpdpbusd_v4si(sum, a, b);
#endif
}
#endif

// The sums of both by one instruction, where the CPU has it for so many lanes.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_u8s8(Four left, Bytes right, V sum) {
#if defined(KILN_RISCV_QUADS)
  if constexpr (hasQuads<Lanes>)
    return addUnsignedBySigned(left, right, sum);
#elif KILN_DOT_BITS
  if constexpr (Lanes == 4 || (Lanes == 8 && KILN_DOT_BITS > 128) || Lanes * 32 == KILN_DOT_BITS)
    return multiply_fours<Lanes>(spreadFours<V>(left), bitcast<V>(right), sum);
#endif
  return dot_u8s8_pairs<Lanes>(left, right, sum);
}

template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_s8u8(Four left, Bytes right, V sum) {
#if defined(KILN_RISCV_QUADS)
  if constexpr (hasQuads<Lanes>)
    return addSignedByUnsigned(left, right, sum);
#elif KILN_DOT_BITS
  if constexpr (Lanes == 4 || (Lanes == 8 && KILN_DOT_BITS > 128) || Lanes * 32 == KILN_DOT_BITS)
    return multiply_fours<Lanes>(bitcast<V>(right), spreadFours<V>(left), sum);
#endif
  return dot_s8u8_pairs<Lanes>(left, right, sum);
}

// Both sides signed.
template <int Lanes, typename Four, typename Bytes, typename V> KILN_INLINE V dot_s8s8(Four left, Bytes right, V sum) {
#if defined(KILN_RISCV_QUADS)
  if constexpr (hasQuads<Lanes>)
    return addSignedBySigned(left, right, sum);
#elif defined(KILN_SIGNED_DOT)
  if constexpr (Lanes == 4)
    return multiply_signed_fours(bitcast<V>(right), spreadFours<V>(left), sum);
#endif
  return multiplyFoursInPairs<true>(spreadFours<V>(left), bitcast<V>(right), sum);
}

// Bytes i of four vectors side by side, for the lanes of 32 bits of a part of them. Registers of several times 16 bytes are woven within those 16,
// so their lanes of 32 bits are dealt out first.
template <int Bytes> constexpr int dealtLane(int i) {
  constexpr int parts = Bytes / 16;
  return parts < 2 ? i : i % 4 * parts + i / 4;
}
template <typename V, int... I> KILN_INLINE V dealLanes(V x, Indices<I...>) {
  using Words = vec<int32_t, sizeof(V) / 4>;
  Words words = bitcast<Words>(x);
  return bitcast<V>(Words(__builtin_shufflevector(words, words, dealtLane<sizeof(V)>(I)...)));
}
// Elements of two vectors in turn, of the lower or the upper half of each 16 bytes.
template <bool Upper, typename V, int... I> KILN_INLINE V weaveLanes(V a, V b, Indices<I...>) {
  constexpr int each = 16 / sizeof(lane<V>);
  return __builtin_shufflevector(a, b, (I / each * each + Upper * each / 2 + I % each / 2 + I % 2 * lanes<V>)...);
}
template <int Part, typename V> KILN_INLINE V weaveQuads(V a, V b, V c, V d) {
  using Words = vec<int16_t, lanes<V> / 2>;
  Words low = bitcast<Words>(weaveLanes<(Part >= 2)>(a, b, LaneIndices<V>()));
  Words high = bitcast<Words>(weaveLanes<(Part >= 2)>(c, d, LaneIndices<V>()));
  return bitcast<V>(weaveLanes<(Part % 2 == 1)>(low, high, LaneIndices<Words>()));
}
template <int Part, typename V, int... I> KILN_INLINE V pickQuads(V a, V b, V c, V d, Indices<I...>) {
  constexpr int first = Part * (lanes<V> / 4);
  return V{(I % 4 == 0 ? a : I % 4 == 1 ? b : I % 4 == 2 ? c : d)[first + I / 4]...};
}
template <int Part, typename V> KILN_INLINE V dot_quads(V a, V b, V c, V d) {
  if constexpr (sizeof(V) < 16) {
    return pickQuads<Part>(a, b, c, d, LaneIndices<V>());
  } else {
    using Lanes = typename Count<sizeof(V) / 4>::type;
    return weaveQuads<Part>(dealLanes(a, Lanes()), dealLanes(b, Lanes()), dealLanes(c, Lanes()), dealLanes(d, Lanes()));
  }
}

} // namespace kiln

#endif // KILN_DOT_H
