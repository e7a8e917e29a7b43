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
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RegisterRow.h"
#include "passes/target/groups/RowFusion.h"
#include "passes/lowering/builder/RowLoops.h"

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

/// Fills `row` with the exponentials and returns one over their sum.
static Scalar emitExponentials(KernelBuilder &k, SoftmaxOp op, LineIndex at, int64_t length, Value row) {
  Type element = getElementTypeOrSelf(op.getType());
  auto scalar = [&](Value value) { return Scalar(k.builder(), k.loc(), value, element, accuracyOf(op)); };
  auto shift = getProvenShift(op);
  AffineExpr extent = k.constant(length);
  // The scan's indices do not run in vectors; this does.
  unsigned lanes = countLanes(op.getInput(), k.target());
  auto compute = [&](AffineExpr j, Lanes lanes) { return k.value(op.getInput(), at(j), lanes); };
  Value maximum = shift ? Value() : k.named(reduceRow(k, ReduceKind::Max, element, extent, lanes, [&](AffineExpr j, Lanes lanes) {
    Value x = compute(j, lanes);
    k.storeBuffer(row, element, j, x, lanes);
    return x;
  }), "maximum");
  Scalar total = scalar(k.named(reduceRow(k, ReduceKind::Sum, element, extent, lanes, [&](AffineExpr j, Lanes lanes) {
    Scalar x = scalar(shift ? compute(j, lanes) : k.loadBuffer(row, element, j, lanes));
    Scalar y = shiftedExp(shift ? subtractShift(x, *shift) : x - scalar(k.broadcast(maximum, lanes.count)), shift.has_value());
    k.storeBuffer(row, element, j, k.named(y.value(), "e"), lanes);
    return y.value();
  }), "total"));
  return scalar(k.named((total.like(1.0) / total).value(), "inverse"));
}

FailureOr<LaunchInfo> lowerSoftmaxScan(KernelBuilder &k, Operation *anchor) {
  auto op = cast<SoftmaxOp>(anchor);
  DimExprs dims = getDims(op.getType());
  int64_t length = *getConstantDim(dims.back());
  Type element = getElementTypeOrSelf(op.getType());
  Operation *scan = getScan(k.group());
  IndexExprs tasks = forEachLine(k, dims, dims.size() - 1, [&](LineIndex at) {
    Value row = k.array("row", element, length);
    Scalar factor = emitExponentials(k, op, at, length, row);
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
