//===- DataSizedKernels.cpp - Kernels of what computes sizes --------------===//
#include "dialects/nn/NNDataSizedOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Limits and thresholds are one number each; boxes and scores are read again and again.
static PrologueSupport loadsLimits(Operation *, unsigned operand) { return operand < 2 ? PrologueSupport::None : PrologueSupport::All; }

ArrayRef<KernelRow> getDataSizedKernels() {
  static const KernelRow rows[] = {
      KernelRow{"computed_dim", computes<ComputedDimOp>, "one number, kept within the memory that is planned for it", lowerComputedDim}.loading(loadsAll),
      KernelRow{"non_zero_scan", computes<NonZeroOp>, "one walk in row-major order by one task, behind one that counts", lowerNonZeroScan}.loading(loadsAll),
      KernelRow{"unique_rows", computes<UniqueOp>, "equal rows stand together once they are sorted, column by column, by one task", lowerUniqueRows},
      KernelRow{"nms_greedy", computes<NonMaxSuppressionOp>, "candidates sorted by score, then taken greedily, by one task", lowerNmsGreedy}
          .loading(loadsLimits),
  };
  return rows;
}

} // namespace kiln
