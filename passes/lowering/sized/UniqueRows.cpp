//===- UniqueRows.cpp - Which rows are different ----------------------------===//
//
//   kiln::unique_rows(rows, first, inverse, sizes, count, scratch, n, length, ...)     one task
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/lowering/builder/Ranking.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

FailureOr<LaunchInfo> lowerUniqueRows(KernelBuilder &k, Operation *anchor) {
  auto op = cast<UniqueOp>(anchor);
  DimExprs dims = getDims(op.getRows().getType());
  Type element = getElementTypeOrSelf(op.getRows());
  AffineExpr one = k.constant(1);
  // Two entries, of two words for ranks of 64 bits, and a word.
  int64_t words = element.getIntOrFloatBitWidth() > 32 ? 5 : 3;
  Value scratch = k.scratch(k.builder().getI64Type(), simplifyDim(dims[0] * words));
  SmallVector<Value> buffers{k.buffer(cast<BlockArgument>(op.getRows()).getArgNumber())};
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    buffers.push_back(k.resultBuffer(i));
  buffers.push_back(scratch);
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    SmallVector<Value> operands(buffers);
    operands.append({k.emit(dims[0]), k.emit(dims[1])});
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), k.builder().getStringAttr("kiln::unique_rows"), operands,
                                  k.builder().getI64ArrayAttr({op.getSorted(), bitsOfInfinity(element)}));
  });
  return LaunchInfo{one, dims[0] * dims[1] * 16, dims[0] * dims[1] * 8 + dims[0] * 32};
}

} // namespace kiln
