//===- KernelFunctions.cpp - The kernels of `kiln kernels` in the benchmark -===//
#include "test/benchmark/KernelFunctions.h"
#include "kiln/half.h"
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <sys/mman.h>
#include <type_traits>
#ifdef KILN_OPENBLAS
#include <cblas.h>
#endif

namespace kiln {

namespace {
using Buffer = std::shared_ptr<float>;

/// Large operands lie in huge pages where the system has them: single pages are scattered differently in each process, which is more than kernels differ by.
Buffer allocate(int64_t elements) {
  constexpr size_t hugePage = size_t(2) << 20;
  size_t bytes = (size_t(elements) * sizeof(float) + 127) & ~size_t(63);
  bool isLarge = bytes >= 2 * hugePage;
  Buffer buffer(static_cast<float *>(std::aligned_alloc(isLarge ? hugePage : 64, bytes)), &std::free);
  if (isLarge)
    madvise(buffer.get(), bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes / sizeof(float); ++i)
    buffer.get()[i] = float(i % 13) * 0.1f - 0.6f;
  return buffer;
}

/// A call with these sizes; each of `elements` is the length of an operand, the last one that of the result.
template <typename Run, typename... Sizes>
std::function<kiln_status()> bind(void *library, const std::string &name, const kiln_context &context, std::vector<int64_t> elements, Sizes... sizes) {
  auto size = reinterpret_cast<size_t (*)(Sizes...)>(dlsym(library, ("library_" + name + "_workspace_size").c_str()));
  auto run = reinterpret_cast<Run>(dlsym(library, ("library_" + name).c_str()));
  if (!size || !run)
    return nullptr;
  std::vector<Buffer> buffers;
  for (int64_t count : elements)
    buffers.push_back(allocate(count));
  Buffer workspace = allocate(int64_t(size(sizes...) / sizeof(float)) + 16);
  if constexpr (std::is_invocable_v<Run, Sizes..., const float *, float *, void *, const kiln_context *>)
    return [=, &context] { return run(sizes..., buffers[0].get(), buffers[1].get(), workspace.get(), &context); };
  else if constexpr (std::is_invocable_v<Run, Sizes..., const float *, const float *, float *, void *, const kiln_context *>)
    return [=, &context] { return run(sizes..., buffers[0].get(), buffers[1].get(), buffers[2].get(), workspace.get(), &context); };
  else
    return [=, &context] { return run(sizes..., buffers[0].get(), buffers[1].get(), buffers[2].get(), buffers[3].get(), workspace.get(), &context); };
}

using S = int64_t;
using In = const float *;
using Elementwise = kiln_status (*)(S, In, float *, void *, const kiln_context *);
using Rows = kiln_status (*)(S, S, In, float *, void *, const kiln_context *);
using Norm = kiln_status (*)(S, S, In, In, In, float *, void *, const kiln_context *);
using Product = kiln_status (*)(S, S, S, In, In, float *, void *, const kiln_context *);
using Bytes = kiln_status (*)(S, S, S, const uint8_t *, uint8_t, const void *, int32_t *, void *, const kiln_context *);
using Conv = kiln_status (*)(S, S, S, S, S, In, const void *, In, float *, void *, const kiln_context *);
using Batch = kiln_status (*)(S, S, S, S, In, In, float *, void *, const kiln_context *);
} // namespace

std::function<kiln_status()> makeKernelCall(const char *path, const std::vector<std::string> &words, const kiln_context &context, std::string &error) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) {
    error = dlerror();
    return nullptr;
  }
  std::vector<S> n;
  for (size_t i = 1; i < words.size(); ++i)
    n.push_back(std::atoll(words[i].c_str()));
  const std::string &kind = words.front();
  std::function<kiln_status()> call;
  if (kind == "gemm")
    call = bind<Product>(library, "gemm_f32", context, {n[0] * n[2], n[2] * n[1], n[0] * n[1]}, n[0], n[1], n[2]);
  else if (kind == "matmul")
    call = bind<Batch>(library, "matmul_f32", context, {n[0] * n[1] * n[3], n[0] * n[3] * n[2], n[0] * n[1] * n[2]}, n[0], n[1], n[2], n[3]);
  else if (kind == "softmax" && n[2] == 1)
    call = bind<Rows>(library, "softmax", context, {n[0] * n[1], n[0] * n[1]}, n[0], n[1]);
  else if (kind == "layernorm")
    call = bind<Norm>(library, "layer_norm", context, {n[0] * n[1], n[1], n[1], n[0] * n[1]}, n[0], n[1]);
  else if (kind == "gelu")
    call = bind<Elementwise>(library, "gelu", context, {n[0] * n[1], n[0] * n[1]}, n[0] * n[1]);
  if (!call)
    error = "the library of kernels has nothing for '" + kind + "'";
  return call;
}

/// The same numbers as halves, in the first half of the buffer.
static void convert(const Buffer &buffer, int64_t elements, kiln_element_type element) {
  auto *words = reinterpret_cast<uint16_t *>(buffer.get());
  bool isHalf = element == KILN_ELEMENT_F16 || element == KILN_ELEMENT_BF16;
  for (int64_t i = 0; i < elements && isHalf; ++i) {
    float number = float(i % 13) * 0.1f - 0.6f;
    words[i] = element == KILN_ELEMENT_F16 ? f32_to_f16(number) : f32_to_bf16(number);
  }
}

/// A kernel with a packed operand: NAME_pack_size, NAME_pack, NAME_packed and NAME_packed_workspace_size.
namespace {
struct PackedKernel {
  void *library;
  std::string name;

  void *find(const char *suffix) const { return dlsym(library, ("library_" + name + suffix).c_str()); }
  bool exists() const { return find("_pack_size") && find("_pack") && find("_packed") && find("_packed_workspace_size"); }
  /// What the library makes of an operand with two sizes; null: it refuses them.
  Buffer pack(S first, S second, const Buffer &operand) const {
    auto size = reinterpret_cast<size_t (*)(S, S)>(find("_pack_size"));
    auto pack = reinterpret_cast<kiln_status (*)(S, S, const void *, int, void *)>(find("_pack"));
    Buffer packed = allocate(S(size(first, second) / sizeof(float)) + 16);
    return pack(first, second, operand.get(), 0, packed.get()) ? nullptr : packed;
  }
  template <typename... Sizes> Buffer makeWorkspace(Sizes... sizes) const {
    auto size = reinterpret_cast<size_t (*)(Sizes...)>(find("_packed_workspace_size"));
    return allocate(S(size(sizes...) / sizeof(float)) + 16);
  }
};
} // namespace

/// A product with numbers of 4 bits in blocks of 32, each with a scale.
static std::function<kiln_status()> makePackedBlocks(const PackedKernel &kernel, S m, S n, S k, const kiln_context &context) {
  auto size = reinterpret_cast<size_t (*)(S, S)>(kernel.find("_pack_size"));
  auto pack = reinterpret_cast<kiln_status (*)(S, S, const void *, const float *, void *)>(kernel.find("_pack"));
  Buffer a = allocate(m * k), b = allocate(n * k / 8), scales = allocate(n * k / 32), c = allocate(m * n);
  Buffer packed = allocate(S(size(n, k) / sizeof(float)) + 16), workspace = kernel.makeWorkspace(m, n, k);
  auto run = reinterpret_cast<Product>(kernel.find("_packed"));
  if (pack(n, k, b.get(), scales.get(), packed.get()))
    return nullptr;
  return [=, &context] { return run(m, n, k, a.get(), packed.get(), c.get(), workspace.get(), &context); };
}

static std::function<kiln_status()> makePackedConv(const PackedKernel &kernel, const std::vector<S> &n, const kiln_context &context) {
  S channels = n[0], window = n[3], size = n[1] + window / 2 * 2, filters = n[2], out = (size - window) / n[4] + 1;
  Buffer x = allocate(size * size * channels), w = allocate(filters * (channels / n[5]) * window * window), bias = allocate(filters);
  Buffer y = allocate(out * out * filters), packed = kernel.pack(channels, filters, w), workspace = kernel.makeWorkspace(S(1), size, size, channels, filters);
  auto run = reinterpret_cast<Conv>(kernel.find("_packed"));
  if (!packed)
    return nullptr;
  return [=, &context] { return run(1, size, size, channels, filters, x.get(), packed.get(), bias.get(), y.get(), workspace.get(), &context); };
}

static const char *nameProduct(kiln_element_type element) {
  return element == KILN_ELEMENT_F16 ? "gemm_f16" : element == KILN_ELEMENT_BF16 ? "gemm_bf16" : element == KILN_ELEMENT_U8 ? "gemm_u8s8" : "gemm_f32";
}

std::function<kiln_status()> makePackedCall(const char *path, const std::vector<std::string> &words, kiln_element_type element, const kiln_context &context) {
  bool isConv = words.front() == "conv";
  PackedKernel kernel{dlopen(path, RTLD_NOW), isConv ? "conv2d_f32" : nameProduct(element)};
  PackedKernel blocks{kernel.library, "gemm_nbits"};
  bool hasBlocks = kernel.library && !isConv && !kernel.exists() && blocks.exists();
  kernel = hasBlocks ? blocks : kernel;
  if ((words.front() != "gemm" && !isConv) || !kernel.library || !kernel.exists())
    return nullptr;
  std::vector<S> sizes;
  for (size_t i = 1; i < words.size(); ++i)
    sizes.push_back(std::atoll(words[i].c_str()));
  if (isConv)
    return makePackedConv(kernel, sizes, context);
  S m = sizes[0], n = sizes[1], k = sizes[2];
  if (hasBlocks)
    return makePackedBlocks(kernel, m, n, k, context);
  Buffer a = allocate(m * k), b = allocate(k * n), c = allocate(m * n);
  convert(a, m * k, element);
  convert(b, k * n, element);
  Buffer packed = kernel.pack(n, k, b), workspace = kernel.makeWorkspace(m, n, k);
  if (!packed)
    return nullptr;
  if (element == KILN_ELEMENT_U8) {
    auto run = reinterpret_cast<Bytes>(kernel.find("_packed"));
    return [=, &context] {
      return run(m, n, k, reinterpret_cast<uint8_t *>(a.get()), 0, packed.get(), reinterpret_cast<int32_t *>(c.get()), workspace.get(), &context);
    };
  }
  auto run = reinterpret_cast<Product>(kernel.find("_packed"));
  return [=, &context] { return run(m, n, k, a.get(), packed.get(), c.get(), workspace.get(), &context); };
}

std::function<void()> makeOpenBlas(const std::vector<std::string> &words) {
#ifdef KILN_OPENBLAS
  if (words.front() != "gemm")
    return nullptr;
  int m = std::atoi(words[1].c_str()), n = std::atoi(words[2].c_str()), k = std::atoi(words[3].c_str());
  Buffer a = allocate(int64_t(m) * k), b = allocate(int64_t(k) * n), c = allocate(int64_t(m) * n);
  return [=] { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.get(), k, b.get(), n, 0, c.get(), n); };
#else
  (void)words;
  return nullptr;
#endif
}

} // namespace kiln
