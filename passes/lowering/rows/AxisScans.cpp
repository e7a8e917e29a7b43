//===- AxisScans.cpp - Kernels that walk one axis in order -----------------===//
//
//   arg_reduce: the best value so far and its place;  cumulative: the running sum or product;  top_k: an insertion sort of the k best.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/rows/AxisScans.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

void scanBest(KernelBuilder &k, ArgReduceOp op, LineIndex at, LineValue read) {
  Type element = getElementTypeOrSelf(op.getInput().getType()), index = computeType(getElementTypeOrSelf(op.getType()));
  auto scalar = [&](Value value) { return Scalar(k.builder(), k.loc(), value, element); };
  AffineExpr extent = getDim(op.getInput().getType(), op.getAxis());
  SmallVector<Value> init{read(k.constant(0)), k.emitConstant(0)};
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

namespace {
/// One line of top_k: results hold the best so far in order.
struct TopKLine {
  KernelBuilder &k;
  TopKOp op;
  Type element, index;
  AffineExpr count;
  function_ref<IndexExprs(AffineExpr)> at;

  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, element); }
  /// Moves worse entries of [0, filled) up by one until x finds its place; entries beyond k fall off.
  void insert(Value x, Value place, AffineExpr filled) {
    OpBuilder &b = k.builder();
    Value one = k.emitConstant(1), zero = k.emitConstant(0);
    auto loop = scf::WhileOp::create(b, k.loc(), TypeRange(b.getIndexType()), ValueRange(k.emit(filled)));
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, b.getIndexType(), k.loc());
    Value slot = before->getArgument(0);
    Value inside = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::sgt, slot, zero);
    auto check = scf::IfOp::create(b, k.loc(), TypeRange(b.getI1Type()), inside, true, true);
    b.setInsertionPointToStart(check.thenBlock());
    AffineExpr above = k.index(arith::SubIOp::create(b, k.loc(), slot, one).getResult());
    Value better = isBetter(scalar(x), scalar(k.loadResult(0, at(above))), op.getLargest(), false).value();
    scf::YieldOp::create(b, k.loc(), better);
    b.setInsertionPointToStart(check.elseBlock());
    scf::YieldOp::create(b, k.loc(), number(false));
    b.setInsertionPointToEnd(before);
    scf::ConditionOp::create(b, k.loc(), check.getResult(0), slot);

    Block *after = b.createBlock(&loop.getAfter(), {}, b.getIndexType(), k.loc());
    Value moving = after->getArgument(0);
    AffineExpr from = k.index(arith::SubIOp::create(b, k.loc(), moving, one).getResult()), to = k.index(moving);
    Value fits = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, moving, k.emit(count));
    k.branch(fits, [&] {
      Value value = k.loadResult(0, at(from)), old = k.loadResult(1, at(from));
      k.store(0, value, at(to));
      k.store(1, old, at(to));
    });
    scf::YieldOp::create(b, k.loc(), k.emit(from));

    b.setInsertionPointAfter(loop);
    AffineExpr found = k.index(loop.getResult(0));
    Value kept = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, loop.getResult(0), k.emit(count));
    k.branch(kept, [&] {
      k.store(0, x, at(found));
      k.store(1, place, at(found));
    });
  }
  Value number(bool value) { return arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getBoolAttr(value)); }
};
} // namespace

void scanTopK(KernelBuilder &k, TopKOp op, LineIndex at, LineValue read) {
  AffineExpr count = getDim(op.getValues().getType(), op.getAxis());
  Type element = getElementTypeOrSelf(op.getValues().getType()), index = computeType(getElementTypeOrSelf(op.getIndices().getType()));
  TopKLine line{k, op, element, index, count, at};
  k.loop(k.constant(0), getDim(op.getInput().getType(), op.getAxis()), 1, "j", [&](AffineExpr j) {
    Value x = read(j);
    Value place = arith::IndexCastOp::create(k.builder(), k.loc(), index, k.emit(j));
    line.insert(x, place, k.index(k.minimum(k.emit(j), k.emit(count))));
  });
}

FailureOr<LaunchInfo> lowerTopKInsertion(KernelBuilder &k, Operation *anchor) {
  auto op = cast<TopKOp>(anchor);
  DimExprs dims = getDims(op.getInput().getType());
  IndexExprs tasks = forEachLine(k, dims, op.getAxis(), [&](auto at) {
    scanTopK(k, op, at, [&](AffineExpr j) { return k.value(op.getInput(), at(j)); });
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, tasks), elements * 8, elements * 4};
}

} // namespace kiln
