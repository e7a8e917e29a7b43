//===- IRPhases.cpp - The part of a compile that works on IR ---------------===//
#include "compiler/IRPhases.h"
#include "compiler/CrashFolder.h"
#include "compiler/Decisions.h"
#include "compiler/InPlace.h"
#include "compiler/Observe.h"
#include "compiler/Profile.h"
#include "compiler/Promises.h"
#include "compiler/ReadIR.h"
#include "compiler/files/InputFile.h"
#include "compiler/Specialize.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/target/Targets.h"
#include "dialects/kernel/Libraries.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/NN.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kiln {

/// The innermost ONNX node of a location: a name with the operator in parentheses.
static std::string nodeOf(Location loc) {
  std::string node;
  loc->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    StringRef text = name ? name.getName().getValue() : StringRef();
    if (!text.ends_with(")"))
      return WalkResult::advance();
    auto [stem, op] = text.drop_back(1).rsplit('(');
    node = ("node '" + stem + "' (" + op + "): ").str();
    return WalkResult::interrupt();
  });
  return node;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context, std::vector<std::string> &errors)
    : errors(errors), handler(&context, [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return success();
  std::string text = diagnostic.str();
  StringRef message = text;
  // The pass manager's own word on every failure: whatever failed has said more.
  if (message.starts_with("Failures have been detected while processing an MLIR pass pipeline"))
    return success();
  bug |= !kernel::isRefusal(diagnostic);
  std::string place = nodeOf(diagnostic.getLocation());
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>(); file && place.empty())
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn()) + ": ").str();
  errors.push_back(place + text);
  return success();
}

static void loadDialects(MLIRContext &context) {
  context.loadDialect<nn::NNDialect, kernel::KernelDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
}

static bool isIRFile(StringRef path) { return path.ends_with(".mlir") || path.ends_with(".mlirbc"); }

/// Printing leaves large constants out unless it is asked for all.
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

static bool checkConstants(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  bool needsData = isIRFile(options.model) && (options.stopAfter.empty() || options.stopAfter == "emit");
  if (!needsData || hasAllConstants(*result.targets.front().module))
    return true;
  errors.push_back(options.model + ": constants were omitted when this was printed; --emit=mlir writes all of them");
  return false;
}

static bool importONNX(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  ImportOptions import;
  import.path = options.model;
  import.name = options.name;
  import.dims = options.dims;
  import.dimBounds = options.dimBounds;
  import.shapes = options.shapes;
  import.bindings = options.bindings;
  import.sequences = options.sequences;
  import.absent = options.absent;
  import.limits = options.limits;
  import.exposeNodes = options.observation.any();
  import.broadcasts = options.assumeEqual         ? ImportOptions::Broadcasts::Equal
                      : options.observation.any() ? ImportOptions::Broadcasts::Exact
                                                  : ImportOptions::Broadcasts::Versions;
  auto imported = importModel(*result.context, import, errors);
  if (failed(imported))
    return false;
  result.storage = imported->storage;
  result.targets.front().module = std::move(imported->module);
  for (ImportedModel::Version &version : imported->versions)
    result.targets.push_back({"", std::move(version.module), version.label});
  result.dependencies = imported->externalFiles;
  result.outputs = imported->outputs;
  return !options.observation.any() || succeeded(observeValues(*result.targets.front().module, result.outputs, options.observation, errors));
}

/// The stages that IR from a file has behind it: what it holds tells.
static unsigned stagesDone(ModuleOp module) {
  if (!module.getOps<kernel::EntryOp>().empty())
    return getStages().size();
  bool grouped = module.walk([](nn::GroupOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return grouped ? 2 : 0;
}

/// IR with its kernels made goes straight to the printers, which trust the promise of the stage.
static bool checkKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  ModuleOp module = *result.targets.front().module;
  if (!isIRFile(options.model) || stagesDone(module) < getStages().size())
    return true;
  PassManager passes(result.context.get());
  passes.addPass(createVerifyKernel());
  DiagnosticCollector diagnostics(*result.context, errors);
  return succeeded(passes.run(module));
}

namespace {
struct CrashingInstrumentation : PassInstrumentation {
  void runBeforePass(Pass *, Operation *) override { std::abort(); }
};
} // namespace

static CompileStatus runStage(const Stage &stage, ModuleOp module, ArrayRef<kernel::TargetAttr> targets, const CompileOptions &options,
                              std::string &reproducer, std::vector<std::string> &errors) {
  PassManager passes(module.getContext());
  PipelineOptions pipeline;
  pipeline.decompose = options.decompose;
  pipeline.keepComposites = options.strict;
  pipeline.plain = options.plain;
  pipeline.explain = options.explain;
  pipeline.explainNode = options.explainNode;
  for (kernel::TargetAttr target : targets)
    for (kernel::CompositeAttr composite : target.getComposites())
      pipeline.composites.push_back(composite.getName().str());
  pipeline.foldBytes = options.limits.foldBytes;
  auto accuracy = module->getAttrOfType<StringAttr>(nn::accuracyAttrName);
  pipeline.strict = accuracy && accuracy == "strict";
  if (accuracy && accuracy == "fast")
    pipeline.accuracy.push_back("fast");
  llvm::append_range(pipeline.accuracy, options.opAccuracy);
  stage.build(passes, pipeline);
  if (options.keepReproducer)
    keepReproducer(passes, reproducer);
  if (options.crashIn == stage.name)
    passes.addInstrumentation(std::make_unique<CrashingInstrumentation>());
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  if (succeeded(passes.run(module)))
    return CompileStatus::Done;
  if (errors.empty() || diagnostics.sawBug())
    return CompileStatus::Bug;
  // The model's fault needs no reproducer.
  dropCrashFile(reproducer);
  return CompileStatus::AtFault;
}

/// Reads the model into the first of `result.targets`, the only one for now but for its version for sizes that are equal.
static bool readModel(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  result.targets.resize(1);
  bool isIR = isIRFile(options.model);
  if (isIR && !checkIROptions(options, errors))
    return false;
  if (isIR ? !readIRFile(options, result, errors) : !importONNX(options, result, errors))
    return false;
  if (auto name = (*result.targets.front().module)->getAttrOfType<StringAttr>("nn.model"))
    result.name = options.name.empty() ? name.str() : options.name;
  result.operators = countOperators(*result.targets.front().module);
  return llvm::all_of(result.targets, [&](TargetModule &target) {
    return recordPromises(options, *target.module, errors) && prepareInPlace(options, *target.module, errors);
  });
}

/// The libraries of the command line; an option that is at fault is left out.
static std::vector<std::string> readLibraries(const CompileOptions &options, std::vector<std::string> *errors = nullptr) {
  std::vector<std::string> entries;
  for (const std::string &text : options.libraries) {
    std::string fault;
    llvm::append_range(entries, kernel::parseLibrary(text, fault));
    if (!fault.empty() && errors)
      errors->push_back("--library=" + text + ": " + fault);
  }
  return entries;
}

/// Adds the libraries of the command line to those that the targets list.
static bool addLibraries(const CompileOptions &options, std::vector<kernel::TargetAttr> &targets, std::vector<std::string> &errors) {
  std::vector<std::string> entries = readLibraries(options, &errors);
  for (kernel::TargetAttr &target : targets)
    target = target.withLibraries(entries);
  return errors.empty();
}

/// Gives the first module its target; IR that carries one keeps it: a test writes its own.
static bool setTarget(const CompileOptions &options, ArrayRef<kernel::TargetAttr> targets, Compilation &result, std::vector<std::string> &errors) {
  ModuleOp module = *result.targets.front().module;
  bool carries = module->hasAttr(kernel::targetAttrName);
  if (carries && targets.size() > 1) {
    errors.push_back("the IR is already for the target '" + kernel::getTarget(module).getName().str() + "': name a single target");
    return false;
  }
  if (!carries)
    for (TargetModule &version : result.targets)
      (*version.module)->setAttr(kernel::targetAttrName, targets.front());
  else if (!options.libraries.empty())
    module->setAttr(kernel::targetAttrName, kernel::getTarget(module).withLibraries(readLibraries(options)));
  for (TargetModule &version : result.targets)
    version.name = kernel::getTarget(module).getName().str();
  result.target = result.targets.front().name;
  for (kernel::TargetAttr target : targets.drop_front())
    result.target += "," + target.getName().str();
  return true;
}

/// One module for each target and version, from those of the first target. The weights are the context's and are not copied.
static void splitByTarget(ArrayRef<kernel::TargetAttr> targets, Compilation &result) {
  size_t versions = result.targets.size();
  for (kernel::TargetAttr target : targets.drop_front())
    for (size_t i = 0; i < versions; ++i) {
      auto module = cast<ModuleOp>((*result.targets[i].module)->clone());
      module->setAttr(kernel::targetAttrName, target);
      result.targets.push_back({target.getName().str(), module, result.targets[i].sizes});
    }
}

/// Adds the versions for special sizes and brings them to where the module is, through the stages behind it: with its sizes a version has more
/// constants.
static CompileStatus addVersions(const CompileOptions &options, ArrayRef<SpecialSizes> versions, ArrayRef<kernel::TargetAttr> targets, unsigned done,
                                 Compilation &result, std::vector<std::string> &errors) {
  ModuleOp module = *result.targets.front().module;
  for (const SpecialSizes &sizes : versions) {
    OwningOpRef<ModuleOp> version = makeVersion(module, sizes, errors);
    if (!version)
      return CompileStatus::AtFault;
    for (const Stage &stage : getStages().take_front(done))
      if (CompileStatus status = runStage(stage, *version, targets, options, result.reproducer, errors); status != CompileStatus::Done)
        return status;
    result.targets.push_back({result.targets.front().name, std::move(version), describeSizes(module, sizes)});
  }
  return CompileStatus::Done;
}

/// Options that work on what IR with chosen kernels has behind it.
static bool checkStagesDone(const CompileOptions &options, unsigned done, std::vector<std::string> &errors) {
  const char *option = !options.profile.empty()      ? "--profile: "
                       : !options.libraries.empty()  ? "--library: "
                       : !options.specialize.empty() ? "--specialize: "
                                                     : nullptr;
  if (done > 1 && option)
    errors.push_back(option + options.model + " has its kernels chosen already");
  return errors.empty();
}

/// Gives each target's module the measured choices for it, those of the file `entries` and those that the caller gives.
static bool attachProfiles(const CompileOptions &options, Compilation &result, std::vector<ProfileEntry> &entries, std::vector<std::string> &errors) {
  if (!options.profile.empty()) {
    result.dependencies.push_back(options.profile);
    llvm::Expected<std::vector<ProfileEntry>> read = readProfile(options.profile);
    if (!read) {
      errors.push_back("--profile: " + toString(read.takeError()));
      return false;
    }
    entries = std::move(*read);
  }
  std::vector<ProfileEntry> all = entries;
  all.insert(all.end(), options.choices.begin(), options.choices.end());
  for (TargetModule &target : result.targets)
    attachProfile(*target.module, all);
  return true;
}

/// Says how much of the profile's file was of use, unless all of it was.
static void judgeProfile(const CompileOptions &options, ArrayRef<ProfileEntry> entries, Compilation &result) {
  SmallVector<ModuleOp> modules;
  for (TargetModule &target : result.targets)
    modules.push_back(*target.module);
  ProfileUse use = takeProfileUse(modules, entries);
  if (use.used == use.entries || options.plain)
    return;
  (use.used ? result.notes : result.warnings).push_back("--profile: " + options.profile + ": " + use.describe());
}

CompileStatus makeKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                          llvm::function_ref<void(const std::string &)> begin) {
  // Passes work on whole modules, one after the other. LLVM's pool of threads runs waiting tasks inside of each other, so that verifying many
  // composites side by side would take a stack as deep as they are many.
  result.context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  loadDialects(*result.context);
  std::string error;
  std::vector<kernel::TargetAttr> targets = makeTargets(result.context.get(), options.targets, error);
  if (targets.empty()) {
    errors.push_back(error);
    return CompileStatus::AtFault;
  }
  if (!addLibraries(options, targets, errors))
    return CompileStatus::AtFault;
  begin("import");
  if (!readModel(options, result, errors) || !checkKernels(options, result, errors) || !setTarget(options, targets, result, errors) ||
      !checkConstants(options, result, errors))
    return CompileStatus::AtFault;
  unsigned done = isIRFile(options.model) ? stagesDone(*result.targets.front().module) : 0;
  std::vector<SpecialSizes> versions;
  std::vector<ProfileEntry> profile;
  if (!checkStagesDone(options, done, errors) || !listVersions(options, *result.targets.front().module, versions, errors))
    return CompileStatus::AtFault;
  bool splits = targets.size() > 1 || !versions.empty();
  std::string stage = "import";
  for (const Stage &next : getStages().drop_front(done)) {
    if (options.stopAfter == stage)
      return CompileStatus::Done;
    if (next.forTarget && std::exchange(splits, false)) {
      if (CompileStatus status = addVersions(options, versions, targets, &next - getStages().data(), result, errors); status != CompileStatus::Done)
        return status;
      splitByTarget(targets, result);
    }
    if (next.name == "target" && !attachProfiles(options, result, profile, errors))
      return CompileStatus::AtFault;
    begin(next.name.str());
    for (TargetModule &target : result.targets)
      if (CompileStatus status = runStage(next, *target.module, targets, options, result.reproducer, errors); status != CompileStatus::Done)
        return status;
    if (next.name == "target")
      judgeProfile(options, profile, result);
    stage = next.name.str();
  }
  if (splits)
    splitByTarget(targets, result);
  // The plainest form is what a compile is compared with, and observed values may need buffers of their own.
  for (const TargetModule &target : result.targets)
    if (!options.plain && !options.observation.any() && !checkInPlace(*target.module, errors))
      return CompileStatus::AtFault;
  return CompileStatus::Done;
}

} // namespace kiln
