//===- DataSizedKernels.cpp - Kernels of what computes sizes --------------===//
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Limits and thresholds are one number each; boxes and scores are read again and again.
static PrologueSupport loadsLimits(Operation *, unsigned operand) { return operand < 2 ? PrologueSupport::None : PrologueSupport::All; }

ArrayRef<KernelRow> getDataSizedKernels() {
  static const KernelRow rows[] = {
      KernelRow{"computed_dim", computes<ComputedDimOp>, matchComputedDim, lowerComputedDim}.loading(loadsAll),
      KernelRow{"non_zero_scan", computes<NonZeroOp>, matchNonZeroScan, lowerNonZeroScan}.loading(loadsAll),
      KernelRow{"unique_rows", computes<UniqueOp>, matchUniqueRows, lowerUniqueRows},
      KernelRow{"nms_greedy", computes<NonMaxSuppressionOp>, matchNmsGreedy, lowerNmsGreedy}.loading(loadsLimits),
  };
  return rows;
}

} // namespace kiln
