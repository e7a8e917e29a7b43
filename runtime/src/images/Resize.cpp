// Other sizes of pictures. Rows first, then columns, with 8 bits in between and weights of 22 bits after the point, as Pillow has them.
#include "Resize.h"

#include "../SinPi.h"

#include <string.h>

namespace kiln_images_lib {

using kiln_runtime::cosPi;
using kiln_runtime::sinPi;

namespace {

constexpr int fractionBits = 22;

double sinc(double x) { return x == 0 ? 1 : sinPi(x) / (x * 3.14159265358979323846); }

double cubic(double x, double a) {
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// A filter's weight at x.
double weigh(int filter, double signedX) {
  const double x = signedX < 0 ? -signedX : signedX;
  switch (filter) {
  case KILN_FILTER_BICUBIC:
    return cubic(x, -0.5);
  case KILN_FILTER_CUBIC:
    return cubic(x, -0.75);
  case KILN_FILTER_BOX:
    return signedX > -0.5 && signedX <= 0.5 ? 1 : 0;
  case KILN_FILTER_HAMMING:
    return x >= 1 ? 0 : sinc(x) * (0.54f + 0.46f * cosPi(x)); // these numbers are floats in Pillow
  case KILN_FILTER_LANCZOS:
    return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  default:
    return x < 1 ? 1 - x : 0;
  }
}

double supportOf(int filter) {
  switch (filter) {
  case KILN_FILTER_BOX:
    return 0.5;
  case KILN_FILTER_BICUBIC:
  case KILN_FILTER_CUBIC:
    return 2;
  case KILN_FILTER_LANCZOS:
    return 3;
  default:
    return 1;
  }
}

// The weights of one direction: for each output, the first input that counts, how many do, and their weights.
struct Weights {
  int64_t from, to, most; // most: weights that an output may have
  double scale, support;
  int32_t *first, *count, *weights;

  Weights(int filter, int64_t from, int64_t to) : from(from), to(to), scale(double(from) / double(to)) {
    const bool smooths = filter != KILN_FILTER_LINEAR && filter != KILN_FILTER_CUBIC && scale > 1;
    support = supportOf(filter) * (smooths ? scale : 1);
    const int64_t whole = int64_t(support);
    most = (whole + (double(whole) < support ? 1 : 0)) * 2 + 1;
  }
  // In elements of 4 bytes; -1 if there are too many.
  int64_t size() const {
    int64_t count;
    return __builtin_mul_overflow(to, most + 2, &count) || count > int64_t(1) << 58 ? -1 : count;
  }
  void place(int32_t *memory) {
    first = memory;
    count = memory + to;
    weights = memory + 2 * to;
  }
};

int32_t toFixed(double weight) { return int32_t((weight < 0 ? -0.5 : 0.5) + weight * (1 << fractionBits)); }

// Pixels beyond the border do not count, and the others count for more. Filters that do not smooth repeat the border instead.
void fill(Weights &w, int filter) {
  const bool repeats = filter == KILN_FILTER_LINEAR || filter == KILN_FILTER_CUBIC;
  const double step = repeats || w.scale < 1 ? 1 : w.scale;
  for (int64_t out = 0; out < w.to; ++out) {
    const double center = (double(out) + 0.5) * w.scale;
    int64_t low = int64_t(center - w.support + 0.5 + (repeats ? 4 : 0)) - (repeats ? 4 : 0), high = int64_t(center + w.support + 0.5);
    double sum = 0;
    if (!repeats)
      low = low < 0 ? 0 : low, high = high > w.from ? w.from : high;
    for (int64_t in = low; in < high; ++in)
      sum += weigh(filter, (double(in) - center + 0.5) * (1 / step));
    int32_t *weights = w.weights + out * w.most;
    const int64_t begin = low < 0 ? 0 : low > w.from - 1 ? w.from - 1 : low, end = high > w.from ? w.from : high;
    w.first[out] = int32_t(begin);
    w.count[out] = int32_t(end - begin);
    // The weights at the border are summed before they are rounded.
    double here = 0;
    for (int64_t in = low; in < high; ++in) {
      const double weight = weigh(filter, (double(in) - center + 0.5) * (1 / step));
      here += sum != 0 ? weight / sum : weight;
      if ((in < 0 && in + 1 < high) || (in >= w.from - 1 && in + 1 < high))
        continue;
      weights[(in < 0 ? 0 : in > w.from - 1 ? w.from - 1 : in) - begin] = toFixed(here);
      here = 0;
    }
  }
}

inline uint8_t clipSum(int32_t sum) {
  const int32_t value = sum >> fractionBits;
  return uint8_t(value < 0 ? 0 : value > 255 ? 255 : value);
}

constexpr int32_t half = 1 << (fractionBits - 1);

// The number of channels is a constant, so that the sums of a pixel stay in registers.
template <int Channels> void filterRow(const uint8_t *row, const Weights &w, uint8_t *out) {
  for (int64_t x = 0; x < w.to; ++x, out += Channels) {
    const uint8_t *from = row + int64_t(w.first[x]) * Channels;
    const int32_t *const weights = w.weights + x * w.most;
    const int32_t count = w.count[x];
    int32_t sums[Channels];
    for (int32_t &sum : sums)
      sum = half;
    for (int32_t i = 0; i < count; ++i, from += Channels)
      for (int c = 0; c < Channels; ++c)
        sums[c] += from[c] * weights[i];
    for (int c = 0; c < Channels; ++c)
      out[c] = clipSum(sums[c]);
  }
}

void filterRows(const kiln_pixels &from, const Weights &w, const kiln_pixels &to) {
  auto *const row = to.channels == 1 ? filterRow<1> : to.channels == 2 ? filterRow<2> : to.channels == 3 ? filterRow<3> : filterRow<4>;
  for (int64_t y = 0; y < to.height; ++y)
    row(from.data + y * from.stride, w, to.data + y * to.stride);
}

// A piece of a row at a time, so that loads are of adjacent bytes.
void filterColumns(const kiln_pixels &from, const Weights &w, const kiln_pixels &to) {
  constexpr int64_t piece = 512;
  const int64_t bytes = to.width * to.channels;
  int32_t sums[piece];
  for (int64_t y = 0; y < to.height; ++y)
    for (int64_t start = 0; start < bytes; start += piece) {
      const int64_t size = bytes - start < piece ? bytes - start : piece;
      for (int64_t i = 0; i < size; ++i)
        sums[i] = half;
      for (int32_t tap = 0; tap < w.count[y]; ++tap) {
        const uint8_t *row = from.data + (w.first[y] + int64_t(tap)) * from.stride + start;
        const int32_t weight = w.weights[y * w.most + tap];
        for (int64_t i = 0; i < size; ++i)
          sums[i] += row[i] * weight;
      }
      for (int64_t i = 0; i < size; ++i)
        to.data[y * to.stride + start + i] = clipSum(sums[i]);
    }
}

void copyRows(const kiln_pixels &from, const kiln_pixels &to) {
  for (int64_t y = 0; y < to.height; ++y)
    memcpy(to.data + y * to.stride, from.data + y * from.stride, size_t(to.width * to.channels));
}

// Positions are summed up, not multiplied: they are Pillow's to the last bit.
// A number of channels that the compiler knows: a pixel is copied without a call.
template <int64_t channels> void pickPixels(const uint8_t *line, int64_t width, uint8_t *out, int64_t outWidth) {
  const double across = double(width) / double(outWidth);
  double x = across * 0.5;
  for (int64_t i = 0; i < outWidth; ++i, x += across, out += channels) {
    const int64_t place = int64_t(x) < width ? int64_t(x) : width - 1;
    memcpy(out, line + place * channels, channels);
  }
}

void pickNearest(const kiln_pixels &from, const kiln_pixels &to) {
  static constexpr decltype(&pickPixels<1>) pickers[] = {pickPixels<1>, pickPixels<2>, pickPixels<3>, pickPixels<4>};
  const double down = double(from.height) / double(to.height);
  double y = down * 0.5;
  int64_t last = -1;
  for (int64_t row = 0; row < to.height; ++row, y += down) {
    const int64_t line = int64_t(y) < from.height ? int64_t(y) : from.height - 1;
    uint8_t *out = to.data + row * to.stride;
    if (line == last)
      memcpy(out, out - to.stride, size_t(to.width * to.channels));
    else
      pickers[to.channels - 1](from.data + line * from.stride, from.width, out, to.width);
    last = line;
  }
}

int64_t roundUp(int64_t bytes) { return (bytes + 7) / 8 * 8; }

} // namespace

bool isPicture(const kiln_pixels &picture) {
  int64_t bytes;
  return picture.height >= 1 && picture.width >= 1 && picture.height <= largestSide && picture.width <= largestSide && picture.channels >= 1 &&
         picture.channels <= 4 && picture.stride >= picture.width * picture.channels &&
         !__builtin_mul_overflow(picture.height, picture.stride, &bytes) && bytes <= int64_t(1) << 62;
}

int64_t measureResize(const kiln_pixels &from, int filter, int64_t height, int64_t width) {
  if (filter == KILN_FILTER_NEAREST || (from.height == height && from.width == width))
    return 0;
  const Weights across(filter, from.width, width), down(filter, from.height, height);
  const int64_t weights[] = {from.width == width ? 0 : across.size(), from.height == height ? 0 : down.size()};
  int64_t between = 0;
  if (from.width != width && from.height != height && (__builtin_mul_overflow(from.height, width * from.channels, &between) || between > int64_t(1) << 60))
    return -1;
  return weights[0] < 0 || weights[1] < 0 ? -1 : roundUp(4 * weights[0]) + roundUp(4 * weights[1]) + between;
}

void resize(const kiln_pixels &from, int filter, const kiln_pixels &to, void *scratch) {
  if (from.height == to.height && from.width == to.width)
    return copyRows(from, to);
  if (filter == KILN_FILTER_NEAREST)
    return pickNearest(from, to);
  Weights across(filter, from.width, to.width), down(filter, from.height, to.height);
  uint8_t *memory = static_cast<uint8_t *>(scratch);
  const bool hasRows = from.width != to.width, hasColumns = from.height != to.height;
  if (hasRows) {
    across.place(reinterpret_cast<int32_t *>(memory));
    fill(across, filter);
    memory += roundUp(4 * across.size());
  }
  if (hasColumns) {
    down.place(reinterpret_cast<int32_t *>(memory));
    fill(down, filter);
    memory += roundUp(4 * down.size());
  }
  kiln_pixels between = {memory, from.height, to.width, from.channels, to.width * from.channels};
  if (hasRows)
    filterRows(from, across, hasColumns ? between : to);
  if (hasColumns)
    filterColumns(hasRows ? between : from, down, to);
}

} // namespace kiln_images_lib
