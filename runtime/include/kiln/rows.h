// Steps that multiply several rows, whose elements a task puts side by side once for all columns: `rows_..._take` for each row, then `rows_...` for each column
// or four. Sums of bytes have the same bits on any CPU. The loops are in assembly, because compilers load too much ahead of its use for general registers.
#ifndef KILN_ROWS_H
#define KILN_ROWS_H

#include "kiln/dot_single.h"
#include "kiln/fours.h"

namespace kiln {

//===- Words of unsigned bytes, by signed bytes ----------------------------===//

template <int N> struct Number {
  static constexpr int value = N;
};

// The array has, for each four bytes of a sum, the words of bytes 0 and 2 of all rows, then those of bytes 1 and 3. Takes `count` fours of one row.
template <typename Byte, typename Index>
KILN_INLINE void rows_u8s8_take(int32_t *rows, int first, int height, int row, const Byte *from, Index at, int count) {
  int32_t *to = rows + 2 * first * height + row;
  const Byte *bytes = from + at;
#pragma GCC unroll 2 // compilers would write out whole what is short
  for (int i = 0; i < count; ++i, bytes += 4, to += 2 * height) {
    const uint32_t four = bitcast<uint32_t>(load<vec<Byte, 4>>(bytes));
    to[0] = int32_t(wordsOfBytes(four, false));
    to[height] = int32_t(wordsOfBytes(four, true));
  }
}

// sums[row] of one row, and on CPUs without such instructions.
template <int Height> KILN_INLINE void multiplyWords(int32_t *sums, const int32_t *rows, const int8_t *right, int steps) {
  for (int row = 0; row < Height; ++row)
    sums[row] = 0;
  for (int step = 0; step < steps; ++step)
    for (int row = 0; row < Height; ++row) {
      const int32_t even = rows[2 * step * Height + row], odd = rows[(2 * step + 1) * Height + row];
#if defined(__ARM_FEATURE_SIMD32)
      const int32_t four = bitcast<int32_t>(load<vec<int8_t, 4>>(right + 4 * step));
      sums[row] = __builtin_arm_smlad(even, __builtin_arm_sxtb16(four), sums[row]);
      sums[row] = __builtin_arm_smlad(odd, __builtin_arm_sxtb16(int32_t(uint32_t(four) >> 8 | uint32_t(four) << 24)), sums[row]);
#else
      const int8_t *four = right + 4 * step;
      const int32_t low = (even & 0xffff) * four[0] + (odd & 0xffff) * four[1], high = (even >> 16) * four[2] + (odd >> 16) * four[3];
      sums[row] = int32_t(uint32_t(sums[row]) + uint32_t(low) + uint32_t(high));
#endif
    }
}

#if defined(__ARM_FEATURE_SIMD32)
// A word of weights meets the words of all rows, which an instruction loads. Sums may wrap.
#define KILN_ROWS_STEP(registers, multiply)                                                                                                          \
  "ldr %[four], [%[right]], #4\n\t"                                                                                                                  \
  "sxtb16 %[pair], %[four]\n\t"                                                                                                                      \
  "ldm %[rows]!, {" registers "}\n\t" multiply "sxtb16 %[pair], %[four], ror #8\n\t"                                                                 \
  "ldm %[rows]!, {" registers "}\n\t" multiply
#define KILN_ROWS_TWO "smlad %[a], r0, %[pair], %[a]\n\tsmlad %[b], r1, %[pair], %[b]\n\t"
#define KILN_ROWS_THREE KILN_ROWS_TWO "smlad %[c], r2, %[pair], %[c]\n\t"
#define KILN_ROWS_FOUR KILN_ROWS_THREE "smlad %[d], r3, %[pair], %[d]\n\t"
// The rest are operands of one more sum each, and what the steps overwrite.
#define KILN_ROWS_LOOP(body, ...)                                                                                                                    \
  __asm__ volatile("1:\n\t" body "subs %[count], %[count], #1\n\tbne 1b"                                                                             \
                   : [rows] "+r"(rows), [right] "+r"(right), [count] "+r"(count), [four] "=&r"(four), [pair] "=&r"(pair), [a] "+r"(a),              \
                     [b] "+r"(b) __VA_ARGS__)
#define KILN_ROWS_TIMES(step, ...)                                                                                                                   \
  if constexpr (Together == 4)                                                                                                                       \
    KILN_ROWS_LOOP(step step step step, __VA_ARGS__);                                                                                                \
  else if constexpr (Together == 3)                                                                                                                  \
    KILN_ROWS_LOOP(step step step, __VA_ARGS__);                                                                                                     \
  else if constexpr (Together == 2)                                                                                                                  \
    KILN_ROWS_LOOP(step step, __VA_ARGS__);                                                                                                          \
  else                                                                                                                                               \
    KILN_ROWS_LOOP(step, __VA_ARGS__)

// Adds `count` times so many steps.
template <int Height, int Together>
KILN_INLINE void addSteps(int32_t &a, int32_t &b, int32_t &c, int32_t &d, const int32_t *&rows, const int8_t *&right, int count) {
  int32_t four, pair;
  (void)c, (void)d;
  if constexpr (Height == 2) {
    KILN_ROWS_TIMES(KILN_ROWS_STEP("r0, r1", KILN_ROWS_TWO), ::"cc", "memory", "r0", "r1");
  } else if constexpr (Height == 3) {
    KILN_ROWS_TIMES(KILN_ROWS_STEP("r0, r1, r2", KILN_ROWS_THREE), , [c] "+r"(c)::"cc", "memory", "r0", "r1", "r2");
  } else {
    KILN_ROWS_TIMES(KILN_ROWS_STEP("r0, r1, r2, r3", KILN_ROWS_FOUR), , [c] "+r"(c), [d] "+r"(d)::"cc", "memory", "r0", "r1", "r2", "r3");
  }
}
#endif

template <int Height> KILN_INLINE void rowsOfWords(int32_t *sums, const int32_t *rows, const int8_t *right, int steps) {
#if defined(__ARM_FEATURE_SIMD32)
  if constexpr (Height > 1) {
    int32_t sum[4] = {};
    const auto add = [&](auto together, int count) { addSteps<Height, decltype(together)::value>(sum[0], sum[1], sum[2], sum[3], rows, right, count); };
    // The number is a constant. Equal parts are the shortest code.
    if (steps % 4 == 0) {
      add(Number<4>(), steps / 4);
    } else if (steps % 3 == 0) {
      add(Number<3>(), steps / 3);
    } else if (steps % 2 == 0) {
      add(Number<2>(), steps / 2);
    } else {
      if (steps > 4)
        add(Number<4>(), steps / 4);
      add(Number<1>(), steps % 4);
    }
    for (int row = 0; row < Height; ++row)
      sums[row] = sum[row];
    return;
  }
#endif
  multiplyWords<Height>(sums, rows, right, steps);
}

// sums[row] for so many rows (at most four) and `steps` fours of one column, at least one.
template <typename Index> KILN_INLINE void rows_u8s8(int32_t *sums, const int32_t *rows, int height, const int8_t *right, Index at, int steps) {
  right += at;
  if (height == 4)
    rowsOfWords<4>(sums, rows, right, steps);
  else if (height == 3)
    rowsOfWords<3>(sums, rows, right, steps);
  else if (height == 2)
    rowsOfWords<2>(sums, rows, right, steps);
  else
    rowsOfWords<1>(sums, rows, right, steps);
}

//===- Signed bytes by signed bytes ----------------------------------------===//

// The array has sixteen bytes of each row, then the next sixteen of each, the last of which may be eight beside nothing. Takes `count` eights of one row.
template <typename Index>
KILN_INLINE void rows_s8s8_take(int32_t *rows, int first, int height, int row, const int8_t *from, Index at, int count) {
  int8_t *to = reinterpret_cast<int8_t *>(rows) + first / 2 * 16 * height + 16 * row;
  const int8_t *bytes = from + at;
  int left = count;
  if (first % 2 && left > 0) {
    store(to + 8, load<vec<int8_t, 8>>(bytes));
    bytes += 8, to += 16 * height, --left;
  }
#pragma GCC unroll 2 // compilers would write out whole what is short
  for (int pairs = left / 2; pairs > 0; --pairs, bytes += 16, to += 16 * height)
    store(to, load<vec<int8_t, 16>>(bytes));
  if (left % 2)
    store(to, load<vec<int8_t, 8>>(bytes));
}

// sums[4 * row], sums[4 * row + 1] for two columns.
template <int Height> KILN_INLINE void rowsOfBytes(int32_t *sums, const int8_t *rows, const int8_t *first, const int8_t *second, int eights) {
  int32_t a = 0, b = 0;
  [[maybe_unused]] int32_t c = 0, d = 0, e = 0, f = 0;
#if defined(__ARM_FEATURE_MVE)
  // The sums of an instruction are in even registers, of which there are six beside the loop's.
#define KILN_ROWS_COLUMNS "vldrb.u8 q0, [%[first]], #16\n\tvldrb.u8 q1, [%[second]], #16\n\t"
#define KILN_ROWS_ROW(a, b) "vldrb.u8 q2, [%[rows]], #16\n\tvmlava.s8 %[" a "], q2, q0\n\tvmlava.s8 %[" b "], q2, q1\n\t"
#define KILN_ROWS_SIXTEENS(body, ...)                                                                                                                \
  __asm__ volatile("dls lr, %[count]\n1:\n\t" KILN_ROWS_COLUMNS body "le lr, 1b"                                                                     \
                   : [rows] "+r"(rows), [first] "+r"(first), [second] "+r"(second), [a] "+Te"(a), [b] "+Te"(b) __VA_ARGS__                           \
                   : [count] "r"(eights / 2)                                                                                                         \
                   : "memory", "lr", "q0", "q1", "q2")
  if (eights >= 2) {
    if constexpr (Height == 1)
      KILN_ROWS_SIXTEENS(KILN_ROWS_ROW("a", "b"), );
    else if constexpr (Height == 2)
      KILN_ROWS_SIXTEENS(KILN_ROWS_ROW("a", "b") KILN_ROWS_ROW("c", "d"), , [c] "+Te"(c), [d] "+Te"(d));
    else
      KILN_ROWS_SIXTEENS(KILN_ROWS_ROW("a", "b") KILN_ROWS_ROW("c", "d") KILN_ROWS_ROW("e", "f"), , [c] "+Te"(c), [d] "+Te"(d), [e] "+Te"(e), [f] "+Te"(f));
  }
#else
  for (int i = 0; i < eights / 2; ++i, first += 16, second += 16, rows += 16 * Height) {
    const auto sixteen = [](int32_t sum, const int8_t *left, const int8_t *right) {
      return dot_s8s8_sixteens<1>(load<vec<int8_t, 16>>(left), load<vec<int8_t, 16>>(right), sum);
    };
    a = sixteen(a, rows, first), b = sixteen(b, rows, second);
    if constexpr (Height > 1)
      c = sixteen(c, rows + 16, first), d = sixteen(d, rows + 16, second);
    if constexpr (Height > 2)
      e = sixteen(e, rows + 32, first), f = sixteen(f, rows + 32, second);
  }
#endif
  const auto last = [&](int32_t sum, int row, const int8_t *right) {
    return eights % 2 ? dot_s8s8_eights<1>(load<vec<int8_t, 8>>(rows + 16 * row), load<vec<int8_t, 8>>(right), sum) : sum;
  };
  sums[0] = last(a, 0, first), sums[1] = last(b, 0, second);
  if constexpr (Height > 1)
    sums[4] = last(c, 1, first), sums[5] = last(d, 1, second);
  if constexpr (Height > 2)
    sums[8] = last(e, 2, first), sums[9] = last(f, 2, second);
}

#if defined(__ARM_FEATURE_MVE)
// Two columns at a time in all rows, the first and the third, behind which the others lie. The four sums of a row become a vector.
#define KILN_ROWS_FIRST(a, b) "vldrb.u8 q2, [%[rows]], #16\n\tvmlav.s8 %[" a "], q2, q0\n\tvmlav.s8 %[" b "], q2, q1\n\t"
#define KILN_ROWS_MOVE(row, low, high, a, b) "vmov %q[" row "][" high "], %q[" row "][" low "], %[" a "], %[" b "]\n\t"
#define KILN_ROWS_PASS(firsts, body, moves)                                                                                                          \
  "mov %[rows], %[left]\n\tmov lr, %[more]\n\t" KILN_ROWS_COLUMNS firsts "wls lr, lr, 2f\n1:\n\t" KILN_ROWS_COLUMNS body "le lr, 1b\n2:\n\t" moves
#define KILN_ROWS_OPERANDS                                                                                                                           \
  [rows] "=&r"(rows), [first] "+r"(right), [second] "+r"(third), [a] "=&Te"(a), [b] "=&Te"(b), [c] "=&Te"(c), [d] "=&Te"(d), [x] "=&w"(x), [y] "=&w"(y)

template <int Height> KILN_INLINE void sixteensOfFourColumns(int32_t *sums, const int8_t *left, const int8_t *right, int sixteens) {
  const int8_t *rows, *third = right + 32 * sixteens;
  int32_t a, b, c, d;
  vec<int32_t, 4> x, y;
  if constexpr (Height == 2) {
#define KILN_ROWS_OF_TWO(low, high)                                                                                                                     \
  KILN_ROWS_PASS(KILN_ROWS_FIRST("a", "b") KILN_ROWS_FIRST("c", "d"), KILN_ROWS_ROW("a", "b") KILN_ROWS_ROW("c", "d"),                               \
                 KILN_ROWS_MOVE("x", low, high, "a", "b") KILN_ROWS_MOVE("y", low, high, "c", "d"))
    __asm__ volatile(KILN_ROWS_OF_TWO("0", "2") KILN_ROWS_OF_TWO("1", "3")
                     : KILN_ROWS_OPERANDS
                     : [left] "r"(left), [more] "ri"(sixteens - 1)
                     : "memory", "cc", "lr", "q0", "q1", "q2");
  } else {
    int32_t e, f;
    vec<int32_t, 4> z;
#define KILN_ROWS_OF_THREE(low, high)                                                                                                                   \
  KILN_ROWS_PASS(KILN_ROWS_FIRST("a", "b") KILN_ROWS_FIRST("c", "d") KILN_ROWS_FIRST("e", "f"),                                                      \
                 KILN_ROWS_ROW("a", "b") KILN_ROWS_ROW("c", "d") KILN_ROWS_ROW("e", "f"),                                                            \
                 KILN_ROWS_MOVE("x", low, high, "a", "b") KILN_ROWS_MOVE("y", low, high, "c", "d") KILN_ROWS_MOVE("z", low, high, "e", "f"))
    __asm__ volatile(KILN_ROWS_OF_THREE("0", "2") KILN_ROWS_OF_THREE("1", "3")
                     : KILN_ROWS_OPERANDS, [e] "=&Te"(e), [f] "=&Te"(f), [z] "=&w"(z)
                     : [left] "r"(left), [more] "ri"(sixteens - 1)
                     : "memory", "cc", "lr", "q0", "q1", "q2");
    store(sums + 8, z);
  }
  store(sums, x), store(sums + 4, y);
}
#endif

template <int Height> KILN_INLINE void rowsOfFourColumns(int32_t *sums, const int8_t *rows, const int8_t *right, int eights) {
#if defined(__ARM_FEATURE_MVE)
  if constexpr (Height > 1)
    if (eights % 2 == 0)
      return sixteensOfFourColumns<Height>(sums, rows, right, eights / 2);
#endif
  rowsOfBytes<Height>(sums, rows, right, right + 8 * eights, eights);
  rowsOfBytes<Height>(sums + 2, rows, right + 16 * eights, right + 24 * eights, eights);
}

// sums[4 * row + column] for so many rows (at most three) and `eights` eights of four columns, one of which lies behind the other.
template <typename Index> KILN_INLINE void rows_s8s8(int32_t *sums, const int32_t *rows, int height, const int8_t *right, Index at, int eights) {
  const int8_t *left = reinterpret_cast<const int8_t *>(rows);
  if (height == 3)
    rowsOfFourColumns<3>(sums, left, right + at, eights);
  else if (height == 2)
    rowsOfFourColumns<2>(sums, left, right + at, eights);
  else
    rowsOfFourColumns<1>(sums, left, right + at, eights);
}

} // namespace kiln

#endif // KILN_ROWS_H
