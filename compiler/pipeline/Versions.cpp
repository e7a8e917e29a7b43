//===- Versions.cpp - The modules of a library: targets and sizes ----------===//
#include "compiler/pipeline/Versions.h"
#include "compiler/pipeline/RunPass.h"
#include "compiler/target/System.h"
#include "dialects/kernel/Libraries.h"
#include "dialects/kernel/ModuleAttributeNames.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SymbolBounds.h"
#include "passes/Passes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

//===- Sizes ---------------------------------------------------------------===//

/// Compiling a version takes as long as compiling the model.
static constexpr size_t maxVersions = 16;

static std::string explainUnknown(const CompileOptions &options, const std::string &name, ArrayRef<std::string> given) {
  std::string text = "--specialize: the model has no dynamic dimension '" + name + "', it has ";
  if (auto fixed = options.dims.find(name); fixed != options.dims.end())
    return "--specialize: '" + name + "' is static, --dim makes it " + std::to_string(fixed->second);
  return text + (given.empty() ? "none" : "'" + llvm::join(given, "', '") + "'");
}

bool listVersions(const CompileOptions &options, ModuleOp module, std::vector<SpecialSizes> &versions, std::vector<std::string> &errors) {
  std::vector<std::string> symbols = nn::listSymbols(module), given = symbols;
  // Programs do not pass the symbols that the model computes.
  given.resize(nn::ComputedDims(module).given());
  size_t count = 1;
  for (auto &[name, sizes] : options.specialize) {
    if (!llvm::is_contained(given, name)) {
      errors.push_back(explainUnknown(options, name, given));
      return false;
    }
    auto bound = options.dimBounds.find(name);
    auto [low, high] = bound == options.dimBounds.end() ? std::make_pair(defaultSymbolMin, defaultSymbolMax) : bound->second;
    for (int64_t size : sizes)
      if (size < low || size > high) {
        errors.push_back("--specialize: " + name + "=" + std::to_string(size) + " is outside " + std::to_string(low) + " to " + std::to_string(high));
        return false;
      }
    count *= sizes.size();
    if (count > maxVersions) {
      errors.push_back("--specialize: more than " + std::to_string(maxVersions) + " combinations of sizes");
      return false;
    }
  }
  if (options.specialize.empty())
    return true;
  versions = {SpecialSizes(symbols.size(), -1)};
  for (auto &[name, sizes] : options.specialize) {
    size_t position = llvm::find(symbols, name) - symbols.begin();
    for (const SpecialSizes &version : std::exchange(versions, {}))
      for (int64_t size : sizes) {
        versions.push_back(version);
        versions.back()[position] = size;
      }
  }
  return true;
}

OwningOpRef<ModuleOp> makeVersion(ModuleOp module, const SpecialSizes &sizes, std::vector<std::string> &errors) {
  OwningOpRef<ModuleOp> version = cast<ModuleOp>(module->clone());
  SpecializeSizesOptions options;
  options.sizes.assign(sizes.begin(), sizes.end());
  return runPass(*version, createSpecializeSizes(options), errors) ? std::move(version) : OwningOpRef<ModuleOp>();
}

//===- Targets -------------------------------------------------------------===//

/// The libraries of the command line. Malformed options are left out and reported to `errors`.
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

bool addLibraries(const CompileOptions &options, std::vector<kernel::TargetAttr> &targets, std::vector<std::string> &errors) {
  std::vector<std::string> entries = readLibraries(options, &errors);
  for (kernel::TargetAttr &target : targets)
    target = target.withLibraries(entries);
  return errors.empty();
}

/// Ends the name of a level without tiles.
static constexpr StringLiteral withoutTiles = "-without-tiles";

void addLevelWithoutTiles(const CompileOptions &options, ModuleOp module, std::vector<kernel::TargetAttr> &targets) {
  // Stages and ranks have one target.
  bool isCut = options.stages.count || !options.ranks.empty();
  if (!options.levelWithoutTiles || targets.size() != 1 || isCut || module->hasAttr(kernel::targetAttrName))
    return;
  kernel::TargetAttr whole = targets.front(), level = dropTiles(whole, (whole.getName() + withoutTiles).str());
  if (level != whole)
    targets.push_back(level);
}

/// Whether one of the kernels that the target stage has chosen multiplies by tiles.
static bool usesTiles(ModuleOp module) {
  kernel::TargetAttr target = kernel::getTarget(module);
  auto isOnTiles = [&](kernel::PlanAttr plan) {
    return plan && llvm::any_of(target.getSteps(), [&](kernel::StepAttr step) { return step.getRows() > 1 && step.getFunction() == plan.getStep(); });
  };
  return module.walk([&](nn::GroupOp group) { return isOnTiles(group.getPlanAttr()) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

void noteTiles(Compilation &result) {
  for (TargetModule &target : result.targets)
    target.usesTiles = usesTiles(*target.module);
}

void dropUnusedLevel(const CompileOptions &options, Compilation &result) {
  std::vector<Compilation *> models = {&result};
  for (const std::unique_ptr<Compilation> &graph : result.graphs)
    models.push_back(graph.get());
  auto usesTiles = [](const Compilation *model) { return llvm::any_of(model->targets, [](const TargetModule &target) { return target.usesTiles; }); };
  if (!options.levelWithoutTiles || llvm::any_of(models, usesTiles))
    return;
  auto isSpare = [](const TargetModule &target) { return StringRef(target.name).ends_with(withoutTiles); };
  for (Compilation *model : models) {
    if (llvm::none_of(model->targets, isSpare))
      continue;
    llvm::erase_if(model->targets, isSpare);
    for (TargetModule &target : model->targets)
      (*target.module)->setAttr(kernel::targetAttrName, dropTiles(kernel::getTarget(*target.module), target.name));
    model->target = model->targets.front().name;
  }
}

bool setTarget(const CompileOptions &options, ArrayRef<kernel::TargetAttr> targets, Compilation &result, std::vector<std::string> &errors) {
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

void splitByTarget(ArrayRef<kernel::TargetAttr> targets, Compilation &result) {
  size_t versions = result.targets.size();
  for (kernel::TargetAttr target : targets.drop_front())
    for (size_t i = 0; i < versions; ++i) {
      auto module = cast<ModuleOp>((*result.targets[i].module)->clone());
      module->setAttr(kernel::targetAttrName, target);
      result.targets.push_back({target.getName().str(), module, result.targets[i].sizes, result.targets[i].rank, result.targets[i].sharedBy});
    }
}

} // namespace kiln
