// Sums of depthwise convolutions of bytes for targets whose steps multiply rows side by side (kiln/rows.h): a few channels at one place of the window, with the
// same bits on any CPU.
#ifndef KILN_DEPTHWISE_H
#define KILN_DEPTHWISE_H

#include "kiln/fours.h"

namespace kiln {

struct FourBytes {
  uint8_t bytes[4];
};

// Bytes 0 and 2 of four signed ones as words.
KILN_INLINE int32_t signedWords(uint32_t four) {
#if defined(__ARM_FEATURE_SIMD32)
  return __builtin_arm_sxtb16(int32_t(four));
#else
  return int32_t(uint16_t(int16_t(int8_t(four))) | uint32_t(int8_t(four >> 16)) << 16);
#endif
}

// The weights of four channels, [tap, channel], as words: for each tap those of channels 0 and 2, then of 1 and 3.
template <typename Index> KILN_INLINE void depthwise_u8s8_widen(int32_t *words, const int8_t *weights, Index at, int taps) {
  KILN_SHORT_LOOP
  for (int tap = 0; tap < taps; ++tap) {
    const uint32_t four = bitcast<uint32_t>(load<vec<int8_t, 4>>(weights + at + 4 * tap));
    words[2 * tap] = signedWords(four);
    words[2 * tap + 1] = signedWords(four >> 8 | four << 24);
  }
}

// What four unsigned bytes add to the sums of four channels.
KILN_INLINE void addTap(int32_t &a, int32_t &b, int32_t &c, int32_t &d, const uint8_t *from, const int32_t *&words) {
#if defined(__ARM_FEATURE_SIMD32)
  int32_t four, even, low, high;
  __asm__ volatile("ldr %[four], %[from]\n\tldrd %[low], %[high], [%[words]], #8\n\t"
                   "uxtb16 %[even], %[four]\n\tsmlabb %[a], %[even], %[low], %[a]\n\tsmlatt %[c], %[even], %[low], %[c]\n\t"
                   "uxtb16 %[four], %[four], ror #8\n\tsmlabb %[b], %[four], %[high], %[b]\n\tsmlatt %[d], %[four], %[high], %[d]"
                   : [four] "=&r"(four), [even] "=&r"(even), [low] "=&r"(low), [high] "=&r"(high), [words] "+r"(words), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c),
                     [d] "+r"(d)
                   : [from] "m"(*reinterpret_cast<const FourBytes *>(from))
                   : "memory");
#else
  a += from[0] * int16_t(words[0]), b += from[1] * int16_t(words[1]);
  c += from[2] * (words[0] >> 16), d += from[3] * (words[1] >> 16);
  words += 2;
#endif
}

// sums[channel] of four channels at one place of the window, whose taps and rows of taps lie so many bytes apart.
template <typename Byte, typename Index>
KILN_INLINE void depthwise_u8s8(int32_t *sums, const int32_t *words, const Byte *in, Index at, int height, int width, int rowStride, int tapStride) {
  const uint8_t *from = reinterpret_cast<const uint8_t *>(in) + at;
  int32_t a = 0, b = 0, c = 0, d = 0;
  for (int row = 0; row < height; ++row, from += rowStride) {
    int tap = 0;
    for (; tap + 3 <= width; tap += 3) {
      addTap(a, b, c, d, from + tap * tapStride, words);
      addTap(a, b, c, d, from + (tap + 1) * tapStride, words);
      addTap(a, b, c, d, from + (tap + 2) * tapStride, words);
    }
    for (; tap < width; ++tap)
      addTap(a, b, c, d, from + tap * tapStride, words);
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}

// The same of eight channels of signed bytes, whose weights are [tap, channel].
template <typename Index>
KILN_INLINE void depthwise_s8s8(int32_t *sums, const int8_t *weights, Index first, const int8_t *in, Index at, int height, int width, int rowStride,
                                     int tapStride) {
  const int8_t *taps = weights + first, *from = in + at;
#if defined(__ARM_FEATURE_MVE)
  vec<int32_t, 4> even{}, odd{};
  const auto add = [&](const int8_t *eight) {
    __asm__ volatile("vldrb.s16 q0, [%[eight]]\n\tvldrb.s16 q1, [%[taps]], #8\n\tvmullb.s16 q2, q0, q1\n\tvmullt.s16 q3, q0, q1\n\t"
                     "vadd.i32 %q[even], %q[even], q2\n\tvadd.i32 %q[odd], %q[odd], q3"
                     : [even] "+w"(even), [odd] "+w"(odd), [taps] "+l"(taps)
                     : [eight] "l"(eight)
                     : "memory", "q0", "q1", "q2", "q3");
  };
  for (int row = 0; row < height; ++row, from += rowStride) {
    int tap = 0;
    for (; tap + 3 <= width; tap += 3) {
      add(from + tap * tapStride);
      add(from + (tap + 1) * tapStride);
      add(from + (tap + 2) * tapStride);
    }
    for (; tap < width; ++tap)
      add(from + tap * tapStride);
  }
  __asm__ volatile("vmov q0, %q[even]\n\tvmov q1, %q[odd]\n\tvst20.32 {q0, q1}, [%[sums]]\n\tvst21.32 {q0, q1}, [%[sums]]" ::[even] "w"(even), [odd] "w"(odd),
                   [sums] "r"(sums)
                   : "memory", "q0", "q1");
#else
  for (int channel = 0; channel < 8; ++channel) {
    int32_t sum = 0;
    for (int row = 0; row < height; ++row)
      for (int tap = 0; tap < width; ++tap)
        sum += taps[8 * (row * width + tap) + channel] * from[row * rowStride + tap * tapStride + channel];
    sums[channel] = sum;
  }
#endif
}

} // namespace kiln

#endif // KILN_DEPTHWISE_H
