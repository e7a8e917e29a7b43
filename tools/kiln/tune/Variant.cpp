//===- Variant.cpp - A compile of a model whose kernels are timed ---------------===//
#include "tools/kiln/tune/Variant.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/Reporting.h"

#include <algorithm>

using namespace llvm;

namespace kiln {

/// Seconds of one turn, and runs that it has at least.
static constexpr double turn = 0.03;
static constexpr size_t minRuns = 3;
/// A program has longer turns: to start one takes its time, too, and engines of WebAssembly begin with slower code.
static constexpr double programTurn = 0.2;

int Variant::load(const CompileOptions &options, std::unique_ptr<Variant> &variant) {
  variant.reset(new Variant);
  if (int status = loadOrReport(options, variant->model))
    return status;
  const LoadedModel &loaded = *variant->model.loaded;
  Expected<InputSpecs> specs = getInputSpecs(loaded);
  if (!specs)
    return report(specs.takeError(), AtFault);
  Expected<std::vector<Tensor>> inputs = makeInputs(loaded, *specs, "random", options);
  if (!inputs)
    return report(inputs.takeError(), AtFault);
  variant->inputs = std::move(*inputs);
  Expected<Execution> execution = prepareRun(loaded, variant->inputs);
  if (!execution)
    return report(execution.takeError(), AtFault);
  variant->execution.emplace(std::move(*execution));
  if (variant->getProgram()) {
    Expected<RunTimes> times = variant->runProgram(/*withKernels=*/false);
    return times ? int(Done) : report(times.takeError(), AtFault);
  }
  if (kiln_status status = kiln_profiler_create(std::max(loaded.getInfo().num_kernels, 1), &variant->profiler))
    return report(makeError(kiln_status_string(status)), AtFault);
  kiln_context context = makePlainContext();
  if (Error error = variant->execution->run(&context))
    return report(std::move(error), AtFault);
  return Done;
}

Variant::~Variant() { kiln_profiler_destroy(profiler); }

static int64_t findFastest(const RunTimes &times) { return *std::min_element(times.nanoseconds.begin(), times.nanoseconds.end()); }

Expected<RunTimes> Variant::runProgram(bool withKernels) {
  // Their times take memory, of which a board has little.
  constexpr int64_t most = 1 << 12;
  RunCounts counts{minRuns, 0};
  if (fastest != INT64_MAX)
    counts.runs = std::clamp(int64_t(programTurn * 1e9) / std::max<int64_t>(fastest, 1), counts.runs, most);
  if (withKernels)
    counts.profiled = counts.runs;
  Expected<RunTimes> times = execution->runElsewhere(counts);
  if (times)
    fastest = std::min(fastest, findFastest(*times));
  return times;
}

Expected<std::map<std::string, double>> Variant::measureKernels(kiln_context context) {
  std::map<std::string, double> microseconds;
  if (getProgram()) {
    Expected<RunTimes> times = runProgram(/*withKernels=*/true);
    if (!times)
      return times.takeError();
    for (const LaunchTime &launch : times->launches)
      microseconds[launch.nodes] += double(launch.least) * 1e-3;
    return microseconds;
  }
  kiln_profiler_reset(profiler);
  kiln_profiler_attach(profiler, &context);
  execution->call(&context); // brings its weights back into the caches
  kiln_profiler_reset(profiler);
  int64_t begin = kiln_clock_ns();
  for (size_t runs = 0; runs < minRuns || double(kiln_clock_ns() - begin) < turn * 1e9; ++runs)
    execution->call(&context);
  for (int32_t i = 0; i < kiln_profiler_count(profiler); ++i) {
    kiln_profile_entry entry;
    if (!kiln_profiler_entry(profiler, i, &entry) && entry.calls)
      microseconds[entry.nodes] += double(entry.min_ns) * 1e-3;
  }
  return microseconds;
}

Expected<double> Variant::measureRun(const kiln_context &context) {
  if (getProgram()) {
    Expected<RunTimes> times = runProgram(/*withKernels=*/false);
    if (!times)
      return times.takeError();
    return double(findFastest(*times)) * 1e-6;
  }
  int64_t begin = kiln_clock_ns(), best = INT64_MAX;
  for (size_t runs = 0; runs < minRuns || double(kiln_clock_ns() - begin) < turn * 1e9; ++runs) {
    int64_t start = kiln_clock_ns();
    execution->call(&context);
    best = std::min(best, kiln_clock_ns() - start);
  }
  return double(best) * 1e-6;
}

} // namespace kiln
