// Sums of depthwise convolutions of bytes for targets whose steps multiply rows side by side (kiln/rows.h): a few channels at one place of the window, with the
// same bits on any CPU.
#ifndef KILN_DEPTHWISE_H
#define KILN_DEPTHWISE_H

#include "kiln/dot_single.h"
#include "kiln/fours.h"

#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
namespace kiln::mve {
typedef __attribute__((neon_vector_type(4))) int32_t Sums;
typedef __attribute__((neon_vector_type(4))) uint32_t Addresses;
static __inline__ __attribute__((__clang_arm_builtin_alias(__builtin_arm_mve_vldrwq_gather_base_s32))) Sums __arm_vldrwq_gather_base_s32(Addresses, int);
} // namespace kiln::mve
#endif

namespace kiln {

//===- Tap by tap ----------------------------------------------------------===//

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
#pragma GCC unroll 2 // compilers would write out whole what is short
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

//===- Windows of three by three whose rows lie side by side ---------------===//

// Two halves of words, whose low halves or high halves become one word.
KILN_INLINE int32_t joinLow(uint32_t a, uint32_t b) { return int32_t((a & 0xffffu) | b << 16); }
KILN_INLINE int32_t joinHigh(uint32_t a, uint32_t b) { return int32_t(a >> 16 | (b & 0xffff0000u)); }

// sum + two products of words.
KILN_INLINE int32_t addTwo(int32_t words, int32_t taps, int32_t sum) {
#if defined(__ARM_FEATURE_SIMD32)
  return __builtin_arm_smlad(words, taps, sum);
#else
  return int32_t(uint32_t(sum) + uint32_t(int16_t(words) * int16_t(taps)) + uint32_t((words >> 16) * (taps >> 16)));
#endif
}

// Columns of four channels, whose three bytes lie `rowStride` apart. Two words of each, for a channel at words[2 * column + 1]: the bytes of the first two
// rows, and that of the third row beside its neighbour. Channels are 2 * columns + 2 words apart.
template <typename Byte, typename Index>
KILN_INLINE void depthwise_u8s8_columns(int32_t *words, const Byte *in, Index at, int columns, int rowStride, int columnStride) {
  const uint8_t *from = reinterpret_cast<const uint8_t *>(in) + at;
  int32_t *second = words + (2 * columns + 2), *third = second + (2 * columns + 2), *fourth = third + (2 * columns + 2);
  uint32_t even = 0, odd = 0;
#pragma GCC unroll 2 // compilers would write out whole what is short
  for (int i = 0; i < 2 * columns; i += 2, from += columnStride) {
    const auto row = [&](int number) { return bitcast<uint32_t>(load<vec<uint8_t, 4>>(from + number * rowStride)); };
    const uint32_t top = row(0), middle = row(1), bottom = row(2);
    const uint32_t a = wordsOfBytes(top, false), b = wordsOfBytes(middle, false), c = wordsOfBytes(bottom, false);
    words[i] = joinLow(even, c), words[i + 1] = joinLow(a, b);
    third[i] = joinHigh(even, c), third[i + 1] = joinHigh(a, b);
    const uint32_t d = wordsOfBytes(top, true), e = wordsOfBytes(middle, true), f = wordsOfBytes(bottom, true);
    second[i] = joinLow(odd, f), second[i + 1] = joinLow(d, e);
    fourth[i] = joinHigh(odd, f), fourth[i + 1] = joinHigh(d, e);
    even = c, odd = f;
  }
  words[2 * columns] = joinLow(even, 0), third[2 * columns] = joinHigh(even, 0);
  second[2 * columns] = joinLow(odd, 0), fourth[2 * columns] = joinHigh(odd, 0);
}

// The nine weights of a channel, [row, column], in five words.
template <typename Index> KILN_INLINE void depthwise_u8s8_taps(int32_t *taps, const int8_t *weights, Index at) {
  const int8_t *from = weights + at;
  const auto two = [&](int low, int high) { return joinLow(uint32_t(from[low]), uint32_t(from[high])); };
  taps[0] = two(0, 3), taps[1] = two(1, 4), taps[2] = two(2, 5), taps[3] = two(6, 7), taps[4] = from[8] & 0xffff;
}

// The sum of the window whose first column has its second word behind words[at].
template <typename Index> KILN_INLINE void depthwise_u8s8_window(int32_t *sum, const int32_t *words, Index at, const int32_t *taps) {
  const int32_t *from = words + at + 1;
#if defined(__ARM_FEATURE_SIMD32) && defined(__thumb__)
  // Compilers load more ahead than there are registers beside the weights.
  int32_t a, b, c;
  __asm__ volatile("ldrd %[a], %[b], [%[from]]\n\tldr %[c], [%[from], #8]\n\tsmuad %[a], %[a], %[tap0]\n\tsmlad %[a], %[b], %[tap3], %[a]\n\t"
                   "smlad %[c], %[c], %[tap1], %[a]\n\tldrd %[a], %[b], [%[from], #16]\n\t"
                   "smlad %[c], %[a], %[tap2], %[c]\n\tsmlad %[c], %[b], %[tap4], %[c]"
                   : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c)
                   : [from] "r"(from), [tap0] "r"(taps[0]), [tap1] "r"(taps[1]), [tap2] "r"(taps[2]), [tap3] "r"(taps[3]), [tap4] "r"(taps[4])
                   : "memory");
  *sum = c;
#else
  int32_t first = addTwo(from[1], taps[3], addTwo(from[0], taps[0], 0));
  first = addTwo(from[2], taps[1], first);
  *sum = addTwo(from[5], taps[4], addTwo(from[4], taps[2], first));
#endif
}

// The same for signed bytes: for each byte of a line, one word of the bytes of three lines and zero. The bytes are neighbours; there are sixteen or more.
template <typename Index>
KILN_INLINE void depthwise_s8s8_columns(int32_t *words, const int8_t *in, Index at, int columns, int rowStride, int columnStride) {
  const int8_t *top = in + at, *middle = top + rowStride, *bottom = middle + rowStride;
  const int count = columns * columnStride;
#if defined(__ARM_FEATURE_MVE)
  const auto weave = [&](int vectors) {
    __asm__ volatile("vmov.i32 q3, #0x0\n\tdls lr, %[vectors]\n1:\n\t"
                     "vldrb.u8 q0, [%[top]], #16\n\tvldrb.u8 q1, [%[middle]], #16\n\tvldrb.u8 q2, [%[bottom]], #16\n\t"
                     "vst40.8 {q0, q1, q2, q3}, [%[words]]\n\tvst41.8 {q0, q1, q2, q3}, [%[words]]\n\tvst42.8 {q0, q1, q2, q3}, [%[words]]\n\t"
                     "vst43.8 {q0, q1, q2, q3}, [%[words]]!\n\tle lr, 1b"
                     : [words] "+r"(words), [top] "+r"(top), [middle] "+r"(middle), [bottom] "+r"(bottom)
                     : [vectors] "r"(vectors)
                     : "memory", "lr", "q0", "q1", "q2", "q3");
  };
  weave(count / 16);
  if (const int over = (16 - count % 16) % 16) {
    // Some bytes once more.
    top -= over, middle -= over, bottom -= over, words -= over;
    weave(1);
  }
#else
  for (int i = 0; i < count; ++i)
    words[i] = int32_t(uint32_t(uint8_t(top[i])) | uint32_t(uint8_t(middle[i])) << 8 | uint32_t(uint8_t(bottom[i])) << 16);
#endif
}

// The weights of four channels, [channel, column, row], which have a fourth column and row of zeros.
template <typename Index> KILN_INLINE void depthwise_s8s8_taps(int32_t *taps, const int8_t *weights, Index at) {
  for (int channel = 0; channel < 4; ++channel)
    store(taps + 4 * channel, bitcast<vec<int32_t, 4>>(load<vec<int8_t, 16>>(weights + at + 16 * channel)));
}

// The sums of four channels, whose first columns are at words[at] and whose next ones lie `apart`.
template <typename Index> KILN_INLINE void depthwise_s8s8_window(int32_t *sums, const int32_t *words, Index at, const int32_t *taps, int apart) {
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
  // The bytes behind a window meet zeros.
  const uint32_t from = uint32_t(reinterpret_cast<uintptr_t>(words + at)), step = uint32_t(4 * apart);
  const auto columns = bitcast<mve::Addresses>(vec<uint32_t, 4>{0, step, 2 * step, 3 * step} + from);
  const auto sum = [&](mve::Sums window, int channel) {
    return mve::__arm_vmladavaq_s8(0, bitcast<mve::Bytes>(window), bitcast<mve::Bytes>(load<vec<int32_t, 4>>(taps + 4 * channel)));
  };
  const vec<int32_t, 4> all = {sum(mve::__arm_vldrwq_gather_base_s32(columns, 0), 0), sum(mve::__arm_vldrwq_gather_base_s32(columns, 4), 1),
                               sum(mve::__arm_vldrwq_gather_base_s32(columns, 8), 2), sum(mve::__arm_vldrwq_gather_base_s32(columns, 12), 3)};
  store(sums, all);
#else
  for (int channel = 0; channel < 4; ++channel) {
    int32_t sum = 0;
    for (int column = 0; column < 3; ++column) {
      const auto bytes = bitcast<vec<int8_t, 4>>(words[at + column * apart + channel]), weights = bitcast<vec<int8_t, 4>>(taps[4 * channel + column]);
      sum += bytes[0] * weights[0] + bytes[1] * weights[1] + bytes[2] * weights[2];
    }
    sums[channel] = sum;
  }
#endif
}

} // namespace kiln

#endif // KILN_DEPTHWISE_H
