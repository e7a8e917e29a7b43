//===- Stages.cpp - The stages of a compile, in one table ------------------===//
#include "compiler/pipeline/Stages.h"
#include "passes/Passes.h"
#include "passes/graph/PatternReasons.h"
#include "passes/kernel/Passes.h"
#include "passes/ranks/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

static void buildGraph(OpPassManager &passes, const PipelineOptions &options) {
  InlineCompositesOptions calls;
  calls.keep.assign(options.composites.begin(), options.composites.end());
  calls.decompose.assign(options.decompose.begin(), options.decompose.end());
  calls.all = options.plain;
  passes.addPass(createInlineComposites(calls));
  passes.addPass(createCanonicalizer());
  passes.addPass(createCSEPass());
  // Stored weights and rounded factors are those of the graph that the kernels have, so their plainest form has it, too.
  if (options.plain && options.weightsType.empty() && options.factors.empty()) {
    passes.addPass(createFoldShapes());
    passes.addPass(createVerifyGraph());
    return;
  }
  passes.addPass(createFoldShapes());
  passes.addPass(createFoldConstants({options.foldBytes}));
  passes.addPass(createSimplifyDataMovement());
  // Broadcasts now follow the operations that were computed from them.
  passes.addPass(createFoldConstants({options.foldBytes}));
  bool splitsAll = llvm::is_contained(options.decompose, "all");
  passes.addPass(createRecognizeQuantized({/*products=*/!options.strict && !splitsAll, options.foldBytes}));
  if (!options.strict && !splitsAll)
    passes.addPass(createTabulateBytes());
  if (!options.strict)
    passes.addPass(createFoldScales());
  passes.addPass(createCSEPass());
  passes.addPass(createRecognizeComposites());
  passes.addPass(createCanonicalizer());
  passes.addPass(createCSEPass());
  if (!options.weightsType.empty())
    passes.addPass(createStoreWeights({options.weightsType, /*widen=*/options.plain}));
  passes.addPass(createVerifyGraph());
}

static void buildTarget(OpPassManager &passes, const PipelineOptions &options) {
  if (!options.accuracy.empty()) {
    ChooseAccuracyOptions choice;
    choice.accuracy.assign(options.accuracy.begin(), options.accuracy.end());
    passes.addPass(createChooseAccuracy(choice));
  }
  if (!options.plain)
    passes.addPass(createProveShortcuts());
  DecomposeCompositesOptions form;
  form.decompose.assign(options.decompose.begin(), options.decompose.end());
  if (options.plain)
    form.decompose = {"all"};
  form.strict = options.keepComposites;
  passes.addPass(createDecomposeComposites(form));
  if (options.plain && !options.factors.empty()) {
    EmulateFactorsOptions factors;
    factors.types.assign(options.factors.begin(), options.factors.end());
    passes.addPass(createEmulateFactors(factors));
  }
  if (!options.plain) {
    passes.addPass(createWidenRecurrences());
    passes.addPass(createFoldConstants({options.foldBytes}));
    passes.addPass(createPropagateLayout());
    passes.addPass(createFoldConstants({options.foldBytes}));
    passes.addPass(createCSEPass());
    if (!options.factors.empty()) {
      RoundFactorsOptions factors;
      factors.types.assign(options.factors.begin(), options.factors.end());
      factors.strict = options.strict;
      passes.addPass(createRoundFactors(factors));
    }
    passes.addPass(createWidenOperands());
    passes.addPass(createMaterializePadding());
    // Its transformed tiles and filters take memory.
    if (!options.strict && !options.smallest)
      passes.addPass(createChooseWinograd());
    // So do filters in another order.
    if (!options.smallest)
      passes.addPass(createOrderFilters());
  }
  passes.addPass(createSplitConcats());
  passes.addPass(createFormGroups({/*fuse=*/!options.plain, options.explain || !options.explainNode.empty()}));
  passes.addPass(createChooseKernels({/*plainest=*/options.plain, /*strict=*/options.keepComposites, options.explain, options.explainNode}));
  if (!options.plain)
    passes.addPass(createPlaceResults());
  passes.addPass(createVerifyTarget());
}

static void buildKernel(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createLowerGroups());
  passes.addPass(createCanonicalizer());
  passes.addPass(createRoundProducts());
  passes.addPass(createSimplifyQuantized());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  passes.addPass(createDropUnusedArguments());
  if (options.smallest)
    passes.addPass(createOrderLaunches());
  else if (!options.plain)
    passes.addPass(createOverlapExchanges());
  // Behind what splits exchanges: the halves of different ones may be equal.
  passes.addPass(createDeduplicateKernels());
  passes.addPass(createPlanMemory({options.mostWorkspace}));
  passes.addPass(createSplitEntry());
  passes.addPass(createVerifyKernel());
}

static constexpr Stage stages[] = {
    {"graph", buildGraph, "canonical nn operations; constants folded; composites not split", false},
    {"target", buildTarget, "only constants, reshapes and groups; every group has its plan and the reason", true},
    {"kernel", buildKernel, "one function per kernel, on flat buffers; a place for every buffer; an entry that launches the kernels", true},
};

ArrayRef<Stage> getStages() { return stages; }

void registerStagePipelines() {
  registerKilnPasses();
  registerKilnKernelPasses();
  registerKilnRankPasses();
  for (const Stage &stage : getStages())
    PassPipelineRegistration<>("kiln-" + stage.name.str(), stage.promise, [&stage](OpPassManager &passes) { stage.build(passes, {}); });
}

} // namespace kiln
