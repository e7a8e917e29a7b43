//===- BenchCommand.cpp - kiln bench: latency, and the speed of kernels ----===//
#include "compiler/emit/Temporary.h"
#include "compiler/files/InputFile.h"
#include "compiler/files/Printable.h"
#include "compiler/run/MachineProbe.h"
#include "tools/kiln/Benchmark.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/LaunchFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/OutputFiles.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/bench/BenchComparison.h"
#include "tools/kiln/bench/BenchReport.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <malloc.h>
#include <map>
#include <numeric>

using namespace llvm;

namespace kiln {

static cl::opt<double> minTime("min-time", cl::desc("Measure for at least this many seconds (default: 1)"), cl::value_desc("SECONDS"), cl::init(1),
    cl::sub(benchCommand), cl::sub(reportCommand));
static cl::opt<bool> all("all", cl::desc("List all kernels (default: the 15 that take most)"), cl::sub(benchCommand));
static cl::opt<std::string> trace("trace", cl::desc("Also write a trace of some runs, with threads and kernels, for https://ui.perfetto.dev"),
    cl::value_desc("FILE"), cl::sub(benchCommand));
static cl::opt<std::string> compareWith("compare", cl::desc("Compare with what kiln bench --json printed before: the whole run, and kernel by kernel"),
    cl::value_desc("FILE.json"), cl::sub(benchCommand));

/// By the kernel's algorithm, "gemm_bytes 6x32", or its step, "gemm_tile_steps 32x32 tile_u8s8".
static Operands findOperands(StringRef algorithm) {
  StringRef kernel = algorithm.split(' ').first;
  if (kernel.ends_with("_bytes") || algorithm.ends_with("_u8s8"))
    return Operands::Bytes;
  return kernel.ends_with("_bf16") || algorithm.ends_with("_bf16") ? Operands::Brain : Operands::Real;
}

static double getPeak(const Machine &machine, Operands operands) {
  return operands == Operands::Bytes ? machine.bytePeak : operands == Operands::Brain ? machine.brainPeak : machine.peak;
}

/// Each run takes as long as on its slowest rank.
static Expected<std::vector<RankSpeed>> measureRanks(const Execution &execution, std::vector<double> &times) {
  Expected<std::vector<RankTimes>> ranks = execution.takeRankTimes();
  if (!ranks)
    return ranks.takeError();
  std::vector<RankSpeed> speeds;
  for (const RankTimes &rank : *ranks) {
    std::vector<double> own;
    for (auto [run, nanoseconds] : enumerate(rank.runs)) {
      own.push_back(double(nanoseconds) * 1e-6);
      if (run < times.size())
        times[run] = std::max(times[run], own.back());
    }
    double exchange = double(rank.exchange) * 1e-6 / double(std::max<size_t>(own.size(), 1));
    double mean = std::accumulate(own.begin(), own.end(), 0.0) / double(std::max<size_t>(own.size(), 1));
    speeds.push_back({findMedian(own), exchange, mean - exchange});
  }
  return speeds;
}

static Expected<Latency> measure(const Execution &execution, const kiln_context &context, std::vector<RankSpeed> &ranks) {
  // The times of runs that came before.
  if (Expected<std::vector<RankTimes>> before = execution.takeRankTimes(); !before)
    return before.takeError();
  std::vector<double> times;
  int64_t begin = kiln_clock_ns();
  while (times.size() < 5 || double(kiln_clock_ns() - begin) < minTime * 1e9) {
    int64_t start = kiln_clock_ns();
    // It has run before, so only a rank that fails or is gone meanwhile ends it.
    if (kiln_status status = execution.call(&context))
      return makeError("the model did not run: " + Twine(kiln_status_string(status)));
    times.push_back(double(kiln_clock_ns() - start) * 1e-6);
  }
  Expected<std::vector<RankSpeed>> speeds = measureRanks(execution, times);
  if (!speeds)
    return speeds.takeError();
  ranks = std::move(*speeds);
  return summarize(std::move(times));
}

/// The same by the clock of the machine that runs the program: one run says how many fill the time.
static Expected<Latency> measureElsewhere(Execution &execution, std::vector<KernelSpeed> &kernels) {
  Expected<RunTimes> first = execution.runElsewhere({});
  if (!first)
    return first.takeError();
  double each = std::max<double>(1, double(first->nanoseconds.front()));
  constexpr int64_t most = 1 << 20;
  RunCounts counts{std::clamp(int64_t(minTime * 1e9 / each), int64_t(5), most), 0};
  counts.profiled = std::clamp<int64_t>(counts.runs / 4, 1, 200);
  Expected<RunTimes> times = execution.runElsewhere(counts);
  if (!times)
    return times.takeError();
  for (const LaunchTime &launch : times->launches) {
    double total = std::max<double>(1, double(launch.nanoseconds)), calls = double(launch.calls);
    kernels.push_back({launch.name, launch.nodes, findOperands(launch.algorithm), total * 1e-6 / calls, 0, 0, double(launch.flops) / total,
                       double(launch.bytes) / total, 0, 0, calls / double(counts.profiled), double(launch.flops) / calls, double(launch.bytes) / calls});
  }
  std::vector<double> milliseconds;
  for (int64_t time : times->nanoseconds)
    milliseconds.push_back(double(time) * 1e-6);
  Latency latency = summarize(std::move(milliseconds));
  Expected<std::optional<int64_t>> instructions = execution.countInstructions();
  if (!instructions)
    return instructions.takeError();
  latency.instructions = *instructions;
  return latency;
}

namespace {
/// All launches of some runs.
class LaunchTimes {
public:
  struct Launch {
    kiln_kernel_info kernel;
    double flops = 0, bytes = 0;
    std::vector<double> milliseconds;
  };
  void attach(kiln_context &context) {
    context.on_kernel = onKernel;
    context.on_kernel_user = this;
  }
  /// By the number of the launch in the model.
  std::map<int32_t, Launch> launches;

private:
  static void onKernel(void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase) {
    auto *times = static_cast<LaunchTimes *>(user);
    if (phase == KILN_KERNEL_BEGIN) {
      times->begin = kiln_clock_ns();
      return;
    }
    double milliseconds = double(kiln_clock_ns() - times->begin) * 1e-6;
    Launch &launch = times->launches.try_emplace(kernel->index, Launch{*kernel, 0, 0, {}}).first->second;
    launch.milliseconds.push_back(milliseconds);
    launch.flops += double(kernel->flops);
    launch.bytes += double(kernel->bytes);
  }
  int64_t begin = 0;
};
} // namespace

/// A pass of its own: the hook costs time.
static std::vector<KernelSpeed> profile(const Execution &execution, kiln_context context, size_t runs, const Machine &machine) {
  LaunchTimes times;
  times.attach(context);
  for (size_t run = 0; run < runs; ++run)
    execution.call(&context);
  std::vector<KernelSpeed> speeds;
  for (auto &[index, launch] : times.launches) {
    double calls = double(launch.milliseconds.size());
    double total = std::max(1e-6, std::accumulate(launch.milliseconds.begin(), launch.milliseconds.end(), 0.0));
    double flops = launch.flops / calls, bytes = launch.bytes / calls, perNanosecond = calls / (total * 1e6);
    Operands operands = findOperands(launch.kernel.algorithm);
    double peak = getPeak(machine, operands), share = peak > 0 ? flops * perNanosecond * 1e9 / peak : 0;
    double least = getRoofline(machine, peak, flops, bytes) * calls * 1e3;
    speeds.push_back({launch.kernel.name, launch.kernel.nodes, operands, total / calls, *llvm::min_element(launch.milliseconds),
                      findMedian(launch.milliseconds), flops * perNanosecond, bytes * perNanosecond, share, least / total, calls / double(runs), flops, bytes});
  }
  return speeds;
}

static constexpr int64_t tracedRuns = 5;

/// Runs once more, a few times, and writes what each thread did. Returns the number of events.
static Expected<int64_t> writeTrace(const Execution &execution, kiln_context context, ArrayRef<KernelSpeed> kernels, int32_t threads) {
  constexpr int64_t takesOfThread = 16, mostEvents = int64_t(1) << 20;
  double launches = 0;
  for (const KernelSpeed &kernel : kernels)
    launches += kernel.calls;
  double events = std::ceil(launches) * double(tracedRuns * (1 + takesOfThread * threads)) + 1;
  kiln_profiler *profiler = nullptr;
  kiln_status status = kiln_profiler_create(1, &profiler);
  if (status == KILN_STATUS_OK)
    status = kiln_profiler_record(profiler, int64_t(std::min(events, double(mostEvents))));
  kiln_profiler_attach(profiler, &context);
  for (int64_t run = 0; status == KILN_STATUS_OK && run < tracedRuns; ++run)
    execution.call(&context);
  Expected<std::string> folder = makeTemporaryFolder("for the trace");
  std::string path = folder ? *folder + "/trace.json" : "";
  errno = 0;
  if (folder && status == KILN_STATUS_OK)
    status = kiln_profiler_write_trace(profiler, path.c_str());
  std::error_code fault(errno, std::generic_category());
  int64_t count = kiln_profiler_events(profiler);
  kiln_profiler_destroy(profiler);
  if (!folder)
    return folder.takeError();
  Expected<std::unique_ptr<MemoryBuffer>> text = readInputFile(path, mostDataBytes);
  removeTemporaryFolder(*folder);
  // A status has no more to say than that it could not be written.
  if (status == KILN_STATUS_INVALID_ARGUMENT && count > 0 && fault) {
    consumeError(text ? Error::success() : text.takeError());
    return makeError("--trace: cannot write " + path + ": " + fault.message());
  }
  if (status != KILN_STATUS_OK || !text) {
    consumeError(text ? Error::success() : text.takeError());
    return makeError("--trace: " + Twine(kernels.empty() ? "the model launches no kernel" : kiln_status_string(status)));
  }
  OutputFile file{"", (*text)->getBuffer().str(), nullptr};
  if (Error error = writeFiles(PlacedFile{trace, &file}))
    return std::move(error);
  return count;
}

/// A field of the process' status file, in bytes; 0 when there is none.
static int64_t readStatus(StringRef field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (StringRef(line).starts_with(field))
      return std::strtoll(line.c_str() + field.size(), nullptr, 10) * 1024;
  return 0;
}

namespace {

/// The memory that a run takes: what the process grows by while it makes the buffers and runs, and the library itself, which is there
/// already. The compiler's memory, which a program with the library never sees, is given back or not counted.
class MemoryMeter {
public:
  explicit MemoryMeter(size_t libraryBytes) : library(int64_t(libraryBytes)) {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5"; // counts the peak anew
    before = readStatus("VmRSS:");
  }
  int64_t getPeak() const { return library + std::max<int64_t>(readStatus("VmHWM:") - before, 0); }

private:
  int64_t library, before;
};

} // namespace

static json::Object toJson(const Latency &latency, const RunnableModel &model, const Execution &execution, int32_t threads, int64_t peakBytes,
                           const Machine &machine, ArrayRef<KernelSpeed> kernels) {
  json::Array levels;
  for (const MemoryLevel &level : machine.levels)
    levels.push_back(json::Object{{"name", level.name}, {"gbps", level.bandwidth * 1e-9}});
  const kiln_model_info &info = model.loaded->getInfo();
  json::Object result{{"median_ms", latency.median},
          {"min_ms", latency.min},
          {"p95_ms", latency.p95},
          {"runs", int64_t(latency.runs)},
          {"threads", threads},
          {"target", std::string(model.loaded->getTarget())},
          {"compile_s", model.compileSeconds},
          {"library_bytes", int64_t(model.libraryBytes)},
          {"weights_bytes", info.weights_size},
          {"workspace_bytes", int64_t(execution.getWorkspaceSize())},
          {"rss_peak_bytes", peakBytes},
          {"peak_gflops", machine.peak * 1e-9},
          {"peak_byte_gops", machine.bytePeak * 1e-9},
          {"peak_bf16_gflops", machine.brainPeak * 1e-9},
          {"bandwidth", std::move(levels)},
          {"noise", latency.noise()},
          {"kernels", kernelsToJson(kernels)}};
  if (latency.instructions)
    result["instructions"] = *latency.instructions;
  return result;
}

namespace {
/// All that a measurement gives.
struct Measurement {
  Latency latency;
  std::string target;
  int32_t threads = 1;
  int64_t peakBytes = 0;
  Machine machine;
  std::vector<KernelSpeed> kernels;
  json::Object json;
  /// In the trace, if one was asked for.
  int64_t events = 0;
  /// Of each rank of a sharded model.
  std::vector<RankSpeed> ranks;
};
} // namespace

static int measureModel(const CompileOptions &options, Measurement &result) {
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
  result.target = model.loaded->getTarget();
  Expected<InputSpecs> specs = getInputSpecs(*model.loaded);
  if (!specs)
    return report(specs.takeError(), AtFault);
  MemoryMeter memory(model.libraryBytes);
  Expected<std::vector<Tensor>> inputs = makeInputs(*model.loaded, *specs, "random", options);
  if (!inputs)
    return report(inputs.takeError(), AtFault);
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create();
  if (!pool)
    return report(pool.takeError(), AtFault);
  Expected<Execution> execution = prepareRun(*model.loaded, *inputs);
  if (!execution)
    return report(execution.takeError(), AtFault);
  const kiln_context &context = (*pool)->context;
  auto finish = [&] {
    result.json = toJson(result.latency, model, *execution, result.threads, result.peakBytes, result.machine, result.kernels);
    if (!result.ranks.empty())
      result.json["ranks"] = ranksToJson(result.ranks);
    return Done;
  };
  if (model.loaded->getProgram()) {
    if (!trace.empty())
      return report(makeError("--trace: target " + result.target + " runs in another program, whose threads are not seen from here"), AtFault);
    Expected<Latency> latency = measureElsewhere(*execution, result.kernels);
    if (!latency)
      return report(latency.takeError(), AtFault);
    result.latency = *latency;
    return finish();
  }
  if (Error error = execution->run(&context)) // also warms up
    return report(std::move(error), AtFault);
  Expected<Latency> latency = measure(*execution, context, result.ranks);
  if (!latency)
    return report(latency.takeError(), AtFault);
  result.latency = *latency;
  result.peakBytes = memory.getPeak();
  result.threads = (*pool)->threads;
  auto bits = model.vectorBits.find(result.target);
  result.machine = probeMachine(context, bits == model.vectorBits.end() ? 128 : bits->second, model.steps[result.target]);
  size_t profiled = std::clamp<size_t>(result.latency.runs / 4, 1, 200);
  result.kernels = profile(*execution, context, profiled, result.machine);
  if (!trace.empty()) {
    Expected<int64_t> events = writeTrace(*execution, context, result.kernels, result.threads);
    if (!events)
      return report(events.takeError(), AtFault);
    result.events = *events;
  }
  return finish();
}

/// Says what is wrong with --min-time; 0 if nothing is.
static int checkTime() {
  if (std::isfinite(minTime) && minTime >= 0)
    return Done;
  return report(makeError("--min-time: expected a number of seconds from 0"), WrongUsage);
}

int measureModel(const CompileOptions &options, json::Object &result) {
  if (int status = checkTime())
    return status;
  Measurement measurement;
  int status = measureModel(options, measurement);
  result = std::move(measurement.json);
  return status;
}

/// What is asked for besides the compile, before that takes its time.
static Expected<std::optional<BenchRecord>> readRequest() {
  if (Error error = trace.empty() ? Error::success() : checkWritable(trace))
    return std::move(error);
  if (compareWith.empty())
    return std::nullopt;
  Expected<BenchRecord> before = readBenchRecord(compareWith);
  if (!before)
    return before.takeError();
  return std::optional(std::move(*before));
}

static void printResult(Measurement &result, const std::optional<BenchRecord> &before) {
  std::optional<BenchComparison> comparison;
  if (before)
    comparison = compareBench(*before, result.latency, result.target, result.threads, result.kernels);
  if (wantsJson()) {
    if (comparison)
      result.json["compare"] = toJson(*comparison);
    printJson(std::move(result.json));
    return;
  }
  printTable(result.latency, result.threads, result.machine, result.kernels, result.ranks, all);
  if (comparison)
    printComparison(*before, *comparison);
  if (!trace.empty() && verbosity() > 0)
    printLine(outs(), "wrote " + trace + ": " + Twine(result.events) + " events of " + Twine(tracedRuns) + " runs, for https://ui.perfetto.dev");
}

static int bench(const CompileOptions &options) {
  Expected<std::optional<BenchRecord>> before = readRequest();
  if (!before)
    return report(before.takeError(), AtFault);
  Measurement measurement;
  if (int status = measureModel(options, measurement))
    return status;
  printResult(measurement, *before);
  return Done;
}

int runBench() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  if (int status = checkTime())
    return status;
  return runOnRanks(*options, [&] { return bench(*options); });
}

} // namespace kiln
