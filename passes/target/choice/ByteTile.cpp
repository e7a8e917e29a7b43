//===- ByteTile.cpp - How a product of bytes is computed ------------------===//
#include "passes/target/choice/ByteTile.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/CostModel.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// A step has sums in vectors: it is not written for single lanes.
static constexpr unsigned fewestLanes = 4;

kernel::StepAttr findByteStep(kernel::TargetAttr target) {
  Builder b(target.getContext());
  Type left = b.getIntegerType(8, /*isSigned=*/false), right = b.getI8Type(), sum = b.getI32Type();
  if (kernel::StepAttr step = target.findStep(left, right, sum))
    return step;
  return kernel::StepAttr::get(target.getContext(), left, right, sum, {1, std::max(fewestLanes, nn::lanesOf(target, sum)), 4}, "dot_u8s8_pairs");
}

PlanNumbers planByteProduct(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns, std::optional<int64_t> rowStride) {
  TileShape tile = chooseTile(target, findByteStep(target), rows, columns, rowStride);
  tile.lanes = std::max(tile.lanes, fewestLanes);
  return planProduct(target, tile);
}

} // namespace kiln
