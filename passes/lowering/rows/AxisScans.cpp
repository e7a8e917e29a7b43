//===- AxisScans.cpp - Kernels that walk one axis in order -----------------===//
//
//   arg_reduce: the best value so far and its place;  cumulative: the running sum or product
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/rows/AxisScans.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

IndexExprs forEachLine(KernelBuilder &k, ArrayRef<AffineExpr> dims, unsigned axis, function_ref<void(LineIndex)> body) {
  IndexExprs tasks(dims);
  tasks[axis] = k.constant(1);
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    IndexExprs line(task);
    auto at = [&](AffineExpr j) {
      IndexExprs full(line);
      full[axis] = j;
      return full;
    };
    body(at);
  });
  return tasks;
}

/// NaN counts as the largest and the smallest number, as it does in numpy: the first one wins.
static Scalar isBetter(const Scalar &x, const Scalar &best, bool isMax, bool orEqual) {
  Scalar better = isMax ? (orEqual ? x >= best : x > best) : (orEqual ? x <= best : x < best);
  if (!isa<FloatType>(x.elementType()))
    return better;
  return (better | isNan(x)) & ~isNan(best);
}

/// The first element of a line, or zero for a line that has none.
static Value readFirst(KernelBuilder &k, AffineExpr extent, Type element, LineValue read) {
  if (getConstantDim(extent).value_or(0) > 0)
    return read(k.constant(0));
  Value count = arith::MinSIOp::create(k.builder(), k.loc(), k.emit(extent), k.emitConstant(1));
  auto readOne = [&](AffineExpr j, ValueRange) -> SmallVector<Value> { return {read(j)}; };
  return k.loop(k.constant(0), k.index(count), 1, "j", k.number(element, 0), readOne).front();
}

void scanBest(KernelBuilder &k, ArgReduceOp op, LineIndex at, LineValue read) {
  Type element = getElementTypeOrSelf(op.getInput().getType()), index = computeType(getElementTypeOrSelf(op.getType()));
  auto scalar = [&](Value value) { return Scalar(k.builder(), k.loc(), value, element); };
  AffineExpr extent = getDim(op.getInput().getType(), op.getAxis());
  SmallVector<Value> init{readFirst(k, extent, element, read), k.emitConstant(0)};
  SmallVector<Value> best = k.loop(k.constant(1), extent, 1, "j", init, [&](AffineExpr j, ValueRange carried) -> SmallVector<Value> {
    Value x = read(j);
    Value better = isBetter(scalar(x), scalar(carried[0]), op.getKind() == ReduceKind::Max, op.getSelectLast()).value();
    Value value = arith::SelectOp::create(k.builder(), k.loc(), better, x, carried[0]);
    return {value, arith::SelectOp::create(k.builder(), k.loc(), better, k.emit(j), carried[1])};
  });
  Value place = arith::IndexCastOp::create(k.builder(), k.loc(), index, best[1]);
  k.storeResults(op.getResult(), place, at(k.constant(0)));
}

FailureOr<LaunchInfo> lowerArgReduceScan(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ArgReduceOp>(anchor);
  DimExprs dims = getDims(op.getInput().getType());
  IndexExprs tasks = forEachLine(k, dims, op.getAxis(), [&](auto at) {
    scanBest(k, op, at, [&](AffineExpr j) { return k.value(op.getInput(), at(j)); });
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, tasks), elements, elements * 4};
}

FailureOr<LaunchInfo> lowerCumulativeScan(KernelBuilder &k, Operation *anchor) {
  auto op = cast<CumulativeOp>(anchor);
  DimExprs dims = getDims(op.getType());
  AffineExpr extent = dims[op.getAxis()];
  Type element = getElementTypeOrSelf(op.getType());
  IndexExprs tasks = forEachLine(k, dims, op.getAxis(), [&](auto at) {
    Value init = reductionIdentity(k, op.getKind(), element, 1);
    k.loop(k.constant(0), extent, 1, "j", init, [&](AffineExpr step, ValueRange carried) -> SmallVector<Value> {
      AffineExpr j = op.getReverse() ? k.index(k.emit(extent - 1 - step)) : step;
      Value next = combine(k, op.getKind(), element, carried.front(), k.value(op.getInput(), at(j)));
      k.storeResults(op.getResult(), op.getExclusive() ? carried.front() : next, at(j));
      return {next};
    });
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, tasks), elements, elements * 8};
}

} // namespace kiln
