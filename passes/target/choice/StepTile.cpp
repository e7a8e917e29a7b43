//===- StepTile.cpp - Products by steps of several rows --------------------===//
#include "passes/target/choice/StepTile.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/CostModel.h"

using namespace mlir;

namespace kiln {

/// Whether it is one of those that kiln/tiles.h is for.
static bool isTileStep(kernel::StepAttr step) {
  constexpr int64_t mostRows = 16, lanes = 16, mostBits = 512;
  return step.getFunction().starts_with("tile_") && step.getRows() > 1 && step.getRows() <= mostRows && step.getLanes() == lanes &&
         step.getDepth() * step.getRhs().getIntOrFloatBitWidth() <= mostBits && step.getSum().getIntOrFloatBitWidth() == 32;
}

kernel::StepAttr findTileStep(kernel::TargetAttr target, Type lhs, Type rhs, Type result) {
  Type sum = nn::computeType(getElementTypeOrSelf(result));
  for (kernel::StepAttr step : target.getSteps())
    if (isTileStep(step) && step.takes(getElementTypeOrSelf(lhs), getElementTypeOrSelf(rhs), sum))
      return step;
  return {};
}

kernel::StepAttr getTileStep(nn::GroupOp group) {
  Operation *anchor = getAnchor(group);
  Type lhs = anchor->getOperand(0).getType(), rhs = anchor->getOperand(1).getType();
  kernel::StepAttr step = findTileStep(kernel::getTarget(group), lhs, rhs, anchor->getResult(0).getType());
  return step && step.getFunction() == group.getPlan()->getStep() ? step : kernel::StepAttr();
}

int64_t countTogether(kernel::StepAttr step) { return step.getSum().getIntOrFloatBitWidth() / step.getRhs().getIntOrFloatBitWidth(); }

int64_t chooseTileDepth(kernel::StepAttr step, int64_t length, int64_t unit) {
  int64_t together = countTogether(step);
  if (length == 0 || unit == 0)
    return 0;
  for (int64_t depth = step.getDepth() / together * together; depth > 0; depth -= together)
    if (length % depth == 0 && (depth <= unit ? unit % depth == 0 : depth % unit == 0 && unit % together == 0))
      return depth;
  return 0;
}

std::string findTileFault(kernel::StepAttr step, std::optional<int64_t> rows, int64_t depth) {
  // A step takes the same time however much of it is used. Those of one row need about eight times as many instructions for its products.
  constexpr int64_t leastShare = 4;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (depth == 0)
    stream << "the elements of a row that lie side by side are no multiple of " << countTogether(step);
  else if (int64_t height = std::min(rows.value_or(step.getRows()), step.getRows()); leastShare * height * depth < step.getRows() * step.getDepth())
    stream << height << " rows and " << depth << " products at a time fill less than a quarter of a step of " << step.getRows() << " rows and "
           << step.getDepth() << " products";
  return text;
}

PlanNumbers planTileProduct(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, int64_t columns, int64_t depth) {
  int64_t most = tilesAtOnce * step.getRows(), panels = llvm::divideCeilSigned(columns, step.getLanes());
  TileShape tile{static_cast<unsigned>(std::min(rows.value_or(most), most)), static_cast<unsigned>(std::min(panels, tilesAtOnce)),
                 static_cast<unsigned>(step.getLanes())};
  PlanNumbers numbers = planProduct(target, tile);
  numbers.streams = 0;
  // What the next steps read is asked for by the step itself. Two blocks of rows suffice to ask for the next chunk: a step takes long.
  constexpr int64_t fewestBlocks = 2;
  numbers.ahead = {};
  numbers.coming[0] = fewestBlocks;
  numbers.depth = depth;
  numbers.step = step.getFunction().str();
  return numbers;
}

std::string findTilePlanFault(nn::GroupOp group, Operation *, kernel::PlanAttr plan) {
  KernelMatch match = findKernelRow(plan.getKernel())->match(group, kernel::getTarget(group));
  ArrayRef<int64_t> tile = plan.getTile().asArrayRef(), chosen = match.numbers.tile;
  if (plan.getDepth() != match.numbers.depth || tile.drop_front() != chosen.drop_front() || tile[0] > chosen[0])
    return "expected depth " + std::to_string(match.numbers.depth) + " and a tile of up to " + std::to_string(chosen[0]) + " rows and " +
           std::to_string(chosen[1]) + " vectors of " + std::to_string(chosen[2]);
  return plan.getStep() == match.numbers.step ? "" : "expected the step " + match.numbers.step;
}

std::string describeMissingTileStep(Type lhs, Type rhs) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "the target has no step of several rows for " << getElementTypeOrSelf(lhs) << " and " << getElementTypeOrSelf(rhs);
  return text;
}

std::string describeTileStep(kernel::StepAttr step, int64_t depth) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "tiles of " << step.getRows() << " rows, " << depth << " products of " << step.getLhs() << " and " << step.getRhs() << " for each sum, by "
         << step.getFunction();
  return text;
}

} // namespace kiln
