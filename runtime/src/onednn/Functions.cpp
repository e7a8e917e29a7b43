// The functions of kiln/onednn.h: a part of the work is an operation of its own on a part of the buffers.
#include "Plans.h"

#include <cstring>

using namespace kiln_onednn;

namespace {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// The parts [first, last) of `parts` equal ones.
Range cut(int64_t extent, int64_t first, int64_t last, int64_t parts, int64_t unit = 1) {
  auto at = [=](int64_t part) { return part == parts ? extent : extent * part / parts / unit * unit; };
  return {at(first), at(last)};
}

// A product without depth: zeros, then what follows. oneDNN leaves the result as it is.
void fillEmptySum(const MatmulNumbers &n, const float *bias, float *out) {
  for (int64_t i = 0, count = n.elements(); i < count; ++i) {
    float value = n.flags & KILN_ONEDNN_BIAS ? bias[i % *n.columns] : 0.0f;
    out[i] = n.flags & KILN_ONEDNN_RELU && value < 0.0f ? 0.0f : value;
  }
}

constexpr int64_t maxNumbers = 64;
// Columns are cut between vectors.
constexpr int64_t columnUnit = 16;

kiln_status multiply(void *state, int64_t *numbers, const float *lhs, const float *rhs, const float *bias, float *out) {
  MatmulNumbers n(numbers);
  if (n.elements() == 0)
    return KILN_STATUS_OK;
  if (*n.depth == 0) {
    fillEmptySum(n, bias, out);
    return KILN_STATUS_OK;
  }
  void *data[] = {const_cast<float *>(lhs + n.lhsAt), const_cast<float *>(rhs + n.rhsAt), const_cast<float *>(bias), out};
  int64_t rhsAt = n.rhsAt;
  // Where the sides begin makes no other primitive.
  numbers[2] = numbers[3] = 0;
  return call(state, {Kind::Matmul, 0.0f, n.flags & KILN_ONEDNN_CONSTANT ? rhsAt : 0, numbers, n.count()}, data);
}

// Leaves a range of the result's dimension `dim`, a batch or the rows, whose neighbours lie `step` apart.
void narrow(int64_t *numbers, int64_t dim, const Range &range, int64_t step, float *&out) {
  MatmulNumbers n(numbers);
  numbers[4 + dim] = range.size();
  numbers[2] += range.begin * n.lhsStrides[dim];
  numbers[3] += dim < n.rank - 2 ? range.begin * n.rhsStrides[dim] : 0;
  out += range.begin * step;
}

struct ConvNumbers {
  int64_t flags, channelsLast, spatial, batch, groups, channels, filters;
  const int64_t *in, *out, *kernel, *strides, *dilations, *low, *high;

  explicit ConvNumbers(const int64_t *n)
      : flags(n[0]), channelsLast(n[1]), spatial(n[2]), batch(n[3]), groups(n[4]), channels(n[5]), filters(n[6]), in(n + 7), out(in + spatial),
        kernel(out + spatial), strides(kernel + spatial), dilations(strides + spatial), low(dilations + spatial), high(low + spatial) {}
  int64_t count() const { return 7 + 7 * spatial; }
  // The numbers of Descriptions.h, for a result like this one's.
  int64_t *copy(int64_t *numbers) const {
    std::memcpy(numbers, in - 7, count() * sizeof(int64_t));
    numbers[count()] = filters;
    return numbers;
  }
  int64_t window(int64_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  int64_t pixels(const int64_t *sizes) const {
    int64_t product = 1;
    for (int64_t i = 0; i < spatial; ++i)
      product *= sizes[i];
    return product;
  }
  // The spatial dimension along which an image can be cut into pieces without gaps; `spatial` when there is none.
  int64_t lines() const {
    int64_t dim = 0;
    while (dim < spatial && in[dim] == 1 && out[dim] == 1)
      ++dim;
    bool fits = channelsLast && dim < spatial && low[dim] < window(dim) && high[dim] < window(dim);
    return fits ? dim : spatial;
  }
};

kiln_status convolve(void *state, const ConvNumbers &n, const int64_t *numbers, int64_t weightAt, const float *input, const float *weight, const float *bias,
                     float *out) {
  void *data[] = {const_cast<float *>(input), const_cast<float *>(weight + weightAt), const_cast<float *>(bias), out};
  return call(state, {Kind::Conv, 0.0f, weightAt, numbers, n.count() + 1}, data);
}

// Some channels of the result. Winograd's form reads four times the weights: each part should read its own.
constexpr int64_t filterUnit = 16;

kiln_status convolveFilters(void *state, const ConvNumbers &n, const Range &range, const float *input, const float *weight, const float *bias, float *out) {
  int64_t numbers[maxNumbers];
  n.copy(numbers)[6] = range.size();
  int64_t weightAt = range.begin * n.channels * n.pixels(n.kernel);
  if (range.size() == 0)
    return KILN_STATUS_OK;
  return convolve(state, n, numbers, weightAt, input, weight, n.flags & KILN_ONEDNN_BIAS ? bias + range.begin : bias, out + range.begin);
}

// The lines `range` of one image's result, from the lines of the image that they look at.
kiln_status convolveLines(void *state, const ConvNumbers &n, int64_t dim, const Range &range, const float *input, const float *weight, const float *bias,
                          float *out) {
  int64_t numbers[maxNumbers], *list = n.copy(numbers) + 7;
  int64_t begin = range.begin * n.strides[dim] - n.low[dim], end = (range.end - 1) * n.strides[dim] - n.low[dim] + n.window(dim);
  int64_t first = begin > 0 ? begin : 0, last = end < n.in[dim] ? end : n.in[dim];
  numbers[3] = 1;
  list[dim] = last - first;
  list[n.spatial + dim] = range.size();
  list[5 * n.spatial + dim] = first - begin;
  list[6 * n.spatial + dim] = end - last;
  int64_t inLine = n.pixels(n.in) / n.in[dim] * n.channels, outLine = n.pixels(n.out) / n.out[dim] * n.filters;
  return convolve(state, n, numbers, 0, input + first * inLine, weight, bias, out + range.begin * outLine);
}

} // namespace

extern "C" {

kiln_status kiln_onednn_matmul(void *state, int64_t first, int64_t last, int64_t parts, const float *lhs, const float *rhs, const float *bias, float *out,
                               const int64_t *shape) {
  MatmulNumbers n(shape);
  int64_t numbers[maxNumbers];
  std::memcpy(numbers, shape, n.count() * sizeof(int64_t));
  bool whole = first == 0 && last == parts;
  if (!whole && n.rank > 2 && *n.batch >= parts) {
    int64_t step = n.elements() / (*n.batch ? *n.batch : 1);
    narrow(numbers, 0, cut(*n.batch, first, last, parts), step, out);
  } else if (!whole && n.rank == 2 && *n.rows >= parts) {
    narrow(numbers, 0, cut(*n.rows, first, last, parts), *n.columns, out);
  } else if (!whole && n.rank == 2 && *n.rows == 1) {
    Range range = cut(*n.columns, first, last, parts, columnUnit);
    numbers[5] = range.size();
    numbers[3] += range.begin * n.rhsStrides[1];
    bias += range.begin;
    out += range.begin;
  } else if (!whole && first != 0) {
    // What cannot be cut is the first part's.
    return KILN_STATUS_OK;
  }
  return multiply(state, numbers, lhs, rhs, bias, out);
}

kiln_status kiln_onednn_conv(void *state, int64_t first, int64_t last, int64_t parts, const float *input, const float *weight, const float *bias, float *out,
                             const int64_t *shape) {
  ConvNumbers n(shape);
  int64_t image = n.pixels(n.in) * n.channels, result = n.pixels(n.out) * n.filters, dim = n.lines();
  bool whole = first == 0 && last == parts, byLines = !whole && n.batch < parts && dim < n.spatial;
  if (n.batch * result == 0)
    return KILN_STATUS_OK;
  if (!whole && n.flags & KILN_ONEDNN_WINOGRAD && n.channelsLast && n.groups == 1)
    return convolveFilters(state, n, cut(n.filters, first, last, parts, filterUnit), input, weight, bias, out);
  kiln_status status = KILN_STATUS_OK;
  if (byLines) {
    Range range = cut(n.out[dim], first, last, parts);
    for (int64_t i = 0; i < n.batch && range.size() > 0 && status == KILN_STATUS_OK; ++i)
      status = convolveLines(state, n, dim, range, input + i * image, weight, bias, out + i * result);
    return status;
  }
  int64_t numbers[maxNumbers];
  n.copy(numbers);
  Range range = whole ? Range{0, n.batch} : cut(n.batch, first, last, parts);
  if (range.size() == 0)
    return KILN_STATUS_OK;
  numbers[3] = range.size();
  return convolve(state, n, numbers, 0, input + range.begin * image, weight, bias, out + range.begin * result);
}

kiln_status kiln_onednn_softmax(void *state, int64_t first, int64_t last, int64_t parts, const float *input, float *out, const int64_t *shape) {
  Range rows = cut(shape[1], first, last, parts);
  if (rows.size() == 0 || shape[2] == 0)
    return KILN_STATUS_OK;
  int64_t numbers[] = {shape[0], rows.size(), shape[2]}, at = rows.begin * shape[2];
  void *data[] = {const_cast<float *>(input + at), out + at};
  return call(state, {Kind::Softmax, 0.0f, 0, numbers, 3}, data);
}

kiln_status kiln_onednn_layer_norm(void *state, int64_t first, int64_t last, int64_t parts, const float *input, const float *scale, const float *bias,
                                   float *out, float epsilon, const int64_t *shape) {
  Range rows = cut(shape[1], first, last, parts);
  if (rows.size() == 0 || shape[2] == 0)
    return KILN_STATUS_OK;
  int64_t numbers[] = {shape[0], rows.size(), shape[2]}, at = rows.begin * shape[2];
  void *data[] = {const_cast<float *>(input + at), const_cast<float *>(scale), const_cast<float *>(bias), out + at};
  return call(state, {Kind::LayerNorm, epsilon, 0, numbers, 3}, data);
}

} // extern "C"
