//===- RankMeasurement.cpp - One rank's part, compiled and measured ---------===//
#include "tools/kiln/plan/RankMeasurement.h"
#include "compiler/Compile.h"
#include "compiler/report/EntryRows.h"
#include "compiler/run/Latency.h"
#include "passes/ranks/WholeWork.h"
#include "tools/kiln/Commands.h"
#include "tools/kiln/ModelRun.h"
#include "tools/kiln/Reporting.h"
#include "tools/kiln/plan/CallRecorder.h"
#include <map>

using namespace llvm;

namespace kiln {

namespace {

/// The times of launches, by their numbers.
class LaunchClock {
public:
  void attach(kiln_context &context) {
    context.on_kernel = note;
    context.on_kernel_user = this;
  }
  struct Launch {
    double otherBytes = 0; // of all calls, weights among them
    std::vector<double> seconds;
  };
  std::map<int32_t, Launch> launches;

private:
  static void note(void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase) {
    auto *clock = static_cast<LaunchClock *>(user);
    if (phase == KILN_KERNEL_BEGIN) {
      clock->begin = kiln_clock_ns();
      return;
    }
    Launch &launch = clock->launches[kernel->index];
    launch.seconds.push_back(double(kiln_clock_ns() - clock->begin) * 1e-9);
    launch.otherBytes += double(kernel->bytes);
  }
  int64_t begin = 0;
};

} // namespace

/// The bytes of weights that each launch reads, by its number.
static std::vector<double> listWeightBytes(const Compilation &compilation, const NamedSizes &sizes) {
  std::vector<double> bytes;
  mlir::FailureOr<Signature> signature = readSignature(*compilation.targets.front().module, compilation.name);
  if (mlir::failed(signature))
    return bytes;
  EntryRows entry = readEntry(*signature, sizes);
  for (const LaunchRow &launch : entry.launches) {
    double &sum = bytes.emplace_back();
    for (int64_t buffer : launch.reads)
      if (entry.buffers[buffer].kind == "weight")
        sum += double(std::max<int64_t>(entry.buffers[buffer].bytes, 0));
  }
  return bytes;
}

/// Seconds of a whole run: the least of some medians, since others use the machine, too.
static double timeRuns(const Execution &execution, const kiln_context &context, CallRecorder &recorder) {
  constexpr double enough = 0.2e9, fewest = 5;
  constexpr int turns = 3;
  double best = 0;
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<double> times;
    for (int64_t begin = kiln_clock_ns(); double(times.size()) < fewest || double(kiln_clock_ns() - begin) < enough;) {
      recorder.clear();
      int64_t start = kiln_clock_ns();
      execution.call(&context);
      times.push_back(double(kiln_clock_ns() - start) * 1e-9);
    }
    double median = findMedian(std::move(times));
    best = turn ? std::min(best, median) : median;
  }
  return best;
}

/// The kernels with the times that they have in whole runs: watching them takes time.
static std::vector<RankKernel> timeKernels(const Execution &execution, kiln_context context, CallRecorder &recorder, ArrayRef<double> weightBytes) {
  double whole = timeRuns(execution, context, recorder), sum = 0;
  LaunchClock clock;
  clock.attach(context);
  constexpr double enough = 0.3;
  double runs = std::clamp(enough / std::max(whole, 1e-9), 3.0, 50.0);
  for (int run = 0; run < int(runs); ++run) {
    recorder.clear();
    execution.call(&context);
  }
  std::vector<RankKernel> kernels;
  for (auto &[index, launch] : clock.launches) {
    double calls = double(launch.seconds.size()) / std::floor(runs), bytes = launch.otherBytes / std::floor(runs);
    // A look-up in a table reads less than the table.
    double weights = size_t(index) < weightBytes.size() ? std::min(weightBytes[size_t(index)] * calls, bytes) : 0;
    kernels.push_back({findMedian(launch.seconds) * calls, weights, bytes - weights});
    sum += kernels.back().seconds;
  }
  if (kernels.empty() || sum <= 0)
    return {{whole, 0, 0}};
  for (RankKernel &kernel : kernels)
    kernel.seconds *= whole / sum;
  return kernels;
}

int measureRank(CompileOptions options, const std::string &grid, int64_t ranks, Algorithms algorithms, const kiln_context &context, RankPart &part) {
  options.ranks = ranks > 1 ? grid : "";
  options.onlyRank = ranks > 1 ? 0 : -1;
  options.onWholeWork = [&](const WholeWork &work) {
    part.wholeShare = work.share;
    part.wholeOperation = work.operation;
    part.wholeHasParts = work.hasParts;
  };
  Expected<NamedSizes> sizes = readRunDims();
  if (!sizes)
    return report(sizes.takeError(), WrongUsage);
  std::vector<double> weightBytes;
  options.afterStage = [&](const std::string &stage, const Compilation &now) {
    if (stage == "kernel")
      weightBytes = listWeightBytes(now, *sizes);
  };
  RunnableModel model;
  if (int status = loadOrReport(options, model))
    return status;
  Expected<InputSpecs> specs = getInputSpecs(*model.loaded);
  if (!specs)
    return report(specs.takeError(), WrongUsage);
  Expected<std::vector<Tensor>> inputs = makeInputs(*model.loaded, *specs, "random", options);
  if (!inputs)
    return report(inputs.takeError(), AtFault);
  Expected<Execution> execution = prepareRun(*model.loaded, *inputs);
  if (!execution)
    return report(execution.takeError(), AtFault);
  CallRecorder recorder(int32_t(ranks), algorithms);
  kiln_context own = context;
  own.communicator = recorder.get();
  if (kiln_status status = execution->call(&own)) // also takes the pages in
    return report(makeError("the model did not run: " + Twine(kiln_status_string(status))), AtFault);
  const kiln_model_info &info = model.loaded->getInfo();
  part.ranks = ranks;
  part.grid = grid;
  part.threads = own.parallel_for ? own.num_threads : 1;
  part.weights = info.weights_size;
  part.workspace = int64_t(execution->getWorkspaceSize());
  part.kernels = timeKernels(*execution, own, recorder, weightBytes);
  part.steps = std::move(recorder.steps);
  part.exchanges = recorder.exchanges;
  return Done;
}

} // namespace kiln
