//===- SoftmaxRows.cpp - Softmax and log-softmax as one loop over rows -----===//
//
//   for each row:  m = max x;  y = exp(x - m), s = sum y;  y = y / s            (softmax)
//                  m = max x;  s = sum exp(x - m);         y = x - m - log s    (log-softmax)
//
// A prologue is computed once: the pass for the maximum leaves its values in the result's row.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Scalar.h"
#include "passes/lowering/Kernels.h"
#include "passes/lowering/RowLoops.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool matchSoftmaxRows(GroupOp, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  reason = "kept whole: three passes over a row that stays in the cache, instead of five kernels over the tensor";
  return isa_and_nonnull<SoftmaxOp, LogSoftmaxOp>(anchor);
}

namespace {
/// One row (or `across.count` rows side by side): loops along it, values as scalars or vectors.
struct RowWalk {
  KernelBuilder &k;
  const RowShape &shape;
  Type element;
  function_ref<IndexExprs(AffineExpr)> at;
  Lanes across;

  unsigned valueLanes() const { return shape.alongRow ? 1 : across.count; }
  Value reduce(ReduceKind kind, function_ref<Value(AffineExpr, Lanes)> body) const {
    if (shape.alongRow)
      return reduceRow(k, kind, element, shape.length, k.vectorLanes(), body);
    Value init = reductionIdentity(k, kind, element, across.count);
    return k.loop(k.constant(0), shape.length, 1, "j", init, [&](AffineExpr j, ValueRange carried) -> SmallVector<Value> {
      return {combine(k, kind, element, carried.front(), body(j, across))};
    }).front();
  }
  void each(function_ref<void(AffineExpr, Lanes)> body) const {
    if (shape.alongRow)
      return k.vectorLoop(shape.length, k.vectorLanes(), "i", body);
    k.loop(k.constant(0), shape.length, 1, "j", [&](AffineExpr j) { body(j, across); });
  }
  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, element); }
  Scalar spread(Value value, unsigned lanes) const { return scalar(k.broadcast(value, lanes)); }
};
} // namespace

/// Whether the anchor's operand is read straight from a buffer, so that reading it again costs no computation.
static bool isPlainRead(Value operand) { return isa<BlockArgument>(operand); }

static void emitRow(const RowWalk &row, Operation *anchor) {
  KernelBuilder &k = row.k;
  Value input = anchor->getOperand(0), result = anchor->getResult(0);
  bool isLog = isa<LogSoftmaxOp>(anchor);
  bool keep = !isPlainRead(input);
  auto load = [&](AffineExpr j, Lanes lanes) { return keep ? k.loadResult(0, row.at(j), lanes) : k.value(input, row.at(j), lanes); };
  Value maximum = row.reduce(ReduceKind::Max, [&](AffineExpr j, Lanes lanes) {
    Value x = k.value(input, row.at(j), lanes);
    if (keep)
      k.store(0, x, row.at(j), lanes);
    return x;
  });
  Value sum = row.reduce(ReduceKind::Sum, [&](AffineExpr j, Lanes lanes) {
    Scalar y = exp(row.scalar(load(j, lanes)) - row.spread(maximum, lanes.count));
    if (!isLog)
      k.store(0, y.value(), row.at(j), lanes);
    return y.value();
  });
  Scalar total = row.scalar(sum);
  Value last = isLog ? log(total).value() : (total.like(1.0) / total).value();
  row.each([&](AffineExpr j, Lanes lanes) {
    Scalar y = isLog ? row.scalar(load(j, lanes)) - row.spread(maximum, lanes.count) - row.spread(last, lanes.count)
                     : row.scalar(k.loadResult(0, row.at(j), lanes)) * row.spread(last, lanes.count);
    k.storeResults(result, y.value(), row.at(j), lanes);
  });
}

FailureOr<LaunchInfo> lowerSoftmaxRows(KernelBuilder &k, Operation *anchor) {
  DimExprs dims = getDims(anchor->getResult(0).getType());
  unsigned axis = anchor->getAttrOfType<IntegerAttr>("axis").getInt();
  RowShape shape = makeRowShape(k, dims, axis, axis);
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  forEachRow(k, shape, [&](auto at, Lanes across) { emitRow({k, shape, element, at, across}, anchor); });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, shape.tasks), elements * 20, elements * 8};
}

} // namespace kiln
