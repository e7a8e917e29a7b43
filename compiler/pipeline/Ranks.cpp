//===- Ranks.cpp - The modules of a sharded model --------------------------===//
#include "compiler/pipeline/Ranks.h"
#include "compiler/pipeline/DiagnosticCollector.h"
#include "compiler/pipeline/RunPass.h"
#include "compiler/pipeline/SharedCode.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "passes/Passes.h"
#include "passes/ranks/Layouts.h"
#include "passes/ranks/MergeExchanges.h"
#include "passes/ranks/Signature.h"
#include "passes/ranks/SliceConstant.h"
#include "passes/ranks/WholeWork.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

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

/// Runs the passes that `add` adds.
static bool runPasses(ModuleOp module, std::vector<std::string> &errors, llvm::function_ref<void(PassManager &)> add) {
  PassManager passes(module.getContext());
  add(passes);
  DiagnosticCollector diagnostics(*module.getContext(), errors);
  return succeeded(passes.run(module));
}

static OwningOpRef<ModuleOp> cutForRank(const CompileOptions &options, ModuleOp module, int64_t rank, std::vector<std::string> &errors) {
  OwningOpRef<ModuleOp> part = cast<ModuleOp>(module->clone());
  PartitionRanksOptions cut;
  cut.rank = rank;
  bool isCut = runPasses(*part, errors, [&](PassManager &passes) { passes.addPass(createPartitionRanks(cut)); });
  if (!isCut)
    return {};
  if (options.wholeSignature)
    restoreSignature(*part, module, rank);
  return part;
}

/// The first and the last rank along each axis: each dependence between collectives is one of theirs, since a rank between them needs both neighbours.
static std::vector<int64_t> listCorners(const Grid &grid) {
  std::vector<int64_t> corners;
  for (int64_t rank = 0; rank < grid.countRanks(); ++rank)
    if (llvm::all_of(llvm::seq<unsigned>(0, grid.shape.size()),
                     [&](unsigned axis) { return grid.coordinate(rank, axis) == 0 || grid.coordinate(rank, axis) == grid.shape[axis] - 1; }))
      corners.push_back(rank);
  return corners;
}

/// Decides which exchanges become one, for all ranks, and says so in the module's description.
static bool chooseMerges(const CompileOptions &options, ModuleOp module, const Grid &grid, ExchangeMerges &merges, std::vector<std::string> &errors) {
  std::vector<OwningOpRef<ModuleOp>> corners;
  for (int64_t rank : listCorners(grid)) {
    corners.push_back(cutForRank(options, module, rank, errors));
    if (!corners.back())
      return false;
  }
  merges = kiln::chooseMerges(llvm::map_to_vector(corners, [](auto &corner) { return *corner; }), RankMachine::of(kernel::getTarget(module)));
  NamedAttrList sharding(module->getAttrOfType<DictionaryAttr>(nn::shardingAttrName));
  sharding.set("exchanges", merges.description);
  module->setAttr(nn::shardingAttrName, sharding.getDictionary(module.getContext()));
  return true;
}

static bool simplify(ModuleOp part, const CompileOptions &options, std::vector<std::string> &errors) {
  return runPasses(part, errors, [&](PassManager &passes) {
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (!options.plain)
      passes.addPass(createSimplifyDataMovement());
    passes.addPass(createVerifyGraph());
  });
}

bool dependsOnParts(const Compilation &result) {
  bool isShared = false;
  for (const Compilation *model : result.models())
    isShared |= llvm::any_of(model->targets, [](const TargetModule &target) { return !target.sharedBy.empty(); });
  return isShared && llvm::any_of(result.rankParts, [](auto &part) { return part->wasRead(); });
}

/// The constant of another rank in the place of this one.
static ElementsAttr findTwin(ElementsAttr value, const Grid &grid, int64_t rank) {
  std::shared_ptr<nn::ConstantPart> part = nn::findPart(value);
  if (!part)
    return value;
  ElementsAttr twin = sliceConstant(part->getSource(), Cut(part->getCut()), grid, rank);
  return DenseResourceElementsAttr::get(cast<ShapedType>(value.getType()), cast<DenseResourceElementsAttr>(twin).getRawHandle());
}

static OwningOpRef<ModuleOp> makeWeights(ModuleOp module, const Grid &grid, int64_t rank) {
  OwningOpRef<ModuleOp> result = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(result->getBody());
  for (auto weight : module.getOps<kernel::WeightOp>()) {
    auto twin = cast<kernel::WeightOp>(builder.clone(*weight));
    twin.setValueAttr(findTwin(weight.getValue(), grid, rank));
  }
  return result;
}

void addSharedWeights(const CompileOptions &options, Compilation &result) {
  std::optional<Grid> grid = parseGrid(options.ranks);
  for (TargetModule &target : result.targets)
    for (int64_t rank : target.sharedBy)
      target.sharedWeights.push_back(makeWeights(*target.module, *grid, rank));
  for (const std::unique_ptr<Compilation> &graph : result.graphs)
    addSharedWeights(options, *graph);
}

/// The module whose code the rank can run; null if there is none.
static TargetModule *findShared(const CompileOptions &options, ModuleOp part, Compilation &result) {
  if (!options.separateRanks)
    for (TargetModule &target : result.targets)
      if (haveSameCode(*target.module, part))
        return &target;
  return nullptr;
}

static std::vector<bool> listCutInputs(ModuleOp whole, ModuleOp part) {
  std::vector<bool> areCut;
  auto types = [](ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main").getArgumentTypes(); };
  for (auto [type, own] : llvm::zip_equal(types(whole), types(part)))
    areCut.push_back(type != own);
  return areCut;
}

/// Says in the metadata which inputs and outputs are parts, for programs and for `kiln run`: `kiln.shard.NAME`, with the dimension for each axis of the grid.
static void noteCuts(ModuleOp module) {
  std::optional<Grid> grid = getGrid(module);
  auto function = module.lookupSymbol<func::FuncOp>("main");
  nn::removeMetadata(module, "kiln.shard.");
  std::vector<std::pair<std::string, std::string>> metadata = nn::getMetadata(module);
  auto note = [&](StringAttr name, const Cut &cut) {
    if (name && llvm::any_of(cut, [](int dim) { return dim != whole; }))
      metadata.emplace_back("kiln.shard." + name.str(),
                            llvm::join(llvm::map_range(cut, [](int dim) { return dim == whole ? "-" : std::to_string(dim); }), ","));
  };
  SignatureCuts cuts = listSignatureCuts(function, *grid);
  for (auto [i, cut] : llvm::enumerate(cuts.arguments))
    note(function.getArgAttrOfType<StringAttr>(i, nn::nameAttrName), cut);
  for (auto [i, cut] : llvm::enumerate(cuts.results))
    note(function.getResultAttrOfType<StringAttr>(i, nn::nameAttrName), cut);
  if (!metadata.empty())
    nn::setMetadata(module, metadata);
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
  if (!options.wholeSignature)
    noteCuts(*general.module);
  if (options.onWholeWork)
    options.onWholeWork(findWholeWork(general.module->lookupSymbol<func::FuncOp>("main")));
  ExchangeMerges merges;
  // As for exchange beside work: fewer messages keep more values at one time, and the order that the user has seen.
  bool merging = !options.plain && !options.smallestMemory && options.inPlace.empty();
  if (merging && !chooseMerges(options, *general.module, *parseGrid(options.ranks), merges, errors))
    return false;
  for (int64_t rank = 0; rank < countRanks(options); ++rank) {
    if (options.onlyRank >= 0 && rank != options.onlyRank)
      continue;
    OwningOpRef<ModuleOp> part = cutForRank(options, *general.module, rank, errors);
    if (!part)
      return false;
    mergeExchanges(*part, merges);
    if (result.targets.empty())
      result.cutInputs = listCutInputs(*general.module, *part);
    if (TargetModule *shared = findShared(options, *part, result)) {
      shared->sharedBy.push_back(rank);
      continue;
    }
    part->walk([&](nn::ConstantOp constant) {
      if (std::shared_ptr<nn::ConstantPart> known = nn::findPart(constant.getValue()))
        result.rankParts.push_back(std::move(known));
    });
    result.targets.push_back({general.name, std::move(part), "", rank});
  }
  for (TargetModule &target : result.targets)
    if (!simplify(*target.module, options, errors))
      return false;
  return true;
}

} // namespace kiln
