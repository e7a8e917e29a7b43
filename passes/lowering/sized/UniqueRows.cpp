//===- UniqueRows.cpp - Which rows are different ----------------------------===//
//
//   order = rows sorted, equal ones by place;  for each run of equal rows: first[id] = its first place, sizes[id] = its length, inverse[row] = id
//
// Without `sorted` ids are given in the order of the first places. One task.
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
struct UniqueKernel {
  KernelBuilder &k;
  /// A handle: const methods of operations do not exist.
  mutable UniqueOp op;
  AffineExpr count, length;
  IndexArray order;

  IndexArray result(unsigned i) const { return {k, k.resultBuffer(i)}; }
  Value compareElements(Value a, Value b, AffineExpr j) const;
  Value compare(Value a, Value b) const;
  Value isNewRun(AffineExpr i, Value here) const;
  void add(Value isNew, Value id, Value row) const;
  void sort() const;
  Value countSorted() const;
  Value countInPlace() const;
};
} // namespace

/// -1, 0 or 1; NaN is larger than all numbers and equal to itself.
Value UniqueKernel::compareElements(Value a, Value b, AffineExpr j) const {
  Type element = getElementTypeOrSelf(op.getRows().getType());
  auto read = [&](Value row) { return Scalar(k.builder(), k.loc(), k.value(op.getRows(), {k.index(row), j}), element); };
  auto isBelow = [&](const Scalar &low, const Scalar &high) {
    return (isa<FloatType>(element) ? (low < high) | (isNan(high) & ~isNan(low)) : low < high).value();
  };
  Scalar x = read(a), y = read(b);
  return choose(k, isBelow(x, y), k.emitConstant(-1), choose(k, isBelow(y, x), k.emitConstant(1), k.emitConstant(0)));
}

Value UniqueKernel::compare(Value a, Value b) const {
  if (getConstantDim(length) == 1)
    return compareElements(a, b, k.constant(0));
  Value zero = k.emitConstant(0);
  auto goesOn = [&](ValueRange state) { return both(k, isLess(k, state[0], k.emit(length)), isEqual(k, state[1], zero)); };
  auto step = [&](ValueRange state) -> SmallVector<Value> {
    return {addIndex(k, state[0], k.emitConstant(1)), compareElements(a, b, k.index(state[0]))};
  };
  return k.whileLoop(ValueRange{zero, zero}, goesOn, step)[1];
}

void UniqueKernel::sort() const {
  Value zero = k.emitConstant(0);
  k.loop(k.constant(0), count, 1, "i", [&](AffineExpr i) { order.store(k.emit(i), k.emit(i)); });
  sortIndices(order, k.emit(count), [&](Value a, Value b) {
    Value difference = compare(a, b);
    return either(k, isLess(k, difference, zero), both(k, isEqual(k, difference, zero), isLess(k, a, b)));
  });
}

/// Whether the row at place i of the order differs from the one before it.
Value UniqueKernel::isNewRun(AffineExpr i, Value here) const {
  Value zero = k.emitConstant(0), at = k.emit(i), isFirst = isEqual(k, at, zero);
  Value before = order.load(choose(k, isFirst, zero, subIndex(k, at, k.emitConstant(1))));
  return either(k, isFirst, isLess(k, compare(before, here), zero));
}

/// One more row of this id; a new one begins at it.
void UniqueKernel::add(Value isNew, Value id, Value row) const {
  k.branch(isNew, [&] {
    result(0).store(id, row);
    result(2).store(id, k.emitConstant(0));
  });
  result(1).store(row, id);
  result(2).store(id, addIndex(k, result(2).load(id), k.emitConstant(1)));
}

Value UniqueKernel::countSorted() const {
  return walkIndices(k, ArrayRef(count), k.emitConstant(0), [&](ArrayRef<AffineExpr> at, Value found) {
    Value here = order.load(k.emit(at[0])), isNew = isNewRun(at[0], here);
    Value id = choose(k, isNew, found, subIndex(k, found, k.emitConstant(1)));
    add(isNew, id, here);
    return addIndex(k, id, k.emitConstant(1));
  });
}

Value UniqueKernel::countInPlace() const {
  // Until its id is known, the inverse of a row is the first row that equals it.
  walkIndices(k, ArrayRef(count), k.emitConstant(0), [&](ArrayRef<AffineExpr> at, Value first) {
    Value here = order.load(k.emit(at[0]));
    first = choose(k, isNewRun(at[0], here), here, first);
    result(1).store(here, first);
    return first;
  });
  return walkIndices(k, ArrayRef(count), k.emitConstant(0), [&](ArrayRef<AffineExpr> at, Value found) {
    Value row = k.emit(at[0]), first = result(1).load(row), isNew = isEqual(k, first, row);
    add(isNew, choose(k, isNew, found, result(1).load(first)), row);
    return choose(k, isNew, addIndex(k, found, k.emitConstant(1)), found);
  });
}

FailureOr<LaunchInfo> lowerUniqueRows(KernelBuilder &k, Operation *anchor) {
  auto op = cast<UniqueOp>(anchor);
  DimExprs dims = getDims(op.getRows().getType());
  AffineExpr one = k.constant(1);
  UniqueKernel kernel{k, op, dims[0], dims[1], {k, k.scratch(k.builder().getI64Type(), dims[0])}};
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    kernel.sort();
    Value found = op.getSorted() ? kernel.countSorted() : kernel.countInPlace();
    kernel.result(3).store(k.emitConstant(0), found);
  });
  return LaunchInfo{one, dims[0] * dims[1] * 16, dims[0] * dims[1] * 8 + dims[0] * 32};
}

} // namespace kiln
