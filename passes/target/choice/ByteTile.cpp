//===- ByteTile.cpp - How products of narrow elements are computed --------===//
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

kernel::StepAttr findStep(kernel::TargetAttr target, Type lhs, Type rhs, Type result) {
  Type sum = nn::computeType(result);
  if (kernel::StepAttr bytes = findByteStep(target); bytes.takes(lhs, rhs, sum))
    return bytes;
  kernel::StepAttr step = target.findStep(lhs, rhs, sum);
  return step && step.getDepth() > 1 && !step.getFunction().empty() ? step : kernel::StepAttr();
}

std::string describeStep(kernel::StepAttr step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << step.getDepth() << " products of " << step.getLhs() << " and " << step.getRhs() << " for each sum, by " << step.getFunction();
  return text;
}

std::string describeMissingStep(Type lhs, Type rhs, Type result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "the target has no step for " << getElementTypeOrSelf(lhs) << " and " << getElementTypeOrSelf(rhs) << " whose sums are "
         << nn::computeType(getElementTypeOrSelf(result));
  return text;
}

PlanNumbers planStepProduct(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, std::optional<int64_t> columns,
                            std::optional<int64_t> rowStride) {
  TileShape tile = chooseTile(target, step, rows, columns, rowStride);
  tile.lanes = std::max(tile.lanes, fewestLanes);
  return planProduct(target, tile);
}

} // namespace kiln
