//===- Collector.cpp - The data of a report, collected during a compile ------===//
#include "compiler/report/Collector.h"
#include "compiler/Description.h"
#include "compiler/emit/Identifiers.h"
#include "compiler/emit/Weights.h"
#include "compiler/files/Printable.h"
#include "compiler/report/KernelRows.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SymbolAttributeNames.h"

using namespace mlir;

namespace kiln {

void ReportCollector::collect(StringRef stage, const Compilation &compilation) {
  if (compilation.targets.empty())
    return;
  ModuleOp first = *compilation.targets.front().module;
  if (stage == "import")
    graph.read(first);
  else if (stage == "graph")
    ranges = listRanges(first, graph);
  else if (stage == "target")
    for (const TargetModule &target : compilation.targets)
      groups.push_back(listGroups(*target.module));
}

static std::string printAttribute(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attr.print(stream);
  return text;
}

/// The operations of a group, as they were fused.
static llvm::json::Array listOperations(nn::GroupOp group, ArrayAttr symbols, GraphRows &graph) {
  llvm::json::Array list;
  group.getBody().walk([&](Operation *op) {
    if (isa<nn::YieldOp>(op) || op->getNumResults() == 0)
      return;
    llvm::json::Object row{{"op", op->getName().stripDialect().str()}, {"type", jsonText(describeType(op->getResult(0).getType(), symbols))},
                           {"nodes", graph.find(op->getLoc())}};
    if (auto softmax = dyn_cast<nn::SoftmaxOp>(op); softmax && softmax.getProof())
      row["proof"] = jsonText(*softmax.getProof());
    list.push_back(std::move(row));
  });
  return list;
}

/// What the step of a plan multiplies.
static StringRef findOperands(kernel::PlanAttr plan, kernel::TargetAttr target) {
  for (kernel::StepAttr step : target ? target.getSteps() : ArrayRef<kernel::StepAttr>())
    if (!plan.getStep().empty() && step.getFunction() == plan.getStep())
      return nameOperands(step.getRhs());
  return "real";
}

std::vector<ReportCollector::Group> ReportCollector::listGroups(ModuleOp module) {
  std::vector<Group> list;
  kernel::TargetAttr target = kernel::getTarget(module);
  auto symbols = module->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  module.walk([&](nn::GroupOp group) {
    llvm::json::Object row{{"form", stringifyEnum(group.getForm()).str()}, {"operations", listOperations(group, symbols, graph)}};
    if (group.getPlan())
      row["plan"] = jsonText(printAttribute(*group.getPlan()));
    llvm::json::Array results;
    for (Type type : group.getResultTypes())
      results.push_back(jsonText(describeType(type, symbols)));
    row["results"] = std::move(results);
    list.push_back({group.getLoc(), group.getPlan() ? findOperands(*group.getPlan(), target) : "real", std::move(row)});
  });
  return list;
}

namespace {
/// Finds the group of each launch: launches are in the order of their groups, some of which need none.
class GroupFinder {
public:
  template <typename Groups> explicit GroupFinder(const Groups &groups) {
    for (auto [i, group] : llvm::enumerate(groups))
      byLocation[group.location].push_back(static_cast<int64_t>(i));
  }
  int64_t find(Location location) {
    auto found = byLocation.find(location);
    if (found == byLocation.end())
      return -1;
    size_t &next = used[location];
    // A group whose launch is in several branches has several.
    int64_t group = found->second[std::min(next, found->second.size() - 1)];
    ++next;
    return group;
  }

private:
  DenseMap<Attribute, SmallVector<int64_t, 1>> byLocation;
  DenseMap<Attribute, size_t> used;
};
} // namespace

static llvm::json::Array listBuffers(ArrayRef<BufferRow> buffers) {
  llvm::json::Array list;
  for (const BufferRow &buffer : buffers) {
    llvm::json::Object row{{"kind", buffer.kind}, {"name", jsonText(buffer.name)}, {"element", buffer.element}, {"bytes", buffer.bytes}};
    if (buffer.kind == "arena") {
      row["offset"] = buffer.offset;
      row["first"] = buffer.first;
      row["last"] = buffer.last;
    }
    list.push_back(std::move(row));
  }
  return list;
}

static llvm::json::Object toJson(const LaunchRow &launch, GraphRows &graph) {
  llvm::json::Object row{{"nodes", graph.find(launch.nodes)}, {"flops", launch.flops}, {"bytes", launch.bytes}, {"reads", llvm::json::Array(launch.reads)},
                         {"writes", llvm::json::Array(launch.writes)}};
  if (launch.isParallel)
    row["parallel"] = true;
  if (launch.isConditional)
    row["conditional"] = true;
  if (launch.calls != 1)
    row["calls"] = launch.calls;
  return row;
}

llvm::Expected<llvm::json::Object> ReportCollector::describeTarget(const Compilation &compilation, size_t target, const Signature &signature,
                                                                   const DimSizes &sizes) {
  const TargetModule &own = compilation.targets[target];
  auto kernels = listKernels(signature, graph);
  if (!kernels)
    return kernels.takeError();
  EntryRows entry = readEntry(signature, sizes);
  ArrayRef<Group> known = target < groups.size() ? ArrayRef<Group>(groups[target]) : ArrayRef<Group>();
  GroupFinder finder(known);
  llvm::json::Array launches, groupRows;
  for (const LaunchRow &launch : entry.launches) {
    llvm::json::Object row = toJson(launch, graph);
    int64_t kernel = kernels->numbers.lookup(launch.kernel), group = finder.find(launch.location);
    row["kernel"] = kernel;
    row["group"] = group;
    if (group >= 0 && known[group].operands != "real")
      (*kernels->rows[kernel].getAsObject())["operands"] = known[group].operands;
    launches.push_back(std::move(row));
  }
  for (const Group &group : known)
    groupRows.push_back(llvm::json::Object(group.row));
  llvm::json::Object dims;
  for (const auto &[name, size] : entry.sizes)
    dims[jsonText(name)] = size;
  MemoryUse memory = describeMemory(own);
  llvm::json::Object row{{"target", jsonText(signature.target)}, {"sizes", jsonText(own.sizes)}, {"machine", describeMachine(*own.module)},
                         {"counted_for", std::move(dims)}, {"groups", std::move(groupRows)}, {"kernels", std::move(kernels->rows)},
                         {"launches", std::move(launches)}, {"buffers", listBuffers(entry.buffers)}, {"weights", listWeights(*own.module)},
                         {"composites", compositesToJson(own)}, {"workspace_bytes", memory.workspaceBytes},
                         {"workspace_lower_bound", memory.workspaceLowerBound}, {"layout_conversions", memory.layoutConversions}};
  return row;
}

/// The signature of each target, named as in the library that a compile of them makes.
static llvm::Expected<std::vector<Signature>> readSignatures(const Compilation &compilation) {
  std::vector<Signature> signatures;
  for (const TargetModule &target : compilation.targets) {
    auto signature = readSignature(*target.module, compilation.name);
    if (failed(signature))
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "the module has no signature after the kernel stage");
    if (compilation.targets.size() > 1)
      signature->variant = makeIdentifier(target.name);
    signatures.push_back(std::move(*signature));
  }
  return signatures;
}

llvm::Expected<llvm::json::Object> ReportCollector::finish(const Compilation &compilation, const DimSizes &sizes) {
  auto signatures = readSignatures(compilation);
  if (!signatures)
    return signatures.takeError();
  std::vector<ModuleOp> modules;
  for (const TargetModule &target : compilation.targets)
    modules.push_back(*target.module);
  FailureOr<int64_t> weightsBytes = placeWeights(modules);
  llvm::json::Array compiles;
  for (size_t i = 0; i < signatures->size(); ++i) {
    auto row = describeTarget(compilation, i, (*signatures)[i], sizes);
    if (!row)
      return row.takeError();
    compiles.push_back(std::move(*row));
  }
  llvm::json::Object model = toJson(describe(compilation, mergeSignatures(*signatures)));
  // Each compile has its own, with more of each.
  model.erase("kernels");
  model.erase("file_bytes");
  model["weights_bytes"] = succeeded(weightsBytes) ? *weightsBytes : 0;
  return llvm::json::Object{{"kiln_report", reportVersion}, {"model", std::move(model)}, {"graph", graph.toJson()}, {"ranges", std::move(ranges)},
                            {"compiles", std::move(compiles)}};
}

} // namespace kiln
