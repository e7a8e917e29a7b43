//===- kernel_benchmark.cpp - One kernel of Kiln, of oneDNN, and the peak --===//
//
//   kernel_benchmark LIBRARY.so SPLIT.so "gemm 49 2048 512" THREADS [KERNELS.so] [--benchmark_...]
//
// Google Benchmark's cases `kiln` (the model that was compiled under the name `kernel`), `split` (the same model with its composites split, or for other
// elements; an empty name leaves it out), `onednn/WAY` for each way of oneDNN, and `peak`, which does as many fused multiplications and additions as one CPU can.
// With a library of `kiln kernels --name library` also `library`, its kernel for the shape, `packed`, the one with a packed operand, and `openblas`.
// All in one process, so that repetitions can be interleaved. oneDNN's threads are OpenMP's (OMP_NUM_THREADS).
//
//===----------------------------------------------------------------------===//
#include "compiler/run/MachineProbe.h"
#include "kiln/half.h"
#include "test/benchmark/KernelFunctions.h"
#include "test/benchmark/LoadedLibrary.h"
#include "test/benchmark/OneDnn.h"
#include <benchmark/benchmark.h>
#include <iostream>
#include <memory>
#include <sstream>

using namespace kiln;

using Floats = std::unique_ptr<float, decltype(&std::free)>;

static Floats allocate(int64_t bytes) {
  size_t rounded = size_t(bytes + 127) & ~size_t(63);
  Floats buffer(static_cast<float *>(std::aligned_alloc(64, rounded)), &std::free);
  for (size_t i = 0; i < rounded / sizeof(float); ++i)
    buffer.get()[i] = float(i % 13) * 0.1f - 0.6f;
  return buffer;
}

/// The same numbers as halves.
static Floats allocate(const kiln_tensor_info &tensor) {
  Floats buffer = allocate(tensor.byte_size);
  bool isF16 = tensor.element_type == KILN_ELEMENT_F16;
  if (!isF16 && tensor.element_type != KILN_ELEMENT_BF16)
    return buffer;
  auto *words = reinterpret_cast<uint16_t *>(buffer.get());
  for (int64_t i = 0; i < tensor.byte_size / 2; ++i) {
    float number = float(i % 13) * 0.1f - 0.6f;
    words[i] = isF16 ? f32_to_f16(number) : f32_to_bf16(number);
  }
  return buffer;
}

static void runKiln(benchmark::State &state, const LoadedLibrary &model, const kiln_context &context) {
  std::vector<Floats> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (int i = 0; i < model.info->num_inputs; ++i)
    inputs.push_back(buffers.emplace_back(allocate(model.info->inputs[i])).get());
  for (int i = 0; i < model.info->num_outputs; ++i)
    outputs.push_back(buffers.emplace_back(allocate(model.info->outputs[i])).get());
  Floats workspace = allocate(model.info->workspace_size);
  for (auto _ : state)
    if (kiln_status status = model.run(inputs.data(), outputs.data(), workspace.get(), &context))
      state.SkipWithError(kiln_status_string(status));
}

static void runPeak(benchmark::State &state) {
  constexpr int64_t steps = 10000;
  for (auto _ : state)
    spinFma(512, steps);
  state.counters["flops"] = benchmark::Counter(double(steps * getFmaStep(512)), benchmark::Counter::kIsIterationInvariantRate);
}

static int fail(const std::string &error) {
  std::cerr << error << "\n";
  return 1;
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 5 && argc != 6)
    return fail("usage: kernel_benchmark LIBRARY.so SPLIT.so \"OPERATION SIZE...\" THREADS [KERNELS.so] [--benchmark_...]");
  std::string error;
  LoadedLibrary model = loadLibrary(argv[1], "kernel", error), split = *argv[2] ? loadLibrary(argv[2], "kernel", error) : LoadedLibrary();
  if (!model.run || (*argv[2] && !split.run))
    return fail(error);
  std::vector<std::string> words;
  std::istringstream text(argv[3]);
  for (std::string word; text >> word;)
    words.push_back(word);
  std::vector<OneDnnWay> ways = makeOneDnn(words);
  if (ways.empty())
    return fail("oneDNN has nothing for '" + std::string(argv[3]) + "'");
  kiln_pool *pool = nullptr;
  kiln_context context = KILN_CONTEXT_INIT;
  if (int threads = std::atoi(argv[4]); threads > 1) {
    if (kiln_pool_create(threads, &pool))
      return fail("cannot start threads");
    kiln_pool_context(pool, &context);
  }
  // Time that passes, not a thread's: of two threads the other's counts as well.
  auto add = [](const std::string &name, auto run) { benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime(); };
  add("kiln", [&](benchmark::State &state) { runKiln(state, model, context); });
  if (split.run)
    add("split", [&](benchmark::State &state) { runKiln(state, split, context); });
  std::function<kiln_status()> library = argc == 6 ? makeKernelCall(argv[5], words, context, error) : nullptr;
  auto element = kiln_element_type(model.info->inputs[0].element_type);
  std::function<kiln_status()> packed = argc == 6 ? makePackedCall(argv[5], words, element, context) : nullptr;
  std::function<void()> openBlas = argc == 6 ? makeOpenBlas(words) : nullptr;
  if (argc == 6 && !library && !packed)
    return fail(error);
  auto addCall = [&](const char *name, std::function<kiln_status()> call) {
    if (call)
      add(name, [call](benchmark::State &state) {
        for (auto _ : state)
          if (kiln_status status = call())
            state.SkipWithError(kiln_status_string(status));
      });
  };
  addCall("library", element == KILN_ELEMENT_F32 ? library : nullptr);
  addCall("packed", packed);
  if (openBlas)
    add("openblas", [&](benchmark::State &state) {
      openBlas();
      for (auto _ : state)
        openBlas();
    });
  for (const OneDnnWay &way : ways)
    add("onednn/" + way.first, [&run = way.second](benchmark::State &state) {
      run();
      for (auto _ : state)
        run();
    });
  add("peak", runPeak);
  benchmark::RunSpecifiedBenchmarks();
  kiln_pool_destroy(pool);
  return 0;
}
