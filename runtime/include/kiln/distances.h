// Squares of Euclidean distances between rows of two matrices, from the differences of their elements. Nothing here owns memory.
#ifndef KILN_DISTANCES_H
#define KILN_DISTANCES_H

#include "kiln/vector.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

// Columns of a panel in vectors, and elements of a row that a panel has: it stays in the cache.
constexpr int panel_vectors = 2, panel_depth = 512, tile_rows = 4;
// Fewer rows do not pay for a panel.
constexpr int few_rows = 8;

// Rows [0, columns) of b, of which `depth` elements count, side by side; zeros fill up what is left.
template <int Width, typename T> void pack_rows(const T *b, int64_t stride, int64_t columns, int64_t depth, T *panel) {
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t p = 0; p < depth; ++p)
      panel[p * Width + c] = b[c * stride + p];
  for (int64_t c = columns; c < Width; ++c)
    for (int64_t p = 0; p < depth; ++p)
      panel[p * Width + c] = T(0);
}

// Adds the squares of some elements of `Rows` rows of a to the sums in `out`, or begins them.
template <typename V, int Rows, typename T>
KILN_INLINE void add_squares(const T *a, int64_t stride, const T *panel, int64_t depth, T *out, int64_t out_stride, bool begins) {
  V sums[Rows * panel_vectors];
  each<Rows * panel_vectors>([&](int i) __attribute__((always_inline)) {
    sums[i] = begins ? V{} : load<V>(out + i / panel_vectors * out_stride + i % panel_vectors * lanes<V>);
  });
  for (int64_t p = 0; p < depth; ++p, panel += panel_vectors * lanes<V>)
    each<Rows * panel_vectors>([&](int i) __attribute__((always_inline)) {
      const V apart = broadcast<V>(a[i / panel_vectors * stride + p]) - load<V>(panel + i % panel_vectors * lanes<V>);
      sums[i] = sums[i] + apart * apart;
    });
  each<Rows * panel_vectors>([&](int i) __attribute__((always_inline)) {
    store(out + i / panel_vectors * out_stride + i % panel_vectors * lanes<V>, sums[i]);
  });
}

// Adds squares where the panel may have more columns than the result.
template <typename V, int Rows, typename T>
KILN_INLINE void add_panel(const T *a, int64_t stride, const T *panel, int64_t depth, T *out, int64_t out_stride, int64_t columns, bool begins) {
  constexpr int width = panel_vectors * lanes<V>;
  if (columns == width)
    return add_squares<V, Rows>(a, stride, panel, depth, out, out_stride, begins);
  T sums[Rows * width];
  for (int r = 0; r < Rows; ++r)
    for (int64_t c = 0; c < width; ++c)
      sums[r * width + c] = c < columns && !begins ? out[r * out_stride + c] : T(0);
  add_squares<V, Rows>(a, stride, panel, depth, sums, width, begins);
  for (int r = 0; r < Rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      out[r * out_stride + c] = sums[r * width + c];
}

// One pair of rows, with vectors along them.
template <typename V, typename T> KILN_INLINE T squared_distance(const T *a, const T *b, int64_t depth) {
  V sum = {};
  int64_t p = 0;
  for (; p + lanes<V> <= depth; p += lanes<V>) {
    const V apart = load<V>(a + p) - load<V>(b + p);
    sum = sum + apart * apart;
  }
  T rest = 0;
  for (; p < depth; ++p)
    rest += (a[p] - b[p]) * (a[p] - b[p]);
  return reduce_add(sum) + rest;
}

} // namespace

// Squares of the distances of rows [row, row_end) of a, [.., depth], to rows [column, column_end) of b, at most 2 * W. The result has `stride` columns. The
// scratch has room for the panel of these rows: 512 elements of each.
template <int W, typename T>
static inline void distances(const T *a, const T *b, T *out, T *scratch, int64_t scratch_start, int64_t row, int64_t row_end, int64_t column,
                             int64_t column_end, int64_t stride, int64_t depth) {
  using V = vec<T, W>;
  const int64_t columns = column_end - column;
  b += column * depth, out += column;
  if (row_end - row < few_rows) {
    for (; row < row_end; ++row)
      for (int64_t c = 0; c < columns; ++c)
        out[row * stride + c] = squared_distance<V>(a + row * depth, b + c * depth, depth);
    return;
  }
  T *panel = scratch + scratch_start;
  int64_t first = 0;
  do {
    const int64_t part = depth - first < panel_depth ? depth - first : panel_depth;
    const bool begins = first == 0;
    pack_rows<panel_vectors * W>(b + first, depth, columns, part, panel);
    int64_t r = row;
    for (; r + tile_rows <= row_end; r += tile_rows)
      add_panel<V, tile_rows>(a + r * depth + first, depth, panel, part, out + r * stride, stride, columns, begins);
    for (; r < row_end; ++r)
      add_panel<V, 1>(a + r * depth + first, depth, panel, part, out + r * stride, stride, columns, begins);
    first += part;
  } while (first < depth);
}

} // namespace kiln

#endif // KILN_DISTANCES_H
