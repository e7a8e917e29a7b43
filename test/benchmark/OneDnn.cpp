//===- OneDnn.cpp - The same kernels in oneDNN -----------------------------===//
#include "test/benchmark/OneDnn.h"
#include <algorithm>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

using namespace dnnl;
using Arguments = std::unordered_map<int, memory>;
using Sizes = std::vector<memory::dim>;

namespace kiln {

static engine &cpu() {
  static engine single(engine::kind::cpu, 0);
  return single;
}

static memory::desc describe(const Sizes &dims, memory::format_tag tag) { return {dims, memory::data_type::f32, tag}; }

/// Memory with values of about the size that activations have.
static memory fill(const memory::desc &desc) {
  memory result(desc, cpu());
  float *data = static_cast<float *>(result.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
    data[i] = float(i % 13) * 0.1f - 0.6f;
  return result;
}

static std::function<void()> makeRun(const primitive &operation, const Arguments &arguments) {
  return [operation, arguments] {
    static stream queue(cpu());
    operation.execute(queue, arguments);
    queue.wait();
  };
}

static std::vector<OneDnnWay> makeGemm(memory::dim m, memory::dim n, memory::dim k) {
  using tag = memory::format_tag;
  matmul::primitive_desc product({describe({m, k}, tag::ab), describe({k, n}, tag::any), describe({m, n}, tag::ab)}, cpu());
  inner_product_forward::primitive_desc inner(
      {prop_kind::forward_inference, describe({m, k}, tag::ab), describe({n, k}, tag::any), describe({m, n}, tag::ab)}, cpu());
  auto arguments = [](const auto &desc) {
    return Arguments{{DNNL_ARG_SRC, fill(desc.src_desc())}, {DNNL_ARG_WEIGHTS, fill(desc.weights_desc())}, {DNNL_ARG_DST, fill(desc.dst_desc())}};
  };
  return {{"matmul", makeRun(matmul(product), arguments(product))}, {"inner_product", makeRun(inner_product_forward(inner), arguments(inner))}};
}

static std::function<void()> makeBatched(memory::dim batch, memory::dim m, memory::dim n, memory::dim k, bool transposed) {
  using tag = memory::format_tag;
  matmul::primitive_desc product(
      {describe({batch, m, k}, tag::abc), describe({batch, k, n}, transposed ? tag::acb : tag::abc), describe({batch, m, n}, tag::abc)}, cpu());
  return makeRun(matmul(product), {{DNNL_ARG_SRC, fill(product.src_desc())},
                                   {DNNL_ARG_WEIGHTS, fill(product.weights_desc())},
                                   {DNNL_ARG_DST, fill(product.dst_desc())}});
}

static std::vector<OneDnnWay> makeConv(memory::dim channels, memory::dim size, memory::dim filters, memory::dim kernel, memory::dim stride, memory::dim groups) {
  using tag = memory::format_tag;
  memory::dim pad = kernel / 2, out = (size + 2 * pad - kernel) / stride + 1;
  Sizes weights = groups > 1 ? Sizes{groups, filters / groups, channels / groups, kernel, kernel} : Sizes{filters, channels, kernel, kernel};
  primitive_attr attributes;
  post_ops relu;
  relu.append_eltwise(1.0f, algorithm::eltwise_relu, 0, 0);
  attributes.set_post_ops(relu);
  std::vector<OneDnnWay> ways;
  auto add = [&](const char *name, algorithm how, tag order) {
    try {
      convolution_forward::desc desc(prop_kind::forward_inference, how, describe({1, channels, size, size}, order), describe(weights, tag::any),
                                     describe({filters}, tag::a), describe({1, filters, out, out}, order), {stride, stride}, {pad, pad}, {pad, pad});
      convolution_forward::primitive_desc chosen(desc, attributes, cpu());
      ways.emplace_back(name, makeRun(convolution_forward(chosen), {{DNNL_ARG_SRC, fill(chosen.src_desc())},
                                                                    {DNNL_ARG_WEIGHTS, fill(chosen.weights_desc())},
                                                                    {DNNL_ARG_BIAS, fill(chosen.bias_desc())},
                                                                    {DNNL_ARG_DST, fill(chosen.dst_desc())}}));
    } catch (const error &) {
      // This way does not exist for the shape.
    }
  };
  add("nhwc", algorithm::convolution_direct, tag::nhwc);
  add("any", algorithm::convolution_direct, tag::any);
  if (kernel == 3 && stride == 1 && groups == 1)
    add("winograd", algorithm::convolution_winograd, tag::any);
  return ways;
}

static std::function<void()> makeSoftmax(memory::dim outer, memory::dim length, memory::dim inner) {
  memory::desc desc = describe({outer, length, inner}, memory::format_tag::abc);
  softmax_forward::primitive_desc softmax({prop_kind::forward_inference, desc, 1}, cpu());
  return makeRun(softmax_forward(softmax), {{DNNL_ARG_SRC, fill(desc)}, {DNNL_ARG_DST, fill(desc)}});
}

static std::function<void()> makeLayerNorm(memory::dim rows, memory::dim columns) {
  memory::desc desc = describe({rows, columns}, memory::format_tag::ab);
  layer_normalization_forward::primitive_desc norm(
      {prop_kind::forward_inference, desc, 1e-5f, normalization_flags::use_scale | normalization_flags::use_shift}, cpu());
  memory::desc vector = describe({columns}, memory::format_tag::a);
  return makeRun(layer_normalization_forward(norm),
                 {{DNNL_ARG_SRC, fill(desc)}, {DNNL_ARG_SCALE, fill(vector)}, {DNNL_ARG_SHIFT, fill(vector)}, {DNNL_ARG_DST, fill(desc)}});
}

static std::function<void()> makeGelu(memory::dim rows, memory::dim columns) {
  memory::desc desc = describe({rows, columns}, memory::format_tag::ab);
  eltwise_forward::primitive_desc gelu({prop_kind::forward_inference, algorithm::eltwise_gelu_erf, desc, 0, 0}, cpu());
  return makeRun(eltwise_forward(gelu), {{DNNL_ARG_SRC, fill(desc)}, {DNNL_ARG_DST, fill(desc)}});
}

static std::function<void()> makeAttention(memory::dim heads, memory::dim length, memory::dim depth) {
  auto scores = makeBatched(heads, length, length, depth, true), softmax = makeSoftmax(heads * length, length, 1);
  return [=, mix = makeBatched(heads, length, depth, length, false)] { scores(), softmax(), mix(); };
}

std::vector<OneDnnWay> makeOneDnn(const std::vector<std::string> &words) {
  Sizes n;
  for (size_t i = 1; i < words.size(); ++i)
    n.push_back(std::strtoll(words[i].c_str(), nullptr, 10));
  std::string what = words.empty() ? "" : words.front();
  if (what == "gemm" && n.size() == 3)
    return makeGemm(n[0], n[1], n[2]);
  if (what == "matmul" && n.size() == 4)
    return {{"matmul", makeBatched(n[0], n[1], n[2], n[3], false)}};
  if (what == "conv" && n.size() == 6)
    return makeConv(n[0], n[1], n[2], n[3], n[4], n[5]);
  if (what == "softmax" && n.size() == 3)
    return {{"softmax", makeSoftmax(n[0], n[1], n[2])}};
  if (what == "layernorm" && n.size() == 2)
    return {{"layer_normalization", makeLayerNorm(n[0], n[1])}};
  if (what == "gelu" && n.size() == 2)
    return {{"eltwise", makeGelu(n[0], n[1])}};
  if (what == "attention" && n.size() == 3)
    return {{"three", makeAttention(n[0], n[1], n[2])}};
  return {};
}

} // namespace kiln
