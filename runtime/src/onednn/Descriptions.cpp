#include "Descriptions.h"

namespace kiln_onednn {

void makeMatmul(const int64_t *numbers, Maker &maker, Arguments &arguments) {
  MatmulNumbers n(numbers);
  int rank = static_cast<int>(n.rank);
  dnnl_dims_t left = {}, right = {}, result = {}, vector = {}, rightStrides = {};
  for (int i = 0; i < rank; ++i) {
    bool isBatch = i + 2 < rank;
    left[i] = result[i] = isBatch ? n.batch[i] : *n.rows;
    right[i] = isBatch ? (n.rhsStrides[i] ? n.batch[i] : 1) : *n.depth;
    // The stride of a dimension of 1 says nothing, but must not be 0.
    rightStrides[i] = n.rhsStrides[i] ? n.rhsStrides[i] : 1;
    vector[i] = 1;
  }
  left[rank - 1] = *n.depth;
  right[rank - 1] = result[rank - 1] = vector[rank - 1] = *n.columns;
  dnnl_dims_t dense = {};
  for (int i = rank; i-- > 0;)
    dense[i] = i == rank - 1 ? 1 : dense[i + 1] * result[i + 1];
  dnnl_memory_desc_t lhs = maker.strided(rank, left, n.lhsStrides), given = maker.strided(rank, right, rightStrides);
  dnnl_memory_desc_t bias = {}, out = maker.strided(rank, result, dense), rhs = given;
  if (n.flags & KILN_ONEDNN_CONSTANT)
    rhs = maker.dense(rank, right, dnnl_format_tag_any);
  if (n.flags & KILN_ONEDNN_BIAS) {
    dnnl_dims_t strides = {};
    for (int i = 0; i < rank; ++i)
      strides[i] = i == rank - 1 ? 1 : *n.columns;
    bias = maker.strided(rank, vector, strides);
  }
  dnnl_matmul_desc_t description;
  maker.check(dnnl_matmul_desc_init(&description, &lhs, &rhs, n.flags & KILN_ONEDNN_BIAS ? &bias : nullptr, &out));
  maker.finish(&description, n.flags);
  if (maker.status != dnnl_success)
    return;
  arguments.add(DNNL_ARG_SRC, lhs);
  arguments.add(DNNL_ARG_WEIGHTS, given, *maker.query(dnnl_query_weights_md));
  arguments.add(DNNL_ARG_BIAS, bias);
  arguments.add(DNNL_ARG_DST, out);
  arguments.constant = n.flags & KILN_ONEDNN_CONSTANT ? 1 : noArgument;
}

// An image whose pixels lie `pixel` elements apart, channels last.
static dnnl_memory_desc_t describeImages(Maker &maker, int rank, const dnnl_dim_t *dims, int64_t pixel) {
  dnnl_dims_t strides = {};
  int64_t stride = pixel;
  for (int i = rank; i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  strides[1] = 1;
  return maker.strided(rank, dims, strides);
}

void makeConv(const int64_t *n, Maker &maker, Arguments &arguments) {
  int64_t flags = n[0], spatial = n[2], batch = n[3], groups = n[4], channels = n[5], filters = n[6];
  bool last = n[1] != 0, grouped = groups > 1;
  const int64_t *in = n + 7, *out = in + spatial, *kernel = out + spatial, *strides = kernel + spatial, *dilations = strides + spatial;
  const int64_t *low = dilations + spatial, *high = low + spatial, pixel = high[spatial];
  static const dnnl_format_tag_t images[2][3] = {{dnnl_ncw, dnnl_nchw, dnnl_ncdhw}, {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc}};
  static const dnnl_format_tag_t filterTags[2][3] = {{dnnl_oiw, dnnl_oihw, dnnl_oidhw}, {dnnl_goiw, dnnl_goihw, dnnl_goidhw}};
  int rank = static_cast<int>(spatial) + 2, weightRank = rank + (grouped ? 1 : 0), position = 0;
  dnnl_dims_t source = {batch, channels}, result = {batch, filters}, weight = {}, dilates = {};
  if (grouped)
    weight[position++] = groups;
  weight[position++] = filters / groups;
  weight[position++] = channels / groups;
  for (int64_t i = 0; i < spatial; ++i) {
    source[2 + i] = in[i];
    result[2 + i] = out[i];
    weight[position + i] = kernel[i];
    dilates[i] = dilations[i] - 1;
  }
  dnnl_format_tag_t tag = images[last][spatial - 1];
  dnnl_memory_desc_t src = maker.dense(rank, source, tag), dst = maker.dense(rank, result, tag), bias = {};
  dnnl_memory_desc_t given = maker.dense(weightRank, weight, filterTags[grouped][spatial - 1]);
  dnnl_memory_desc_t any = maker.dense(weightRank, weight, dnnl_format_tag_any);
  dnnl_memory_desc_t anySrc = maker.dense(rank, source, dnnl_format_tag_any), anyDst = maker.dense(rank, result, dnnl_format_tag_any);
  if (flags & KILN_ONEDNN_BIAS)
    bias = maker.dense(1, &filters, dnnl_a);
  auto attempt = [&](dnnl_alg_kind_t algorithm, const dnnl_memory_desc_t &from, const dnnl_memory_desc_t &to) {
    dnnl_convolution_desc_t description;
    maker.check(dnnl_dilated_convolution_forward_desc_init(&description, dnnl_forward_inference, algorithm, &from, &any,
                                                           flags & KILN_ONEDNN_BIAS ? &bias : nullptr, &to, strides, dilates, low, high));
    maker.finish(&description, flags);
    return maker.status == dnnl_success;
  };
  // Winograd's form wants its own order of images, which the run then makes.
  bool made = flags & KILN_ONEDNN_WINOGRAD && attempt(dnnl_convolution_winograd, anySrc, anyDst);
  if (!made)
    maker.reset();
  if (!made && !attempt(dnnl_convolution_direct, src, dst))
    return;
  arguments.add(DNNL_ARG_SRC, src, *maker.query(dnnl_query_src_md));
  arguments.add(DNNL_ARG_WEIGHTS, given, *maker.query(dnnl_query_weights_md));
  arguments.add(DNNL_ARG_BIAS, bias);
  arguments.add(DNNL_ARG_DST, pixel == filters ? dst : describeImages(maker, rank, result, pixel), *maker.query(dnnl_query_dst_md));
  arguments.constant = 1;
}

void makeSoftmax(const int64_t *n, Maker &maker, Arguments &arguments) {
  dnnl_memory_desc_t rows = maker.dense(2, n + 1, dnnl_ab);
  dnnl_softmax_v2_desc_t description;
  maker.check(dnnl_softmax_v2_forward_desc_init(&description, dnnl_forward_inference, n[0] & KILN_ONEDNN_LOG ? dnnl_softmax_log : dnnl_softmax_accurate,
                                                &rows, &rows, 1));
  maker.finish(&description, 0);
  arguments.add(DNNL_ARG_SRC, rows);
  arguments.add(DNNL_ARG_DST, rows);
}

void makeLayerNorm(const int64_t *n, float epsilon, Maker &maker, Arguments &arguments) {
  dnnl_memory_desc_t rows = maker.dense(2, n + 1, dnnl_ab), vector = maker.dense(1, n + 2, dnnl_a);
  bool biased = n[0] & KILN_ONEDNN_BIAS;
  unsigned flags = dnnl_use_scale | (biased ? unsigned(dnnl_use_shift) : 0u);
  dnnl_layer_normalization_desc_t description;
  maker.check(dnnl_layer_normalization_forward_desc_init(&description, dnnl_forward_inference, &rows, nullptr, epsilon, flags));
  maker.finish(&description, 0);
  arguments.add(DNNL_ARG_SRC, rows);
  arguments.add(DNNL_ARG_SCALE, vector);
  arguments.add(DNNL_ARG_SHIFT, biased ? vector : dnnl_memory_desc_t{});
  arguments.add(DNNL_ARG_DST, rows);
}

} // namespace kiln_onednn
