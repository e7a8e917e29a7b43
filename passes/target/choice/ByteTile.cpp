//===- ByteTile.cpp - How a product of bytes is computed ------------------===//
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

kernel::StepAttr findByteStep(kernel::TargetAttr target) {
  if (!target)
    return {};
  Builder b(target.getContext());
  return target.findStep(b.getIntegerType(8, /*isSigned=*/false), b.getI8Type(), b.getI32Type());
}

/// A step has sums in vectors: it is not written for single lanes.
static constexpr unsigned fewestLanes = 4;

PlanNumbers planByteProduct(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns, std::optional<int64_t> rowStride) {
  TileShape tile = chooseTile(target, findByteStep(target), rows, columns, rowStride);
  tile.lanes = std::max(tile.lanes, fewestLanes);
  return planProduct(target, tile);
}

} // namespace kiln
