// Overlapping blocks of an image that are added up where they came from. Nothing here owns memory.
#ifndef KILN_COL2IM_H
#define KILN_COL2IM_H

#include "kiln/partial.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

// One dimension of the image: its size, the number of blocks along it and their size, steps between blocks and inside of them, what lies before it.
struct BlockAxis {
  int64_t image, blocks, size, stride, dilation, pad;
};

// One element of all blocks along a dimension: the blocks for which it lies in the image, and the place of the first of them.
struct TapRange {
  int64_t first, end, place;

  TapRange(const BlockAxis &axis, int64_t tap) {
    const int64_t offset = tap * axis.dilation - axis.pad, room = axis.image - offset, most = room > 0 ? (room + axis.stride - 1) / axis.stride : 0;
    first = offset < 0 ? (axis.stride - 1 - offset) / axis.stride : 0;
    end = most < axis.blocks ? most : axis.blocks;
    place = offset + first * axis.stride;
  }
};

template <int Offset, typename V, int... I> KILN_INLINE V half_with_zeros(V x, Indices<I...>) {
  return __builtin_shufflevector(x, V{}, (I % 2 ? lanes<V> : Offset + I / 2)...);
}

// to[i * stride] += from[i]; Stride is 1, 2, or 0 where a run knows it only.
template <int Stride, typename V> KILN_INLINE void add_spread(const lane<V> *from, lane<V> *to, int64_t count, int64_t stride) {
  constexpr int width = lanes<V>;
  int64_t i = 0;
  if constexpr (Stride == 1) {
    for (; i + width <= count; i += width)
      store(to + i, load<V>(to + i) + load<V>(from + i));
    if constexpr (hasMask512<V> || hasMask256<V>) {
      const int rest = int(count - i);
      if (rest)
        store_partial(to + i, load_partial<V>(to + i, rest) + load_partial<V>(from + i, rest), rest);
      return;
    }
  }
  // With zeros between its elements. The vector's last element is none, as it may lie in another image.
  if constexpr (Stride == 2) {
    for (; i + width < count; i += width) {
      const V x = load<V>(from + i);
      lane<V> *low = to + 2 * i, *high = low + width;
      store(low, load<V>(low) + half_with_zeros<0>(x, LaneIndices<V>()));
      store(high, load<V>(high) + half_with_zeros<width / 2>(x, LaneIndices<V>()));
    }
    if constexpr (hasMask512<V> || hasMask256<V>) {
      const int rest = int(count - i), reach = 2 * rest - 1, first = reach < width ? reach : width;
      const V x = load_partial<V>(from + i, rest);
      lane<V> *low = to + 2 * i, *high = low + width;
      store_partial(low, load_partial<V>(low, first) + half_with_zeros<0>(x, LaneIndices<V>()), first);
      if (reach > width)
        store_partial(high, load_partial<V>(high, reach - width) + half_with_zeros<width / 2>(x, LaneIndices<V>()), reach - width);
      return;
    }
  }
  if constexpr (width > 4 && Stride != 0) {
    add_spread<Stride, half<V>>(from + i, to + i * Stride, count - i, stride);
  } else {
    for (; i < count; ++i)
      to[i * (Stride ? Stride : stride)] += from[i];
  }
}

// Adds one element of all blocks of a plane to the image.
template <int Stride, typename V>
void add_taps(const lane<V> *from, lane<V> *image, const BlockAxis (&axes)[3], TapRange planes, TapRange rows, TapRange columns) {
  const int64_t apart = axes[1].stride * axes[2].image, stride = axes[2].stride, blocks = axes[2].blocks, count = columns.end - columns.first;
  for (int64_t d = planes.first; count > 0 && d < planes.end; ++d, planes.place += axes[0].stride) {
    const lane<V> *source = from + (d * axes[1].blocks + rows.first) * blocks + columns.first;
    lane<V> *to = image + (planes.place * axes[1].image + rows.place) * axes[2].image + columns.place;
    for (int64_t r = rows.first; r < rows.end; ++r, source += blocks, to += apart)
      add_spread<Stride, V>(source, to, count, stride);
  }
}

template <int Stride, typename V> void add_blocks(const lane<V> *from, lane<V> *image, int64_t blocks, const BlockAxis (&axes)[3]) {
  for (int64_t i = 0; i < axes[0].size; ++i)
    for (int64_t j = 0; j < axes[1].size; ++j)
      for (int64_t k = 0; k < axes[2].size; ++k, from += blocks)
        add_taps<Stride, V>(from, image, axes, {axes[0], i}, {axes[1], j}, {axes[2], k});
}

} // namespace

// Images [begin, end) of one channel each, of up to three dimensions. `table` has the six numbers of BlockAxis for each of three dimensions.
template <int W, typename T> static inline void col2im(const T *x, T *out, int64_t begin, int64_t end, const int32_t *table, int64_t) {
  BlockAxis axes[3];
  int64_t pixels = 1, blocks = 1, size = 1;
  for (BlockAxis &axis : axes) {
    axis = {table[0], table[1], table[2], table[3], table[4], table[5]};
    pixels *= axis.image, blocks *= axis.blocks, size *= axis.size;
    table += 6;
  }
  using V = vec<T, W>;
  const auto add = axes[2].stride == 1 ? add_blocks<1, V> : axes[2].stride == 2 ? add_blocks<2, V> : add_blocks<0, V>;
  for (int64_t at = begin; at < end; ++at) {
    T *image = out + at * pixels;
    for (int64_t i = 0; i < pixels; ++i)
      image[i] = 0;
    add(x + at * size * blocks, image, blocks, axes);
  }
}

} // namespace kiln

#endif // KILN_COL2IM_H
