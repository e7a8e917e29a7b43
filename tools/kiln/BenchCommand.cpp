//===- BenchCommand.cpp - kiln bench: latency, and the speed of kernels ----===//
#include "compiler/files/Printable.h"
#include "compiler/run/MachineProbe.h"
#include "tools/kiln/Benchmark.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/CompileFlags.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <malloc.h>

using namespace llvm;

namespace kiln {

static cl::opt<double> minTime("min-time", cl::desc("Measure for at least this many seconds (default: 1)"), cl::value_desc("SECONDS"), cl::init(1),
    cl::sub(benchCommand), cl::sub(reportCommand));

namespace {

struct Latency {
  double median = 0, min = 0, p95 = 0; // milliseconds
  size_t runs = 0;
  /// Of one run, where an emulator counts them.
  std::optional<int64_t> instructions = std::nullopt;
};

/// What a kernel multiplies, and so which peak its operations are measured against.
enum class Operands { Real, Bytes, Brain };

struct KernelSpeed {
  std::string name, nodes;
  Operands operands = Operands::Real;
  double milliseconds = 0, gflops = 0, gbps = 0;
  /// Its operations as a part of the measured peak for what it multiplies; 0 if that is not known.
  double share = 0;
  /// The least time that the machine allows, as a part of the time taken.
  double roofline = 0;
  /// Launches in a run, which conditions and loops decide, and what one of them does.
  double calls = 0, flops = 0, bytes = 0;
};

} // namespace

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

/// Of times in milliseconds.
static Latency summarize(std::vector<double> times) {
  llvm::sort(times);
  size_t last = times.size() - 1;
  return {(times[last / 2] + times[(last + 1) / 2]) / 2, times.front(), times[std::min(last, size_t(0.95 * double(times.size())))], times.size()};
}

static Latency measure(const Execution &execution, const kiln_context &context) {
  std::vector<double> times;
  int64_t begin = kiln_clock_ns();
  while (times.size() < 5 || double(kiln_clock_ns() - begin) < minTime * 1e9) {
    int64_t start = kiln_clock_ns();
    execution.call(&context);
    times.push_back(double(kiln_clock_ns() - start) * 1e-6);
  }
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
    kernels.push_back({launch.name, launch.nodes, findOperands(launch.algorithm), total * 1e-6 / calls, double(launch.flops) / total,
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

/// A pass of its own: the hook costs time.
static Expected<std::vector<KernelSpeed>> profile(const Execution &execution, kiln_context context, int32_t kernels, size_t runs,
                                                  const Machine &machine) {
  kiln_profiler *profiler = nullptr;
  if (kiln_status status = kiln_profiler_create(std::max(kernels, 1), &profiler))
    return makeError(kiln_status_string(status));
  kiln_profiler_attach(profiler, &context);
  for (size_t run = 0; run < runs; ++run)
    execution.call(&context);
  std::vector<KernelSpeed> speeds;
  for (int32_t i = 0; i < kiln_profiler_count(profiler); ++i) {
    kiln_profile_entry entry;
    if (kiln_profiler_entry(profiler, i, &entry) || entry.calls == 0)
      continue;
    double total = std::max<double>(1, double(entry.total_ns)), calls = double(entry.calls);
    Operands operands = findOperands(entry.algorithm);
    double peak = getPeak(machine, operands), rate = double(entry.flops) / total;
    double least = getRoofline(machine, peak, double(entry.flops) / calls, double(entry.bytes) / calls) * calls * 1e9;
    double share = peak > 0 ? rate * 1e9 / peak : 0;
    speeds.push_back({entry.name, entry.nodes, operands, total * 1e-6 / calls, rate, double(entry.bytes) / total, share, least / total,
                      calls / double(runs), double(entry.flops) / calls, double(entry.bytes) / calls});
  }
  kiln_profiler_destroy(profiler);
  return speeds;
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

static void printTable(const Latency &latency, int32_t threads, const Machine &machine, const std::vector<KernelSpeed> &speeds) {
  // The slowest first, then as they are launched: the addresses tell that.
  std::vector<const KernelSpeed *> kernels;
  for (const KernelSpeed &speed : speeds)
    kernels.push_back(&speed);
  llvm::sort(kernels, [](auto *a, auto *b) { return std::pair(b->milliseconds, a) < std::pair(a->milliseconds, b); });
  outs() << format("median %.3f ms, min %.3f ms, p95 %.3f ms (%zu runs, %d threads)\n", latency.median, latency.min, latency.p95, latency.runs, threads);
  if (latency.instructions)
    outs() << *latency.instructions << " instructions a run, which the emulator counted\n";
  if (verbosity() == 0)
    return;
  if (machine.peak > 0)
    outs() << format("measured here: %.0f GFLOP/s;", machine.peak * 1e-9);
  if (machine.bytePeak > 0)
    outs() << format(" %.0f Gop/s of bytes;", machine.bytePeak * 1e-9);
  if (machine.brainPeak > 0)
    outs() << format(" %.0f GFLOP/s of bf16;", machine.brainPeak * 1e-9);
  for (const MemoryLevel &level : machine.levels)
    outs() << " " << printable(level.name) << format(" %.0f", level.bandwidth * 1e-9);
  outs() << (machine.peak > 0 ? " GB/s\n" : "") << format("%10s %10s        %6s %10s %9s  kernel\n", "ms", "speed", "peak", "GB/s", "roofline");
  for (const KernelSpeed *kernel : kernels) {
    const char *unit = kernel->operands == Operands::Bytes ? "Gop/s  " : "GFLOP/s";
    outs() << format("%10.4f %10.2f %s %4.0f %% %10.2f %7.0f %%  ", kernel->milliseconds, kernel->gflops, unit, kernel->share * 100, kernel->gbps,
                     kernel->roofline * 100);
    printLine(outs(), kernel->name + ": " + kernel->nodes);
  }
}

static json::Object toJson(const Latency &latency, const RunnableModel &model, const Execution &execution, int32_t threads, int64_t peakBytes,
                           const Machine &machine, ArrayRef<KernelSpeed> kernels) {
  json::Array list, levels;
  for (const MemoryLevel &level : machine.levels)
    levels.push_back(json::Object{{"name", level.name}, {"gbps", level.bandwidth * 1e-9}});
  for (const KernelSpeed &kernel : kernels) {
    json::Object row{{"name", jsonText(kernel.name)}, {"nodes", jsonText(kernel.nodes)}, {"ms", kernel.milliseconds}, {"gbps", kernel.gbps},
                     {"roofline", kernel.roofline}, {"calls", kernel.calls}, {"flops", kernel.flops}, {"bytes", kernel.bytes}};
    row["operands"] = kernel.operands == Operands::Bytes ? "bytes" : kernel.operands == Operands::Brain ? "bf16" : "real";
    row[kernel.operands == Operands::Bytes ? "gops" : "gflops"] = kernel.gflops;
    if (kernel.share > 0)
      row["peak_share"] = kernel.share;
    list.push_back(std::move(row));
  }
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
          {"kernels", std::move(list)}};
  if (latency.instructions)
    result["instructions"] = *latency.instructions;
  return result;
}

namespace {
/// All that a measurement gives.
struct Measurement {
  Latency latency;
  int32_t threads = 1;
  int64_t peakBytes = 0;
  Machine machine;
  std::vector<KernelSpeed> kernels;
  json::Object json;
};
} // namespace

static int measureModel(const CompileOptions &options, Measurement &result) {
  if (!std::isfinite(minTime) || minTime < 0)
    return report(makeError("--min-time: expected a number of seconds from 0"), WrongUsage);
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
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
    return Done;
  };
  if (model.loaded->getProgram()) {
    Expected<Latency> latency = measureElsewhere(*execution, result.kernels);
    if (!latency)
      return report(latency.takeError(), AtFault);
    result.latency = *latency;
    return finish();
  }
  if (Error error = execution->run(&context)) // also warms up
    return report(std::move(error), AtFault);
  result.latency = measure(*execution, context);
  result.peakBytes = memory.getPeak();
  result.threads = (*pool)->threads;
  auto bits = model.vectorBits.find(model.loaded->getTarget());
  result.machine = probeMachine(context, bits == model.vectorBits.end() ? 128 : bits->second, model.steps[model.loaded->getTarget()]);
  size_t profiled = std::clamp<size_t>(result.latency.runs / 4, 1, 200);
  Expected<std::vector<KernelSpeed>> kernels = profile(*execution, context, model.loaded->getInfo().num_kernels, profiled, result.machine);
  if (!kernels)
    return report(kernels.takeError(), AtFault);
  result.kernels = std::move(*kernels);
  return finish();
}

int measureModel(const CompileOptions &options, json::Object &result) {
  Measurement measurement;
  int status = measureModel(options, measurement);
  result = std::move(measurement.json);
  return status;
}

int runBench() {
  Expected<CompileOptions> options = getCompileOptions();
  if (!options)
    return report(options.takeError(), WrongUsage);
  Measurement measurement;
  if (int status = measureModel(*options, measurement))
    return status;
  if (wantsJson())
    printJson(std::move(measurement.json));
  else
    printTable(measurement.latency, measurement.threads, measurement.machine, measurement.kernels);
  return Done;
}

} // namespace kiln
