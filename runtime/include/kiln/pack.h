// Right sides of products in the panels that their kernels read:
//   [column / width, row / depth, column % width, row % depth], filled up with zeros, and behind them, where a kernel wants them, the sums of the columns.
// Convolutions are products, too.
// Memory bounds the time; no kernel of its own is worth it.
#ifndef KILN_PACK_H
#define KILN_PACK_H

#include "kiln/choice.h"
#include "kiln/runtime.h"

namespace kiln {

// The panels of a target's kernel.
struct panels {
  const char *target;
  int64_t width, depth;
};

// Those of the target of that name; null for NULL.
static inline const panels *find_panels(const panels *rows, int32_t count, const char *target) {
  for (int32_t i = 0; target && i < count; ++i)
    if (same_text(rows[i].target, target))
      return &rows[i];
  return nullptr;
}

static inline int64_t round_up(int64_t number, int64_t multiple) { return (number + multiple - 1) / multiple * multiple; }

// The bytes of the panels, and where the sums behind them begin.
static inline int64_t count_panel_bytes(const panels &form, int64_t rows, int64_t columns, int64_t element_bytes) {
  return round_up(round_up(rows, form.depth) * round_up(columns, form.width) * element_bytes, KILN_ALIGNMENT);
}

// A matrix whose element (row, column) lies at row * row_stride + column * column_stride.
template <typename T> struct matrix {
  const T *elements;
  int64_t rows, columns, row_stride, column_stride;
};

template <typename T> static void pack_panels(const panels &form, const matrix<T> &from, T *packed) {
  for (int64_t first = 0; first < from.columns; first += form.width) {
    const int64_t count = from.columns - first < form.width ? from.columns - first : form.width;
    for (int64_t row = 0; row < from.rows; row += form.depth, packed += form.width * form.depth) {
      const T *at = from.elements + row * from.row_stride + first * from.column_stride;
      const int64_t together = from.rows - row < form.depth ? from.rows - row : form.depth;
      for (int64_t i = 0; i < form.depth; ++i) {
        int64_t column = 0;
        for (; i < together && column < count; ++column)
          packed[column * form.depth + i] = at[i * from.row_stride + column * from.column_stride];
        for (; column < form.width; ++column)
          packed[column * form.depth + i] = 0;
      }
    }
  }
}

// Filters of a convolution: [filter, channel of its group, tap], or [filter, tap, channel of its group] if channels are last.
template <typename T> struct filters {
  const T *elements;
  int64_t groups, count, channels, taps;
  bool are_channels_last;
};

static inline int64_t count_filter_bytes(const panels &form, int64_t groups, int64_t count, int64_t channels, int64_t taps, int64_t element_bytes) {
  return round_up(groups * taps * round_up(channels, form.depth) * round_up(count / groups, form.width) * element_bytes, KILN_ALIGNMENT);
}

// The panels of one group behind those of another: a filter is a column, a tap and a channel are a row. Channels of one tap lie together.
template <typename T> static void pack_filters(const panels &form, const filters<T> &from, T *packed) {
  const int64_t of_group = from.count / from.groups, depth = from.taps * from.channels;
  const int64_t tap_stride = from.are_channels_last ? from.channels : 1, channel_stride = from.are_channels_last ? 1 : from.taps;
  for (int64_t group = 0; group < from.groups; ++group)
    for (int64_t first = 0; first < of_group; first += form.width)
      for (int64_t tap = 0; tap < from.taps; ++tap)
        for (int64_t channel = 0; channel < from.channels; channel += form.depth) {
          const T *at = from.elements + (group * of_group + first) * depth + tap * tap_stride + channel * channel_stride;
          for (int64_t i = 0; i < form.width; ++i)
            for (int64_t more = 0; more < form.depth; ++more)
              *packed++ = first + i < of_group && channel + more < from.channels ? at[i * depth + more * channel_stride] : T(0);
        }
}

// Weights of 4 or 8 bits: [column, block, byte], byte i with the numbers 2 * i, in its lower bits, and 2 * i + 1 where they have 4 bits.
struct blocks {
  const uint8_t *elements;
  int64_t columns, count, bytes;
  bool are_halves;
};

// The bytes of the panels [column / width, block, byte / depth, column % width, byte % depth], and of the scales behind them,
// [column / width, block, column % width].
static inline int64_t count_block_bytes(const panels &form, int64_t columns, int64_t count, int64_t bytes) {
  return round_up(round_up(columns, form.width) * count * bytes, KILN_ALIGNMENT);
}
static inline int64_t count_scale_bytes(const panels &form, int64_t columns, int64_t count) {
  return round_up(columns, form.width) * count * int64_t(sizeof(float));
}

// The byte of a block that kernels read: of halves, number i beside number i + bytes.
static inline uint8_t block_byte(const blocks &from, const uint8_t *block, int64_t i) {
  if (!from.are_halves)
    return block[i];
  const int64_t other = i + from.bytes;
  const int low = block[i / 2] >> (i % 2 * 4) & 15, high = block[other / 2] >> (other % 2 * 4) & 15;
  return uint8_t(low | high << 4);
}

static inline void pack_blocks(const panels &form, const blocks &from, uint8_t *packed) {
  for (int64_t first = 0; first < from.columns; first += form.width)
    for (int64_t block = 0; block < from.count; ++block)
      for (int64_t byte = 0; byte < from.bytes; byte += form.depth)
        for (int64_t column = first; column < first + form.width; ++column)
          for (int64_t i = byte; i < byte + form.depth; ++i)
            *packed++ = column < from.columns ? block_byte(from, from.elements + (column * from.count + block) * from.bytes, i) : uint8_t(0);
}

static inline void pack_scales(const panels &form, const float *scales, int64_t columns, int64_t count, float *packed) {
  for (int64_t first = 0; first < columns; first += form.width)
    for (int64_t block = 0; block < count; ++block)
      for (int64_t column = first; column < first + form.width; ++column)
        *packed++ = column < columns ? scales[column * count + block] : 0.0f;
}

static inline void sum_filters(const filters<int8_t> &from, int32_t *sums) {
  const int64_t depth = from.taps * from.channels;
  for (int64_t filter = 0; filter < from.count; ++filter) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < depth; ++i)
      sum += uint32_t(int32_t(from.elements[filter * depth + i]));
    sums[filter] = int32_t(sum);
  }
}

// Modulo 2^32, as kernels compute.
static inline void sum_columns(const matrix<int8_t> &from, int32_t *sums) {
  for (int64_t column = 0; column < from.columns; ++column) {
    uint32_t sum = 0;
    for (int64_t row = 0; row < from.rows; ++row)
      sum += uint32_t(int32_t(from.elements[row * from.row_stride + column * from.column_stride]));
    sums[column] = int32_t(sum);
  }
}

} // namespace kiln

#endif // KILN_PACK_H
