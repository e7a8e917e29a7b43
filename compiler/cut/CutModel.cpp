//===- CutModel.cpp - A model as a pipeline of stages ----------------------===//
//
// The cut is made behind the target stage, where every group has its plan. So each kernel is the one that the whole model has, and the stages compute the same
// bits. The ranks of a sharded model have been cut before, and all of them are cut into stages at the same places.
//
//===----------------------------------------------------------------------===//
#include "compiler/cut/CutModel.h"
#include "compiler/cut/CutChoice.h"
#include "compiler/cut/RankSteps.h"
#include "compiler/cut/StageModules.h"
#include "compiler/cut/StepCosts.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/files/Printable.h"
#include "compiler/pipeline/IRPhases.h"
#include "compiler/pipeline/Ranks.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Sequences.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

using namespace cut;

namespace {
/// One cut on its way.
class ModelCutter {
public:
  ModelCutter(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) : options(options), result(result), errors(errors) {}
  CompileStatus cutAndLower(Compilation &whole, llvm::function_ref<void(const std::string &)> begin);

private:
  bool check(const Compilation &whole);
  CompileStatus measure(const Compilation &whole);
  std::optional<std::vector<unsigned>> findCuts();
  std::optional<std::vector<unsigned>> findGivenCuts();
  std::optional<unsigned> findGivenCut(StringRef node);
  CutProblem makeProblem() const;
  bool cutModules(const Compilation &whole, ArrayRef<unsigned> cuts);
  void summarize(ArrayRef<unsigned> cuts, ArrayRef<Border> borders);
  CompileStatus lower(const Compilation &whole);
  std::nullopt_t fail(const Twine &text) {
    errors.push_back(text.str());
    return std::nullopt;
  }

  const CompileOptions &options;
  Compilation &result;
  std::vector<std::string> &errors;
  ModuleOp module;
  /// Of each module; those of a sharded model have the same steps. The first one is where the cuts are chosen.
  std::vector<StepGraph> graphs;
  StepGraph *graph = nullptr;
  /// By module, and then by stage.
  std::vector<std::vector<StageModule>> stages;
};
} // namespace

/// Whether two modules are for different ranks only.
static bool isRankOf(const TargetModule &target, const TargetModule &first) { return target.rank != first.rank && target.name == first.name; }

bool ModelCutter::check(const Compilation &whole) {
  module = *whole.targets.front().module;
  if (!module.getOps<kernel::EntryOp>().empty())
    fail("--stages: " + options.model + " has its kernels already");
  else if (llvm::any_of(whole.targets, [&](const TargetModule &target) { return &target != whole.targets.data() && !isRankOf(target, whole.targets[0]); }))
    fail("--stages: each target, and each version for special sizes, has kernels and borders of its own; compile for one target, without --specialize");
  else if (!nn::ComputedDims(module).empty())
    fail("--stages: the model has loops, or sizes that depend on its data, which only a run counts");
  else if (!nn::getSequences(module).empty())
    fail("--stages: the model has sequences or optionals among its inputs or outputs");
  return errors.empty();
}

CompileStatus ModelCutter::measure(const Compilation &whole) {
  for (const TargetModule &target : whole.targets) {
    auto made = StepGraph::make(target.module.get().lookupSymbol<func::FuncOp>("main"));
    if (failed(made))
      return CompileStatus::Bug;
    graphs.push_back(std::move(*made));
  }
  if (std::string fault = joinRanks(graphs); !fault.empty()) {
    fail("--stages: " + printable(fault));
    return CompileStatus::AtFault;
  }
  graph = &graphs.front();
  CompileStatus status = CompileStatus::Done;
  bool isLowered = measureSteps(module, *graph, [&](ModuleOp copy) {
    status = lowerToKernels(options, copy, result.reproducer, errors);
    return status == CompileStatus::Done;
  });
  return isLowered ? CompileStatus::Done : status;
}

CutProblem ModelCutter::makeProblem() const {
  CutProblem problem;
  for (auto [i, step] : llvm::enumerate(graph->steps)) {
    problem.time.push_back(step.time);
    problem.weightsBytes.push_back(step.weightsBytes);
    problem.liveBytes.push_back(graph->liveBytes[i]);
    problem.hasKernel.push_back(step.hasKernel);
    problem.movingTime.push_back(i ? estimateMoving(module, graph->crossingBytes[i]) : 0);
    problem.crossingBytes.push_back(graph->crossingBytes[i]);
    problem.mayCut.push_back(i && graph->obstacles[i].empty());
  }
  if (options.stages.mostBytes >= 0)
    problem.mostBytes = options.stages.mostBytes;
  return problem;
}

/// The fewest bytes with which there still are cuts.
static int64_t findLeastBytes(CutProblem problem, unsigned stages) {
  int64_t low = problem.mostBytes, high = INT64_MAX / 2;
  while (low + 1 < high) {
    int64_t middle = low + (high - low) / 2;
    problem.mostBytes = middle;
    (chooseCuts(problem, stages) ? high : low) = middle;
  }
  return high;
}

std::optional<std::vector<unsigned>> ModelCutter::findCuts() {
  if (!options.stages.cutBehind.empty())
    return findGivenCuts();
  unsigned stages = options.stages.count, most = graph->listCuts().size() + 1;
  if (stages > most)
    return fail("--stages=" + Twine(stages) + ": the model can be cut into at most " + Twine(most) + (most == 1 ? " stage" : " stages"));
  CutProblem problem = makeProblem();
  std::optional<std::vector<unsigned>> cuts = chooseCuts(problem, stages);
  if (!cuts)
    return fail("--stage-memory: no " + Twine(stages) + " stages fit into " + Twine(problem.mostBytes) + " bytes each; " +
                Twine(findLeastBytes(problem, stages)) + " are the least");
  return cuts;
}

/// The step behind the last one that computes the node.
std::optional<unsigned> ModelCutter::findGivenCut(StringRef node) {
  std::optional<unsigned> last;
  for (auto [i, step] : llvm::enumerate(graph->steps))
    if (llvm::any_of(listStepNodes(step.op), [&](StringRef name) { return name == node || name.rsplit('(').first == node; }))
      last = i + 1;
  std::string where = "--cut=" + printable(node) + ": ";
  if (!last)
    return fail(where + "no kernel computes an ONNX node of this name");
  if (*last == graph->steps.size())
    return fail(where + "nothing is computed behind it");
  if (!graph->obstacles[*last].empty())
    return fail(where + printable(graph->obstacles[*last]));
  return last;
}

std::optional<std::vector<unsigned>> ModelCutter::findGivenCuts() {
  std::vector<unsigned> cuts;
  for (const std::string &node : options.stages.cutBehind) {
    std::optional<unsigned> cut = findGivenCut(node);
    if (!cut)
      return std::nullopt;
    cuts.push_back(*cut);
  }
  llvm::sort(cuts);
  unsigned first = 0;
  for (unsigned stage = 0; stage <= cuts.size(); ++stage) {
    unsigned last = stage < cuts.size() ? cuts[stage] : graph->steps.size();
    auto steps = ArrayRef(graph->steps).slice(first, last - first);
    if (llvm::none_of(steps, [](const Step &step) { return step.hasKernel; }))
      return fail("--cut: stage " + Twine(stage) + " would have no kernel");
    first = last;
  }
  return cuts;
}

static std::string describeType(Type type, ArrayAttr symbols) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << getElementTypeOrSelf(type) << '[';
  llvm::interleaveComma(nn::getDims(type), stream, [&](AffineExpr dim) { stream << nn::formatDim(dim, symbols); });
  stream << ']';
  return text;
}

void ModelCutter::summarize(ArrayRef<unsigned> cuts, ArrayRef<Border> borders) {
  CutProblem problem = makeProblem();
  auto symbols = module->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  double total = 0;
  for (const Step &step : graph->steps)
    total += step.time;
  for (auto [i, stage] : llvm::enumerate(stages.front())) {
    unsigned first = i ? cuts[i - 1] : 0, last = i < cuts.size() ? cuts[i] : graph->steps.size();
    StageSummary summary;
    summary.name = stage.name;
    summary.weightsBytes = stage.weightsBytes;
    double time = 0;
    for (unsigned step = first; step < last; ++step) {
      summary.kernels += graph->steps[step].hasKernel;
      time += graph->steps[step].time;
      summary.valueBytes = std::max(summary.valueBytes, graph->liveBytes[step]);
    }
    summary.share = total > 0 ? time / total : 0;
    if (i) {
      std::vector<std::string> nodes = listStepNodes(graph->steps[first - 1].op);
      summary.cutBehind = nodes.empty() ? "" : nodes.back();
      summary.crossingBytes = graph->crossingBytes[first];
    }
    for (const Border &border : borders)
      if (border.from == i)
        summary.gives.push_back({border.name, describeType(border.type, symbols), border.bytes, border.to, border.form == "part"});
    result.stages.push_back(std::move(summary));
  }
}

bool ModelCutter::cutModules(const Compilation &whole, ArrayRef<unsigned> cuts) {
  llvm::DenseSet<Value> parts;
  bool isSharded = whole.targets.front().rank >= 0;
  if (isSharded)
    parts = findParts(graphs, whole.cutInputs, size_t(countRanks(options)));
  for (auto [i, target] : llvm::enumerate(whole.targets)) {
    std::vector<Border> borders;
    if (!makeStageModules(*target.module, graphs[i], isSharded ? &parts : nullptr, cuts, makeLibraryName(whole.name), stages.emplace_back(), borders, errors))
      return false;
    if (i == 0)
      summarize(cuts, borders);
  }
  return true;
}

CompileStatus ModelCutter::lower(const Compilation &whole) {
  for (unsigned stage = 0; stage < stages.front().size(); ++stage) {
    bool isAlone = options.stages.only >= 0;
    if (isAlone && unsigned(options.stages.only) != stage)
      continue;
    Compilation &part = isAlone ? result : *result.graphs.emplace_back(std::make_unique<Compilation>());
    part.context = result.context;
    part.storage = result.storage;
    part.name = stages.front()[stage].name;
    part.target = result.target;
    for (auto [i, target] : llvm::enumerate(whole.targets)) {
      OwningOpRef<ModuleOp> &lowered = stages[i][stage].module;
      if (CompileStatus status = lowerToKernels(options, *lowered, result.reproducer, errors); status != CompileStatus::Done)
        return status;
      part.targets.push_back({target.name, std::move(lowered), "", target.rank, target.sharedBy});
    }
  }
  return CompileStatus::Done;
}

CompileStatus ModelCutter::cutAndLower(Compilation &whole, llvm::function_ref<void(const std::string &)> begin) {
  if (!check(whole))
    return CompileStatus::AtFault;
  begin("cut");
  if (CompileStatus status = measure(whole); status != CompileStatus::Done)
    return status;
  std::optional<std::vector<unsigned>> cuts = findCuts();
  if (!cuts || !cutModules(whole, *cuts))
    return CompileStatus::AtFault;
  begin("kernel");
  return lower(whole);
}

CompileStatus makeStages(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                         llvm::function_ref<void(const std::string &)> begin) {
  bool stopsEarly = llvm::is_contained({"import", "graph", "target"}, options.stopAfter);
  CompileOptions own = options;
  if (!stopsEarly)
    own.stopAfter = "target";
  Compilation whole;
  whole.context = result.context;
  CompileStatus status = makeKernels(own, stopsEarly ? result : whole, errors, begin);
  if (stopsEarly || status != CompileStatus::Done) {
    if (!stopsEarly)
      result.reproducer = whole.reproducer;
    return status;
  }
  result.context = whole.context;
  result.storage = whole.storage;
  result.name = makeLibraryName(whole.name);
  result.target = whole.target.empty() ? whole.targets.front().name : whole.target;
  result.operators = whole.operators;
  result.warnings = whole.warnings;
  result.notes = whole.notes;
  result.dependencies = whole.dependencies;
  result.delegated = std::move(whole.delegated);
  result.rankParts = std::move(whole.rankParts);
  return ModelCutter(options, result, errors).cutAndLower(whole, begin);
}

} // namespace kiln
