//===- Ranks.cpp - The modules of a sharded model --------------------------===//
#include "compiler/pipeline/Ranks.h"
#include "compiler/pipeline/DiagnosticCollector.h"
#include "compiler/pipeline/RunPass.h"
#include "passes/Passes.h"
#include "passes/ranks/Layouts.h"
#include "passes/ranks/WholeWork.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

int64_t countRanks(const CompileOptions &options) {
  std::optional<Grid> grid = parseGrid(options.ranks);
  return grid ? grid->countRanks() : 0;
}

/// Why a library with these options has no ranks; empty if it can.
static std::string findObstacle(const CompileOptions &options) {
  if (!options.specialize.empty())
    return "--ranks: versions for special sizes (--specialize) cannot be sharded";
  if (options.webModules)
    return "--ranks: a module for JavaScript cannot be sharded";
  if (options.singleSource)
    return "--ranks: a sharded model has a file of weights for each rank, so it cannot be a single source file";
  return "";
}

static OwningOpRef<ModuleOp> makeRank(ModuleOp module, int64_t rank, const CompileOptions &options, std::vector<std::string> &errors) {
  OwningOpRef<ModuleOp> part = cast<ModuleOp>(module->clone());
  PassManager passes(module.getContext());
  PartitionRanksOptions cut;
  cut.rank = rank;
  passes.addPass(createPartitionRanks(cut));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (!options.plain)
    passes.addPass(createSimplifyDataMovement());
  passes.addPass(createVerifyGraph());
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  return succeeded(passes.run(*part)) ? std::move(part) : OwningOpRef<ModuleOp>();
}

bool splitByRank(const CompileOptions &options, Compilation &result, std::vector<std::string> &errors) {
  if (std::string obstacle = findObstacle(options); !obstacle.empty()) {
    errors.push_back(obstacle);
    return false;
  }
  // A version for sizes that are equal is only faster than the general model, which is the first.
  TargetModule general = std::move(result.targets.front());
  result.targets.clear();
  ChooseShardingsOptions choice;
  choice.gridText = options.ranks;
  choice.wishList.assign(options.shardings.begin(), options.shardings.end());
  if (!runPass(*general.module, createChooseShardings(choice), errors))
    return false;
  if (options.onWholeWork)
    options.onWholeWork(findWholeWork(general.module->lookupSymbol<func::FuncOp>("main")));
  for (int64_t rank = 0; rank < countRanks(options); ++rank) {
    if (options.onlyRank >= 0 && rank != options.onlyRank)
      continue;
    OwningOpRef<ModuleOp> part = makeRank(*general.module, rank, options, errors);
    if (!part)
      return false;
    result.targets.push_back({general.name, std::move(part), "", rank});
  }
  return true;
}

} // namespace kiln
