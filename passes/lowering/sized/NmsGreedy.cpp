//===- NmsGreedy.cpp - Boxes that overlap no better one ---------------------===//
//
//   for each batch b and class c:  order = boxes whose score is above the threshold, best first
//     for each box in order:  if it overlaps none taken for (b, c) too much: out[n++] = (b, c, box), at most max_boxes of them
//
// One task: rows stand in the order of batches and classes.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/sized/IndexSort.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
struct NmsKernel {
  KernelBuilder &k;
  /// A handle: const methods of operations do not exist.
  mutable NonMaxSuppressionOp op;
  AffineExpr boxes;
  IndexArray order, selected;
  /// Of the whole launch.
  Value limit;

  Scalar scalar(Value value) const { return Scalar(k.builder(), k.loc(), value, getElementTypeOrSelf(op.getScores().getType())); }
  Scalar score(AffineExpr batch, AffineExpr group, AffineExpr box) const { return scalar(k.value(op.getScores(), {batch, group, box})); }
  std::pair<Scalar, Scalar> side(AffineExpr batch, AffineExpr box, unsigned axis) const;
  Value overlaps(AffineExpr batch, Value x, Value y) const;
  Value collect(AffineExpr batch, AffineExpr group) const;
  Value isKept(AffineExpr batch, Value box, Value first, Value end) const;
  Value take(AffineExpr batch, AffineExpr group, Value candidates, Value first) const;
};
} // namespace

/// Where a box begins and ends along an axis of its first two numbers.
std::pair<Scalar, Scalar> NmsKernel::side(AffineExpr batch, AffineExpr box, unsigned axis) const {
  auto number = [&](unsigned i) { return scalar(k.value(op.getBoxes(), {batch, box, k.constant(i)})); };
  Scalar a = number(axis), b = number(axis + 2);
  if (op.getCenterPointBox())
    return {a - b / 2.0, a + b / 2.0};
  return {min(a, b), max(a, b)};
}

/// Whether the intersection is too large a part of the union. Boxes without an area overlap nothing, nor do those with a NaN.
Value NmsKernel::overlaps(AffineExpr batch, Value x, Value y) const {
  auto [top, bottom] = side(batch, k.index(x), 0);
  auto [left, right] = side(batch, k.index(x), 1);
  auto [otherTop, otherBottom] = side(batch, k.index(y), 0);
  auto [otherLeft, otherRight] = side(batch, k.index(y), 1);
  Scalar height = min(bottom, otherBottom) - max(top, otherTop), width = min(right, otherRight) - max(left, otherLeft);
  Scalar area = (bottom - top) * (right - left), otherArea = (otherBottom - otherTop) * (otherRight - otherLeft);
  Scalar common = height * width, whole = area + otherArea - common;
  Scalar exist = (height > 0.0) & (width > 0.0) & (area > 0.0) & (otherArea > 0.0) & (whole > 0.0);
  return (exist & (common / whole > scalar(k.value(op.getIouThreshold(), {})))).value();
}

/// The boxes that may be taken, best first; their number.
Value NmsKernel::collect(AffineExpr batch, AffineExpr group) const {
  Value found = walkIndices(k, ArrayRef(boxes), k.emitConstant(0), [&](ArrayRef<AffineExpr> at, Value n) {
    Scalar here = score(batch, group, at[0]);
    Value threshold = op.getScoreThreshold();
    Value good = (threshold ? here > scalar(k.value(threshold, {})) : here == here).value();
    AffineExpr box = at[0];
    k.branch(good, [&] { order.store(n, k.emit(box)); });
    return choose(k, good, addIndex(k, n, k.emitConstant(1)), n);
  });
  sortIndices(order, found, [&](Value a, Value b) {
    Scalar x = score(batch, group, k.index(a)), y = score(batch, group, k.index(b));
    return either(k, (x > y).value(), both(k, (x == y).value(), isLess(k, a, b)));
  });
  return found;
}

/// Whether the box overlaps none of those in rows [first, end).
Value NmsKernel::isKept(AffineExpr batch, Value box, Value first, Value end) const {
  Value yes = arith::ConstantOp::create(k.builder(), k.loc(), k.builder().getBoolAttr(true));
  auto goesOn = [&](ValueRange state) { return both(k, state[1], isLess(k, state[0], end)); };
  auto step = [&](ValueRange state) -> SmallVector<Value> {
    Value other = selected.load(k.emit(k.index(state[0]) * 3 + 2));
    Value free = arith::XOrIOp::create(k.builder(), k.loc(), overlaps(batch, box, other), yes);
    return {addIndex(k, state[0], k.emitConstant(1)), free};
  };
  return k.whileLoop(ValueRange{first, yes}, goesOn, step)[1];
}

/// Takes boxes of one class from row `first` on; the row after them.
Value NmsKernel::take(AffineExpr batch, AffineExpr group, Value candidates, Value first) const {
  Value end = addIndex(k, first, limit), one = k.emitConstant(1);
  auto goesOn = [&](ValueRange state) { return both(k, isLess(k, state[0], candidates), isLess(k, state[1], end)); };
  auto step = [&](ValueRange state) -> SmallVector<Value> {
    Value box = order.load(state[0]), kept = isKept(batch, box, first, state[1]);
    AffineExpr row = k.index(state[1]) * 3;
    k.branch(kept, [&] {
      selected.store(k.emit(row), k.emit(batch));
      selected.store(k.emit(row + 1), k.emit(group));
      selected.store(k.emit(row + 2), box);
    });
    return {addIndex(k, state[0], one), choose(k, kept, addIndex(k, state[1], one), state[1])};
  };
  return k.whileLoop(ValueRange{k.emitConstant(0), first}, goesOn, step)[1];
}

FailureOr<LaunchInfo> lowerNmsGreedy(KernelBuilder &k, Operation *anchor) {
  auto op = cast<NonMaxSuppressionOp>(anchor);
  DimExprs dims = getDims(op.getScores().getType());
  AffineExpr one = k.constant(1), boxes = dims[2];
  Value scratch = k.scratch(k.builder().getI64Type(), boxes);
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    Value wanted = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getIndexType(), k.value(op.getMaxBoxes(), {}));
    NmsKernel kernel{k, op, boxes, {k, scratch}, {k, k.resultBuffer(0)}, k.minimum(wanted, k.emit(boxes))};
    Value found = walkIndices(k, {dims[0], dims[1]}, k.emitConstant(0), [&](ArrayRef<AffineExpr> at, Value row) {
      AffineExpr batch = at[0], group = at[1];
      return kernel.take(batch, group, kernel.collect(batch, group), row);
    });
    IndexArray{k, k.resultBuffer(1)}.store(k.emitConstant(0), found);
  });
  AffineExpr scores = getNumElements(dims, k.context());
  return LaunchInfo{one, scores * 64, scores * 8};
}

} // namespace kiln
