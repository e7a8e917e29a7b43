// Products of neighbouring words and bytes that are added, for CPUs without an instruction for four bytes.
#ifndef KILN_FOURS_H
#define KILN_FOURS_H

#include "kiln/vector.h"

namespace kiln {

// x[2 i] * y[2 i] + x[2 i + 1] * y[2 i + 1] for each lane i of V.
template <typename V, typename Words> KILN_INLINE V multiply_pairs(Words x, Words y) {
#if defined(__AVX512BW__) && defined(__clang__)
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_pmaddwd512(x, y);
#elif defined(__AVX512BW__)
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_pmaddwd512_mask(x, y, V{}, -1);
#endif
#if defined(__AVX2__)
  if constexpr (lanes<V> == 8)
    return __builtin_ia32_pmaddwd256(x, y);
#endif
#if defined(__SSE2__)
  if constexpr (lanes<V> == 4)
    return __builtin_ia32_pmaddwd128(x, y);
  if constexpr (lanes<V> > 4)
    return join(multiply_pairs<half<V>>(low_half(x), low_half(y)), multiply_pairs<half<V>>(high_half(x), high_half(y)));
#elif defined(__wasm_simd128__)
  if constexpr (lanes<V> == 4)
    return __builtin_wasm_dot_s_i32x4_i16x8(x, y);
  if constexpr (lanes<V> > 4)
    return join(multiply_pairs<half<V>>(low_half(x), low_half(y)), multiply_pairs<half<V>>(high_half(x), high_half(y)));
#endif
  V a = bitcast<V>(x), b = bitcast<V>(y);
  auto low = [](V pair) { return V(bitcast<V>(bitcast<uint_like<V>>(pair) << 16u) >> 16); };
  return low(a) * low(b) + (a >> 16) * (b >> 16);
}

// Four products of the bytes of a word: those of `y` are signed, those of `x` if `Signed`.
template <bool Signed> KILN_INLINE int32_t multiplyFourBytes(int32_t x, int32_t y, int32_t sum) {
#if defined(__ARM_FEATURE_SIMD32)
  // Bytes 0 and 2 as words, then 1 and 3, of which an instruction multiplies two pairs.
  const auto right = [](int32_t word) { return int32_t(uint32_t(word) >> 8 | uint32_t(word) << 24); };
  const auto left = [](int32_t word) { return Signed ? __builtin_arm_sxtb16(word) : __builtin_arm_uxtb16(word); };
  sum = __builtin_arm_smlad(left(x), __builtin_arm_sxtb16(y), sum);
  return __builtin_arm_smlad(left(right(x)), __builtin_arm_sxtb16(right(y)), sum);
#else
  const auto left = [&](int byte) { return Signed ? int32_t(int8_t(uint32_t(x) >> 8 * byte)) : int32_t(uint8_t(uint32_t(x) >> 8 * byte)); };
  const auto product = [&](int byte) { return uint32_t(left(byte) * int8_t(uint32_t(y) >> 8 * byte)); };
  return int32_t(uint32_t(sum) + product(0) + product(1) + product(2) + product(3));
#endif
}

// Four unsigned bytes as words: bytes 0 and 2, or 1 and 3 if `odd`.
KILN_INLINE uint32_t wordsOfBytes(uint32_t four, bool odd) { return (odd ? four >> 8 : four) & 0x00ff00ffu; }

#if defined(__aarch64__)
// sum[i] + words[2 i] + words[2 i + 1]. Clang's functions for instructions of NEON return another type than they declare, which must be cast at once: as an
// argument it becomes wrong LLVM IR.
template <typename V, typename Words> KILN_INLINE V addWordPairs(V sum, Words words) {
#if defined(__clang__)
  return __builtin_bit_cast(V, __builtin_neon_vpadalq_v(bitcast<vec<int8_t, 16>>(sum), bitcast<vec<int8_t, 16>>(words), 34));
#else
  return __builtin_aarch64_sadalpv8hi(sum, words);
#endif
}
#endif

// The sums of four products for each lane: bytes of `x` count as unsigned, those of `y` as signed. They become words, of which an instruction multiplies
// pairs: bytes 0 and 2, then 1 and 3.
template <typename V> KILN_INLINE V multiplyFoursOfLanes(V x, V y, V sum) {
  using Words = vec<int16_t, 2 * lanes<V>>;
  using Unsigned = uint_like<Words>;
  Unsigned a = bitcast<Unsigned>(x);
  Words even = bitcast<Words>(bitcast<Unsigned>(y) << 8u) >> 8, odd = bitcast<Words>(y) >> 8;
#if defined(__aarch64__)
  // Products of bytes fit words.
  if constexpr (lanes<V> == 4)
    return addWordPairs(addWordPairs(sum, Words(bitcast<Words>(a & 0xffu) * even)), Words(bitcast<Words>(a >> 8u) * odd));
#endif
  return sum + multiply_pairs<V>(bitcast<Words>(a & 0xffu), even) + multiply_pairs<V>(bitcast<Words>(a >> 8u), odd);
}
// The same where both sides are signed.
template <typename V> KILN_INLINE V multiplySignedFoursOfLanes(V x, V y, V sum) {
  using Words = vec<int16_t, 2 * lanes<V>>;
  const auto even = [](V bytes) { return bitcast<Words>(bitcast<uint_like<Words>>(bytes) << 8u) >> 8; };
  const auto odd = [](V bytes) { return bitcast<Words>(bytes) >> 8; };
#if defined(__ARM_FEATURE_MVE)
  // Instructions multiply words and lengthen them, but no pairs.
  const auto addPairs = [](V to, Words words) { return to + (bitcast<V>(bitcast<uint_like<V>>(words) << 16u) >> 16) + (bitcast<V>(words) >> 16); };
  return addPairs(addPairs(sum, Words(even(x) * even(y))), Words(odd(x) * odd(y)));
#else
#if defined(__aarch64__)
  if constexpr (lanes<V> == 4)
    return addWordPairs(addWordPairs(sum, Words(even(x) * even(y))), Words(odd(x) * odd(y)));
#endif
  return sum + multiply_pairs<V>(even(x), even(y)) + multiply_pairs<V>(odd(x), odd(y));
#endif
}

// A CPU without vectors takes lane by lane.
template <bool Signed, typename V, int... I> KILN_INLINE V multiplyFoursOneByOne(V x, V y, V sum, Indices<I...>) {
  return V{multiplyFourBytes<Signed>(x[I], y[I], sum[I])...};
}
// `Signed`: whether the bytes of `x` are.
template <bool Signed = false, typename V> KILN_INLINE V multiplyFoursInPairs(V x, V y, V sum) {
#if (defined(__arm__) && !defined(__ARM_NEON) && !defined(__ARM_FEATURE_MVE)) || (defined(__riscv) && !defined(__riscv_vector))
  constexpr bool oneByOne = true;
#else
  constexpr bool oneByOne = false;
#endif
  if constexpr (lanes<V> == 1)
    return multiplyFourBytes<Signed>(x, y, sum);
  else if constexpr (oneByOne)
    return multiplyFoursOneByOne<Signed>(x, y, sum, LaneIndices<V>());
  else if constexpr (Signed)
    return multiplySignedFoursOfLanes(x, y, sum);
  else
    return multiplyFoursOfLanes(x, y, sum);
}

} // namespace kiln

#endif // KILN_FOURS_H
