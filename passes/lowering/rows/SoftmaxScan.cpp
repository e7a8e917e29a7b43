//===- SoftmaxScan.cpp - A softmax and the scan of its rows ----------------===//
//
//   for each row:  m = max x;  e[j] = exp(x[j] - m), s = sum e, in an array of the kernel;
//                  the best of e[j] * (1 / s), or kiln::top_k_row of them
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

FailureOr<LaunchInfo> lowerSoftmaxScan(KernelBuilder &k, Operation *anchor) {
  auto op = cast<SoftmaxOp>(anchor);
  DimExprs dims = getDims(op.getType());
  int64_t length = *getConstantDim(dims.back());
  Type element = getElementTypeOrSelf(op.getType());
  Operation *scan = getScan(k.group());
  std::optional<TopKRow> best;
  if (auto topK = dyn_cast<TopKOp>(scan))
    best.emplace(k, topK);
  // The scan's indices do not run in vectors; these passes do.
  unsigned lanes = countLanes(op.getInput(), k.target());
  IndexExprs tasks = forEachLine(k, dims, dims.size() - 1, [&](LineIndex at) {
    Value array = k.array("row", element, length);
    RowWalk row{k, op.getInput(), element, accuracyOf(op), k.constant(length), lanes, at, {}, array};
    Scalar total = emitExponentials(row, op).total;
    Scalar factor = row.scalar(k.named((total.like(1.0) / total).value(), "inverse"));
    if (!best)
      return scanBest(k, cast<ArgReduceOp>(scan), at, [&](AffineExpr j) { return (row.scalar(row.get(j, {})) * factor).value(); });
    row.each([&](AffineExpr j, Lanes lanes) {
      Scalar scale = row.scalar(k.broadcast(factor.value(), lanes.count));
      row.put((row.scalar(row.get(j, lanes)) * scale).value(), j, lanes);
    });
    DimExprs lines(dims);
    lines.back() = k.constant(1);
    best->emit(array, k.linearize(lines, at(k.constant(0))));
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, tasks), elements * 20, elements * 4};
}

} // namespace kiln
