//===- IRPhases.cpp - The part of a compile that works on IR ---------------===//
#include "compiler/pipeline/IRPhases.h"
#include "compiler/CrashFolder.h"
#include "compiler/Profile.h"
#include "compiler/pipeline/Ranks.h"
#include "compiler/pipeline/ReadModel.h"
#include "compiler/pipeline/RunPass.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/pipeline/Versions.h"
#include "compiler/target/Targets.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "dialects/nn/Rounding.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"
#include "passes/graph/NearMisses.h"
#include "passes/graph/SpecializeSizes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;

namespace kiln {

/// Passes work on whole modules, one after the other. LLVM's pool of threads runs waiting tasks inside of each other, so that verifying many composites side by
/// side would take a stack as deep as they are many.
static std::shared_ptr<MLIRContext> makeContext() {
  auto context = std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<nn::NNDialect, kernel::KernelDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
  return context;
}

namespace {
struct CrashingInstrumentation : PassInstrumentation {
  void runBeforePass(Pass *, Operation *) override { std::abort(); }
};
} // namespace

static CompileStatus runStage(const Stage &stage, ModuleOp module, ArrayRef<kernel::TargetAttr> targets, const CompileOptions &options,
                              std::string &reproducer, std::vector<std::string> &errors) {
  PassManager passes(module.getContext());
  // Behind the last pass, since between all of them it takes a twentieth of a compile.
  passes.enableVerifier(false);
  PipelineOptions pipeline;
  pipeline.decompose = options.decompose;
  pipeline.keepComposites = options.strict;
  pipeline.plain = options.plain;
  pipeline.smallest = options.smallestMemory;
  pipeline.mostWorkspace = options.plain ? -1 : options.mostWorkspace;
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
  if (!options.compute.empty() && options.compute != "f32")
    pipeline.factors.push_back(options.compute);
  llvm::append_range(pipeline.factors, options.opCompute);
  if (options.weightsType != "f32")
    pipeline.weightsType = options.weightsType;
  stage.build(passes, pipeline);
  if (options.keepReproducer)
    keepReproducer(passes, reproducer);
  if (options.crashIn == stage.name)
    passes.addInstrumentation(std::make_unique<CrashingInstrumentation>());
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  if (succeeded(passes.run(module)) && succeeded(verify(module)))
    return CompileStatus::Done;
  if (errors.empty() || diagnostics.sawBug())
    return CompileStatus::Bug;
  // A model that is at fault needs no reproducer.
  dropCrashFile(reproducer);
  return CompileStatus::AtFault;
}

/// Adds the versions for special sizes and runs the stages on them that the module has passed, because a version has more constants.
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

/// Refuses options whose stages have already run on the IR.
static bool checkStagesDone(const CompileOptions &options, unsigned done, std::vector<std::string> &errors) {
  const char *option = !options.profile.empty()      ? "--profile: "
                       : !options.libraries.empty()  ? "--library: "
                       : !options.specialize.empty() ? "--specialize: "
                                                     : nullptr;
  if (!option && (!options.compute.empty() || !options.opCompute.empty()))
    option = options.compute.empty() ? "--op-compute: " : "--compute: ";
  if (!options.weightsType.empty() && done > 0 && !options.plain && !options.graph) {
    errors.push_back("--weights-type: " + options.model + " has its weights in their form already");
    return false;
  }
  if (options.smallestMemory && !option)
    option = "--memory: ";
  if (done > 1 && option)
    errors.push_back(option + options.model + " has its kernels chosen already");
  return errors.empty();
}

/// Reads the profile into `entries`, and gives each module the measured choices for its target: those of the profile, and those of the caller.
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

/// Reports how much of the profile was used.
static void judgeProfile(const CompileOptions &options, ArrayRef<ProfileEntry> entries, Compilation &result) {
  SmallVector<ModuleOp> modules;
  for (TargetModule &target : result.targets)
    modules.push_back(*target.module);
  ProfileUse use = takeProfileUse(modules, entries);
  // Compiles that only look at what a model becomes follow one that has said it.
  bool isWhole = options.stopAfter != "target" && !options.observation.any();
  if (options.profile.empty() || options.plain || (use.used == use.entries && !isWhole))
    return;
  (use.used || use.entries == 0 ? result.notes : result.warnings).push_back("--profile: " + options.profile + ": " + use.describe());
}

/// Warns of what was asked to be rounded, and nowhere could be.
static void reportRounding(const CompileOptions &options, Compilation &result) {
  if (options.plain)
    return;
  bool several = result.targets.size() > 1;
  for (const TargetModule &target : result.targets)
    for (const std::string &line : nn::listRounding(*target.module))
      if (std::string warning = (several ? target.label() + ": " : "") + line;
          StringRef(line).starts_with("no ") && !llvm::is_contained(result.warnings, warning))
        result.warnings.push_back(warning);
}

/// The plainest form is only the reference of a comparison, observed values may need buffers of their own, and whole inputs of ranks are not what is updated.
static bool checkInPlace(const CompileOptions &options, ModuleOp module, std::vector<std::string> &errors) {
  bool isAsked = module->hasAttr(nn::askedInPlaceAttrName) && !options.plain && !options.observation.any() && !options.wholeSignature;
  return !isAsked || runPass(module, createVerifyInPlace(), errors);
}

CompileStatus lowerToKernels(const CompileOptions &options, ModuleOp module, std::string &reproducer, std::vector<std::string> &errors) {
  CompileStatus status = runStage(getStages().back(), module, kernel::getTarget(module), options, reproducer, errors);
  if (status == CompileStatus::Done && !checkInPlace(options, module, errors))
    return CompileStatus::AtFault;
  return status;
}

CompileStatus makeKernels(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors,
                          llvm::function_ref<void(const std::string &)> begin) {
  if (!result.context)
    result.context = options.graph ? options.graph->context : makeContext();
  std::string error;
  std::vector<kernel::TargetAttr> targets = makeTargets(result.context.get(), options.targets, error);
  if (targets.empty()) {
    errors.push_back(error);
    return CompileStatus::AtFault;
  }
  if (!addLibraries(options, targets, errors))
    return CompileStatus::AtFault;
  begin("import");
  if (!readModel(options, result, errors) || !checkKernels(options, result, errors))
    return CompileStatus::AtFault;
  addLevelWithoutTiles(options, *result.targets.front().module, targets);
  if (!setTarget(options, targets, result, errors) || !checkConstants(options, result, errors))
    return CompileStatus::AtFault;
  unsigned done = countStagesDone(options, *result.targets.front().module);
  std::vector<SpecialSizes> versions;
  std::vector<ProfileEntry> profile;
  if (!checkStagesDone(options, done, errors) || !listVersions(options, *result.targets.front().module, versions, errors))
    return CompileStatus::AtFault;
  bool splits = targets.size() > 1 || !versions.empty() || !options.ranks.empty();
  std::string stage = options.graph ? options.graphStage : "import";
  auto show = [&] {
    if (options.afterStage)
      options.afterStage(stage, result);
  };
  show();
  for (const Stage &next : getStages().drop_front(done)) {
    if (options.stopAfter == stage)
      return CompileStatus::Done;
    if (next.forTarget && std::exchange(splits, false)) {
      if (CompileStatus status = addVersions(options, versions, targets, &next - getStages().data(), result, errors); status != CompileStatus::Done)
        return status;
      if (!options.ranks.empty() && !splitByRank(options, result, errors))
        return CompileStatus::AtFault;
      splitByTarget(targets, result);
    }
    if (next.name == "target" && !attachProfiles(options, result, profile, errors))
      return CompileStatus::AtFault;
    begin(next.name.str());
    for (TargetModule &target : result.targets)
      if (CompileStatus status = runStage(next, *target.module, targets, options, result.reproducer, errors); status != CompileStatus::Done)
        return status;
    if (next.name == "target") {
      noteTiles(result);
      judgeProfile(options, profile, result);
      reportRounding(options, result);
    }
    stage = next.name.str();
    if (stage == "graph" && !options.explainNode.empty())
      result.nearMiss = describeNearMiss(*result.targets.front().module, options.explainNode);
    show();
  }
  if (splits)
    splitByTarget(targets, result);
  for (const TargetModule &target : result.targets)
    if (!checkInPlace(options, *target.module, errors))
      return CompileStatus::AtFault;
  return CompileStatus::Done;
}

} // namespace kiln
