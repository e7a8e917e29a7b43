//===- ReadModel.cpp - The module that the stages begin with ---------------===//
#include "compiler/pipeline/ReadModel.h"
#include "compiler/RunConstants.h"
#include "compiler/Decisions.h"
#include "compiler/Promises.h"
#include "compiler/ReadIR.h"
#include "compiler/emit/Weights.h"
#include "compiler/files/InputFile.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/RunPass.h"
#include "compiler/pipeline/Stages.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"

using namespace mlir;

namespace kiln {

static bool isIRFile(StringRef path) { return path.ends_with(".mlir") || path.ends_with(".mlirbc"); }

/// Whether every constant has its data: printing leaves out large ones by default.
static bool hasAllConstants(ModuleOp module) {
  return !module
              .walk([](Operation *op) {
                for (NamedAttribute attr : op->getAttrDictionary())
                  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr.getValue()); resource && !resource.getRawHandle().getBlob())
                    return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

static bool readIRFile(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readInputFile(options.model, mostDataBytes);
  if (!buffer) {
    errors.push_back(options.model + ": " + toString(buffer.takeError()));
    return false;
  }
  DiagnosticCollector diagnostics(*result.context, errors);
  result.targets.front().module = readIR(*result.context, std::move(*buffer), options.limits, errors);
  return bool(result.targets.front().module);
}

/// Keeps those values inside the model as outputs that the options name; import has exposed all of them.
static bool observeValues(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  ObserveValuesOptions observe;
  observe.outputs = result.outputs;
  observe.values.assign(options.observation.values.begin(), options.observation.values.end());
  observe.everything = options.observation.everything;
  observe.cut = options.observation.cut;
  observe.fault = options.observation.fault;
  return runPass(*result.targets.front().module, createObserveValues(observe), errors);
}

ImportOptions makeImportOptions(const CompileOptions &options) {
  ImportOptions import;
  import.path = options.model;
  import.name = options.name;
  import.dims = options.dims;
  import.dimBounds = options.dimBounds;
  import.renames = options.renames;
  import.shapes = options.shapes;
  import.bindings = options.bindings;
  import.sequences = options.sequences;
  import.absent = options.absent;
  import.functions = options.functions;
  import.definitions = options.definitions;
  import.delegates = options.delegates;
  import.limits = options.limits;
  import.strict = options.strict;
  import.followLinks = options.followLinks;
  // What is narrower in the library than in the file may still fit; the compile's end tells.
  if (!options.externalWeights && options.ranks.empty() && options.stopAfter.empty() && options.weightsType.empty() && options.compute.empty())
    import.mostExternalBytes = maxEmbeddedBytes;
  import.runConstants = [&options](ModuleOp module) { return runConstants(options, module); };
  import.exposeNodes = options.observation.any();
  import.broadcasts = options.assumeEqual         ? ImportOptions::Broadcasts::Equal
                      : options.observation.any() || options.stages.count ? ImportOptions::Broadcasts::Exact
                                                                          : ImportOptions::Broadcasts::Versions;
  return import;
}

static bool importONNX(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  auto imported = importModel(*result.context, makeImportOptions(options), errors);
  if (failed(imported))
    return false;
  result.storage = imported->storage;
  result.targets.front().module = std::move(imported->module);
  for (ImportedModel::Version &version : imported->versions)
    result.targets.push_back({"", std::move(version.module), version.label});
  result.dependencies = imported->externalFiles;
  llvm::append_range(result.dependencies, options.functions);
  llvm::append_range(result.dependencies, options.definitions);
  for (auto &[path, bytes] : imported->delegated)
    result.delegated.push_back({path, std::move(bytes), nullptr});
  llvm::append_range(result.warnings, imported->warnings);
  result.outputs = imported->outputs;
  return !options.observation.any() || observeValues(options, result, errors);
}

unsigned countStagesDone(const CompileOptions &options, ModuleOp module) {
  unsigned least = options.graph && options.graphStage == "graph" ? 1 : 0;
  if (!isIRFile(options.model))
    return least;
  if (!module.getOps<kernel::EntryOp>().empty())
    return getStages().size();
  bool grouped = module.walk([](nn::GroupOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return grouped ? 2 : least;
}

bool checkKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  ModuleOp module = *result.targets.front().module;
  return countStagesDone(options, module) < getStages().size() || runPass(module, createVerifyKernel(), errors);
}

bool checkConstants(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  bool needsData = isIRFile(options.model) && (options.stopAfter.empty() || options.stopAfter == "emit");
  if (!needsData || hasAllConstants(*result.targets.front().module))
    return true;
  errors.push_back(options.model + ": constants were omitted when this was printed; --emit=mlir writes all of them");
  return false;
}

/// Records the pairs of --in-place, and gives caches their whole buffer.
static bool prepareInPlace(const CompileOptions &options, ModuleOp module, std::vector<std::string> &errors) {
  if (options.inPlace.empty())
    return true;
  PrepareInPlaceOptions pairs;
  pairs.pairs.assign(options.inPlace.begin(), options.inPlace.end());
  return runPass(module, createPrepareInPlace(pairs), errors);
}

/// Gives inputs and outputs the layouts of --io-layout.
static bool setIoLayouts(const CompileOptions &options, ModuleOp module, unsigned outputs, std::vector<std::string> &errors) {
  if (options.ioLayouts.empty())
    return true;
  SetIoLayoutsOptions wanted;
  wanted.layouts.assign(options.ioLayouts.begin(), options.ioLayouts.end());
  // Import counts the model's outputs; IR has no others.
  if (outputs)
    wanted.outputs = outputs;
  return runPass(module, createSetIoLayouts(wanted), errors);
}

/// Copies the modules of a compile that has ended with the graph stage.
static void copyGraph(const Compilation &graph, Compilation &result) {
  result.storage = graph.storage;
  result.outputs = graph.outputs;
  result.name = graph.name;
  result.operators = graph.operators;
  result.dependencies = graph.dependencies;
  for (const TargetModule &version : graph.targets)
    result.targets.push_back({version.name, cast<ModuleOp>((*version.module)->clone()), version.sizes});
}

bool readModel(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  if (options.graph) {
    copyGraph(*options.graph, result);
    return true;
  }
  result.targets.resize(1);
  bool isIR = isIRFile(options.model);
  if (isIR && !checkIROptions(options, errors))
    return false;
  if (isIR ? !readIRFile(options, result, errors) : !importONNX(options, result, errors))
    return false;
  if (auto name = (*result.targets.front().module)->getAttrOfType<StringAttr>(nn::modelAttrName))
    result.name = options.name.empty() ? name.str() : options.name;
  result.operators = countOperators(*result.targets.front().module);
  return llvm::all_of(result.targets, [&](TargetModule &target) {
    return recordPromises(options, *target.module, errors) && setIoLayouts(options, *target.module, result.outputs, errors) &&
           prepareInPlace(options, *target.module, errors);
  });
}

} // namespace kiln
