//===- StepCosts.cpp - What the steps of a model cost ----------------------===//
#include "compiler/cut/StepCosts.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/kernel/Work.h"
#include "dialects/nn/Dims.h"

using namespace mlir;

namespace kiln::cut {

/// The target's `parallel_work` and `parallel_bytes` are what one core does in this time.
static constexpr double tunedMicroseconds = 5;

/// The time of a launch that does nothing.
static constexpr double launchMicroseconds = 0.1;

static constexpr StringLiteral tagPrefix = "step ";

static double estimateTime(kernel::TargetAttr target, double flops, double bytes) {
  double work = std::max<double>(1, double(target.tuned(kernel::Tuned::ParallelWork)) * target.getVectorBits());
  double moved = std::max<double>(1, double(target.tuned(kernel::Tuned::ParallelBytes)));
  return tunedMicroseconds * std::max(flops / work, bytes / moved);
}

double estimateMoving(ModuleOp module, int64_t bytes) { return estimateTime(kernel::getTarget(module), 0, double(bytes)); }

static double estimateTime(kernel::LaunchOp launch) {
  std::optional<uint64_t> flops = launch.getFlops(), bytes = launch.getBytes();
  double numbers[] = {double(flops.value_or(0)), double(bytes.value_or(0))};
  if (std::optional<AffineMap> work = kernel::getWork(launch); work && !(flops && bytes)) {
    SmallVector<AffineExpr> typical(work->getNumSymbols(), getAffineConstantExpr(typicalSymbol, launch.getContext()));
    for (unsigned i : {0, 1})
      if (auto number = dyn_cast<AffineConstantExpr>(work->getResult(i).replaceSymbols(typical)))
        numbers[i] = double(std::max<int64_t>(number.getValue(), 0));
  }
  return launchMicroseconds + estimateTime(kernel::getTarget(launch), numbers[0], numbers[1]);
}

bool measureSteps(ModuleOp module, StepGraph &graph, LowerModule lower) {
  // The steps of the copy are found by their locations, which launches have from their groups.
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
  for (auto [i, step] : llvm::enumerate(graph.steps)) {
    Location tag = NameLoc::get(StringAttr::get(module.getContext(), tagPrefix + std::to_string(i)));
    mapping.lookup(step.op)->walk([&](Operation *op) { op->setLoc(tag); });
  }
  if (!lower(*copy))
    return false;
  copy->walk([&](kernel::LaunchOp launch) {
    auto tag = dyn_cast<NameLoc>(launch.getLoc());
    unsigned step;
    StringRef text = tag ? tag.getName().getValue() : "";
    if (text.consume_front(tagPrefix) && !text.getAsInteger(10, step) && step < graph.steps.size())
      graph.steps[step].time += estimateTime(launch);
  });
  return true;
}

} // namespace kiln::cut
