//===- kernel_benchmark.cpp - One kernel of Kiln, of oneDNN, and the peak --===//
//
//   kernel_benchmark LIBRARY.so "gemm 49 2048 512" [--benchmark_...]
//
// Google Benchmark's cases `kiln` (the model that was compiled under the name `kernel`), `onednn/WAY` for each way of oneDNN, and `peak`, which
// does as many fused multiplications and additions as the machine can. All in one process, so that repetitions can be interleaved.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/MachineProbe.h"
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

static void runKiln(benchmark::State &state, const LoadedLibrary &model) {
  std::vector<Floats> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (int i = 0; i < model.info->num_inputs; ++i)
    inputs.push_back(buffers.emplace_back(allocate(model.info->inputs[i].byte_size)).get());
  for (int i = 0; i < model.info->num_outputs; ++i)
    outputs.push_back(buffers.emplace_back(allocate(model.info->outputs[i].byte_size)).get());
  Floats workspace = allocate(model.info->workspace_size);
  for (auto _ : state)
    if (kiln_status status = model.run(inputs.data(), outputs.data(), workspace.get(), nullptr))
      state.SkipWithError(kiln_status_string(status));
}

static void runPeak(benchmark::State &state) {
  constexpr int64_t steps = 10000;
  for (auto _ : state)
    spinFma(512, steps);
  state.counters["flops"] = benchmark::Counter(double(steps * getFmaStep(512)), benchmark::Counter::kIsIterationInvariantRate);
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  std::string error = "usage: kernel_benchmark LIBRARY.so \"OPERATION SIZE...\" [--benchmark_...]";
  LoadedLibrary model;
  if (argc == 3)
    model = loadLibrary(argv[1], "kernel", error);
  if (!model.run) {
    std::cerr << error << "\n";
    return 1;
  }
  std::vector<std::string> words;
  std::istringstream text(argv[2]);
  for (std::string word; text >> word;)
    words.push_back(word);
  std::vector<OneDnnWay> ways = makeOneDnn(words);
  if (ways.empty()) {
    std::cerr << "oneDNN has nothing for '" << argv[2] << "'\n";
    return 1;
  }
  benchmark::RegisterBenchmark("kiln", [&](benchmark::State &state) { runKiln(state, model); });
  for (const OneDnnWay &way : ways)
    benchmark::RegisterBenchmark(("onednn/" + way.first).c_str(), [&run = way.second](benchmark::State &state) {
      run();
      for (auto _ : state)
        run();
    });
  benchmark::RegisterBenchmark("peak", runPeak);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
