//===- ByteTile.cpp - How products of narrow elements are computed --------===//
#include "passes/target/choice/ByteTile.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/RegisterBudget.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

/// A step has sums in vectors: it is not written for single lanes.
static constexpr unsigned fewestLanes = 4;

static kernel::StepAttr findStepOfBytes(kernel::TargetAttr target, bool isLeftSigned, StringRef otherwise) {
  Builder b(target.getContext());
  Type left = b.getIntegerType(8, /*isSigned=*/false), right = b.getI8Type(), sum = b.getI32Type();
  if (isLeftSigned)
    std::swap(left, right);
  if (kernel::StepAttr step = target.findStep(left, right, sum))
    return step;
  return kernel::StepAttr::get(target.getContext(), left, right, sum, {1, std::max(fewestLanes, nn::lanesOf(target, sum)), 4}, otherwise);
}

kernel::StepAttr findByteStep(kernel::TargetAttr target) { return findStepOfBytes(target, false, "dot_u8s8_pairs"); }

kernel::StepAttr findSignedByteStep(kernel::TargetAttr target) { return findStepOfBytes(target, true, "dot_s8u8_pairs"); }

PlanNumbers planBlockProduct(kernel::TargetAttr target, std::optional<int64_t> rows, int64_t columns) {
  // One row reads long pieces of its weights; others use each unpacked vector as often as there are registers for two sets of sums.
  constexpr int64_t fewestRows = 6;
  kernel::StepAttr step = findSignedByteStep(target);
  RegisterBudget budget(target, target.getPlainStep(Float32Type::get(target.getContext())));
  int64_t vectors = RegisterBudget::vectorsOfMany, height = budget.rowsOf(vectors) / 2;
  if (height < fewestRows) {
    vectors = 1;
    height = budget.narrowRows() / 2;
  }
  height = std::max<int64_t>(1, height - 1);
  if (rows == 1) {
    vectors = target.tuned(kernel::Tuned::RowVectors);
    height = 1;
  } else if (rows) {
    height = std::min(height, std::max<int64_t>(*rows, 1));
  }
  unsigned lanes = static_cast<unsigned>(step.getLanes());
  vectors = std::min(vectors, llvm::divideCeilSigned(columns, static_cast<int64_t>(lanes)));
  PlanNumbers numbers = planProduct(target, TileShape{static_cast<unsigned>(height), static_cast<unsigned>(vectors), lanes});
  numbers.streams = 0;
  return numbers;
}

bool isWeightElement(Type element) { return nn::computesInF32(element) || element.isSignlessInteger(8); }

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
