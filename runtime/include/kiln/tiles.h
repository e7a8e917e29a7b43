// Steps of targets that multiply whole tiles: up to 16 rows, each with up to 64 bytes of the left side, by 16 columns. A kernel keeps the sums of two by two
// of them, 32 rows by 32 columns, in registers of their own:
//   tiles_begin    for a block of rows
//     tiles_clear  for each 32 columns of it
//       tile_...   for each piece of the sums' length
//     tiles_store  to the first half of the array of sums
//   tiles_end      leaves nothing behind in the registers of the thread
// Where the compiler has no such instructions the second half of the array has what the registers have otherwise, and the same bits.
#ifndef KILN_TILES_H
#define KILN_TILES_H

#include "kiln/half.h"
#include "kiln/vector.h"

#if defined(__AMX_TILE__) && defined(__AMX_INT8__) && defined(__AMX_BF16__)
#define KILN_TILES 1
#else
#define KILN_TILES 0
#endif

namespace kiln {

// Rows, and columns, of a tile of sums; those of half an array, in which the second tile of rows begins at row 16 however many the first one has.
constexpr int tile_rows = 16, tile_columns = 16, sums_columns = 2 * tile_columns, sums_half = 2 * tile_rows * sums_columns;

#if KILN_TILES
// What the registers hold: 0 to 3 the sums, 4 and 5 the left side of the first and the second tile of rows, 6 and 7 the right side.
struct alignas(64) tile_shapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

// Memory is read and written behind the compiler's back, and registers are no operands: the order of these is that of the program.
#define KILN_TILE_ZERO(tile) __asm__ volatile("tilezero %%tmm" #tile ::: "memory")
#define KILN_TILE_LOAD(tile, at, bytes) __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(at), "r"(int64_t(bytes)) : "memory")
#define KILN_TILE_STORE(tile, at, bytes) __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(at), "r"(int64_t(bytes)) : "memory")
#define KILN_TILE_DOT(instruction, sum, left, right) __asm__ volatile(instruction " %%tmm" #right ", %%tmm" #left ", %%tmm" #sum ::: "memory")
#endif

// The first tile has 1 to 16 rows, the second one as many or none. Each has `bytes` of the left side, a multiple of 4 up to 64.
KILN_INLINE void tiles_begin(int64_t rows, int64_t others, int64_t bytes) {
#if KILN_TILES
  tile_shapes shapes = {};
  shapes.palette = 1;
  const auto set = [&](int tile, int64_t height, int64_t width) {
    shapes.rows[tile] = uint8_t(height);
    shapes.row_bytes[tile] = uint16_t(height ? width : 0);
  };
  set(0, rows, 64);
  set(1, rows, 64);
  set(2, others, 64);
  set(3, others, 64);
  set(4, rows, bytes);
  set(5, others, bytes);
  set(6, bytes / 4, 64);
  set(7, bytes / 4, 64);
  __asm__ volatile("ldtilecfg %0" ::"m"(shapes) : "memory");
#else
  (void)rows, (void)others, (void)bytes;
#endif
}

KILN_INLINE void tiles_end() {
#if KILN_TILES
  __asm__ volatile("tilerelease" ::: "memory");
#endif
}

// `panels`: one or two tiles of columns.
template <typename Sum> KILN_INLINE void tiles_clear(Sum *sums, int64_t others, int64_t panels) {
#if KILN_TILES
  (void)sums;
  KILN_TILE_ZERO(0);
  if (panels > 1)
    KILN_TILE_ZERO(1);
  if (others > 0)
    KILN_TILE_ZERO(2);
  if (others > 0 && panels > 1)
    KILN_TILE_ZERO(3);
#else
  (void)others, (void)panels;
  for (int i = 0; i < sums_half; ++i)
    sums[sums_half + i] = 0;
#endif
}

template <typename Sum> KILN_INLINE void tiles_store(Sum *sums, int64_t others, int64_t panels) {
#if KILN_TILES
  constexpr int row = sums_columns * sizeof(Sum);
  KILN_TILE_STORE(0, sums, row);
  if (panels > 1)
    KILN_TILE_STORE(1, sums + tile_columns, row);
  if (others > 0)
    KILN_TILE_STORE(2, sums + tile_rows * sums_columns, row);
  if (others > 0 && panels > 1)
    KILN_TILE_STORE(3, sums + tile_rows * sums_columns + tile_columns, row);
#else
  (void)others, (void)panels;
  for (int i = 0; i < sums_half; ++i)
    sums[i] = sums[sums_half + i];
#endif
}

// Four products of unsigned and signed bytes for a sum, which wraps around.
struct TileOfBytes {
  using Left = uint8_t;
  using Right = int8_t;
  static constexpr int together = 4;
  static KILN_INLINE void add(int32_t &sum, const Left *left, int64_t steps, const Right *right) {
    for (int64_t step = 0; step < steps; ++step)
      for (int i = 0; i < together; ++i)
        sum = int32_t(uint32_t(sum) + uint32_t(left[step * together + i] * right[step * together * tile_columns + i]));
  }
};

// Words of bf16, of which subnormal ones count as zero, and of f16, of which none does.
KILN_INLINE float flush_tile(float x) { return x < 0x1p-126f && x > -0x1p-126f ? __builtin_copysignf(0, x) : x; }
struct Bf16OfTile {
  static KILN_INLINE float widen(uint16_t word) { return flush_tile(bitcast<float>(uint32_t(word) << 16)); }
};
struct F16OfTile {
  static KILN_INLINE float widen(uint16_t word) { return f16_to_f32(word); }
};

// Products of words. Those with an even index have a sum of their own, and those with an odd one, to each of which one rounding adds them; sums that are
// subnormal numbers become zero.
template <typename Word> struct TileOfWords {
  using Left = uint16_t;
  using Right = uint16_t;
  static constexpr int together = 2;
  // In double precision the product is exact, and a sum that is not lies so far from the middle of two floats that rounding it again gives the same.
  static KILN_INLINE float multiplyAdd(uint16_t a, uint16_t b, float sum) {
    return flush_tile(float(double(Word::widen(a)) * double(Word::widen(b)) + double(sum)));
  }
  static KILN_INLINE void add(float &sum, const Left *left, int64_t steps, const Right *right) {
    float even = 0, odd = 0;
    for (int64_t step = 0; step < steps; ++step) {
      const Left *a = left + step * together;
      const Right *b = right + step * together * tile_columns;
      even = multiplyAdd(a[0], b[0], even);
      odd = multiplyAdd(a[1], b[1], odd);
    }
    sum = flush_tile(flush_tile(sum) + flush_tile(even + odd));
  }
};
using TileOfBf16 = TileOfWords<Bf16OfTile>;
using TileOfF16 = TileOfWords<F16OfTile>;

// Lines from the `first` one on that a later step reads, into the second-level cache.
template <typename R> KILN_INLINE void tiles_prefetch(const R *right, int64_t at, int64_t first, int64_t lines) {
  for (int64_t line = first; line < first + lines; ++line)
    __builtin_prefetch(reinterpret_cast<const char *>(right + at) + 64 * line, 0, 2);
}

#if !KILN_TILES || !defined(__AMX_FP16__)
// What the instruction does to two by two tiles.
template <typename Tile, typename Sum, typename L, typename R>
KILN_INLINE void multiply_tiles(Sum *sums, const L *left, int64_t first, int64_t second, int64_t stride, const R *right, int64_t rows, int64_t others,
                                int64_t panels, int64_t steps) {
  static_assert(sizeof(L) == sizeof(typename Tile::Left) && sizeof(R) == sizeof(typename Tile::Right), "the elements of the step");
  for (int64_t tile = 0; tile < 2; ++tile)
    for (int64_t row = 0; row < (tile ? others : rows); ++row)
      for (int64_t column = 0; column < panels * tile_columns; ++column) {
        const L *a = left + (tile ? second : first) + row * stride;
        const R *b = right + column / tile_columns * steps * Tile::together * tile_columns + column % tile_columns * Tile::together;
        Tile::add(sums[sums_half + (tile * tile_rows + row) * sums_columns + column], reinterpret_cast<const typename Tile::Left *>(a), steps,
                  reinterpret_cast<const typename Tile::Right *>(b));
      }
}
#endif

#if KILN_TILES
// The lines of the right side that the step after the next one reads.
KILN_INLINE void prefetch_tile(const void *right, int64_t lines) {
#pragma GCC unroll 16
  for (int64_t line = 0; line < lines; ++line)
    __builtin_prefetch(static_cast<const char *>(right) + 4096 + 64 * line);
}

#define KILN_TILE_STEP(instruction)                                                                                                                  \
  do {                                                                                                                                               \
    const R *next = right + steps * (64 / int64_t(sizeof(R)));                                                                                       \
    KILN_TILE_LOAD(4, left + first, stride * int64_t(sizeof(L)));                                                                                    \
    KILN_TILE_LOAD(6, right, 64);                                                                                                                    \
    prefetch_tile(right, steps);                                                                                                                     \
    KILN_TILE_DOT(instruction, 0, 4, 6);                                                                                                             \
    if (panels > 1) {                                                                                                                                \
      KILN_TILE_LOAD(7, next, 64);                                                                                                                   \
      prefetch_tile(next, steps);                                                                                                                    \
      KILN_TILE_DOT(instruction, 1, 4, 7);                                                                                                           \
    }                                                                                                                                                \
    if (others > 0) {                                                                                                                                \
      KILN_TILE_LOAD(5, left + second, stride * int64_t(sizeof(L)));                                                                                 \
      KILN_TILE_DOT(instruction, 2, 5, 6);                                                                                                           \
    }                                                                                                                                                \
    if (others > 0 && panels > 1)                                                                                                                    \
      KILN_TILE_DOT(instruction, 3, 5, 7);                                                                                                           \
    (void)sums, (void)rows;                                                                                                                          \
  } while (false)
#endif

// sums[r, c] += left[r, 0] * right[0, c] + ...: the rows of the tiles begin at elements `first` and `second` of the left side and lie `stride` apart. A
// row of a tile of the right side has the elements of 16 columns for one of `steps` sums of neighbouring products; the tile of the next 16 columns is
// behind it.
template <typename L, typename R>
KILN_INLINE void tile_u8s8(int32_t *sums, const L *left, int64_t first, int64_t second, int64_t stride, const R *right, int64_t at, int64_t rows,
                           int64_t others, int64_t panels, int64_t steps) {
  right += at;
#if KILN_TILES
  KILN_TILE_STEP("tdpbusd");
#else
  multiply_tiles<TileOfBytes>(sums, left, first, second, stride, right, rows, others, panels, steps);
#endif
}

template <typename L, typename R>
KILN_INLINE void tile_bf16(float *sums, const L *left, int64_t first, int64_t second, int64_t stride, const R *right, int64_t at, int64_t rows,
                           int64_t others, int64_t panels, int64_t steps) {
  right += at;
#if KILN_TILES
  KILN_TILE_STEP("tdpbf16ps");
#else
  multiply_tiles<TileOfBf16>(sums, left, first, second, stride, right, rows, others, panels, steps);
#endif
}

// Registers hold the sums, so where there is an instruction for bf16 and none for f16 they go through the array.
template <typename L, typename R>
KILN_INLINE void tile_f16(float *sums, const L *left, int64_t first, int64_t second, int64_t stride, const R *right, int64_t at, int64_t rows,
                          int64_t others, int64_t panels, int64_t steps) {
  right += at;
#if KILN_TILES && defined(__AMX_FP16__)
  KILN_TILE_STEP("tdpfp16ps");
#elif KILN_TILES
  float *half = sums + sums_half;
  constexpr int row = sums_columns * sizeof(float);
  tiles_store(half, others, panels);
  multiply_tiles<TileOfF16>(sums, left, first, second, stride, right, rows, others, panels, steps);
  KILN_TILE_LOAD(0, half, row);
  if (panels > 1)
    KILN_TILE_LOAD(1, half + tile_columns, row);
  if (others > 0)
    KILN_TILE_LOAD(2, half + tile_rows * sums_columns, row);
  if (others > 0 && panels > 1)
    KILN_TILE_LOAD(3, half + tile_rows * sums_columns + tile_columns, row);
#else
  multiply_tiles<TileOfF16>(sums, left, first, second, stride, right, rows, others, panels, steps);
#endif
}

} // namespace kiln

#endif // KILN_TILES_H
