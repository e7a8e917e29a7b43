//===- SoftmaxScan.cpp - A softmax and the scan of its rows ----------------===//
//
//   for each row:  m = max x;  e[j] = exp(x[j] - m), s = sum e, in an array of the kernel;
//                  the best (or the k best) of e[j] * (1 / s)
//
// So the probabilities are never stored, and they are the same numbers as if they were: of two that round to one, the first one wins.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/lowering/rows/AxisScans.h"
#include "passes/lowering/rows/RowWalk.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/RowFusion.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The second anchor of a group.
static Operation *getScan(GroupOp group) {
  for (Operation &op : group.getBody().front().without_terminator())
    if (isa<ArgReduceOp, TopKOp>(op))
      return &op;
  return nullptr;
}

/// Fills `wide` with the exponentials and returns one over their sum.
static Scalar fillRow(KernelBuilder &k, SoftmaxOp op, LineIndex at, int64_t length, Value wide) {
  // The scan's indices do not run in vectors; this does.
  unsigned lanes = countLanes(op.getInput(), k.target());
  RowWalk row{k, op.getInput(), getElementTypeOrSelf(op.getType()), accuracyOf(op), k.constant(length), lanes, at, {}, wide};
  Scalar total = emitExponentials(row, op).total;
  return row.scalar(k.named((total.like(1.0) / total).value(), "inverse"));
}

FailureOr<LaunchInfo> lowerSoftmaxScan(KernelBuilder &k, Operation *anchor) {
  auto op = cast<SoftmaxOp>(anchor);
  DimExprs dims = getDims(op.getType());
  int64_t length = *getConstantDim(dims.back());
  Type element = getElementTypeOrSelf(op.getType());
  Operation *scan = getScan(k.group());
  IndexExprs tasks = forEachLine(k, dims, dims.size() - 1, [&](LineIndex at) {
    Value row = k.array("row", element, length);
    Scalar factor = fillRow(k, op, at, length, row);
    auto read = [&](AffineExpr j) {
      return (Scalar(k.builder(), k.loc(), k.loadBuffer(row, element, j), element) * factor).value();
    };
    if (auto best = dyn_cast<ArgReduceOp>(scan))
      return scanBest(k, best, at, read);
    scanTopK(k, cast<TopKOp>(scan), at, read);
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, tasks), elements * 20, elements * 4};
}

} // namespace kiln
