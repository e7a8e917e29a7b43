//===- NmsGreedy.cpp - Boxes that overlap no better one ---------------------===//
//
//   kiln::greedy_boxes<16>(boxes, scores, selected, count, scratch, batches, classes, n, limit, iou, score, ...)     one task
//
// Rows stand in the order of batches and classes.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/lowering/builder/Ranking.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

FailureOr<LaunchInfo> lowerNmsGreedy(KernelBuilder &k, Operation *anchor) {
  auto op = cast<NonMaxSuppressionOp>(anchor);
  DimExprs dims = getDims(op.getScores().getType());
  Type element = getElementTypeOrSelf(op.getScores());
  AffineExpr one = k.constant(1), boxes = dims[2];
  // Entries of all boxes and as many to sort them by, of two words for ranks of 64 bits; and the sides and areas of all boxes and of selected ones.
  bool isLong = element.getIntOrFloatBitWidth() > 32;
  Value scratch = k.scratch(k.builder().getI64Type(), simplifyDim(boxes * (isLong ? 14 : 7) + (isLong ? 192 : 96)));
  auto bufferOf = [&](Value operand) { return k.buffer(cast<BlockArgument>(operand).getArgNumber()); };
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    Value limit = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getIndexType(), k.value(op.getMaxBoxes(), {}));
    Value overlap = k.value(op.getIouThreshold(), {});
    Value least = op.getScoreThreshold() ? k.value(op.getScoreThreshold(), {}) : k.number(element, 0);
    SmallVector<Value> operands{bufferOf(op.getBoxes()), bufferOf(op.getScores()), k.resultBuffer(0), k.resultBuffer(1), scratch,
                                k.emit(dims[0]), k.emit(dims[1]), k.emit(boxes), limit, overlap, least};
    unsigned lanes = std::min(16u, lanesOf(k.target(), element));
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), k.builder().getStringAttr("kiln::greedy_boxes<" + Twine(lanes) + ">"), operands,
                                  k.builder().getI64ArrayAttr({op.getScoreThreshold() != nullptr, op.getCenterPointBox(), bitsOfInfinity(element)}));
  });
  AffineExpr scores = getNumElements(dims, k.context());
  return LaunchInfo{one, scores * 64, scores * 8};
}

} // namespace kiln
