//===- IndexSort.cpp - Sorting indices inside a kernel ----------------------===//
#include "passes/lowering/sized/IndexSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

Value addIndex(KernelBuilder &k, Value x, Value y) { return arith::AddIOp::create(k.builder(), k.loc(), x, y); }
Value subIndex(KernelBuilder &k, Value x, Value y) { return arith::SubIOp::create(k.builder(), k.loc(), x, y); }
Value isLess(KernelBuilder &k, Value x, Value y) { return arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, x, y); }
Value isEqual(KernelBuilder &k, Value x, Value y) { return arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::eq, x, y); }
Value choose(KernelBuilder &k, Value condition, Value x, Value y) { return arith::SelectOp::create(k.builder(), k.loc(), condition, x, y); }
Value both(KernelBuilder &k, Value x, Value y) { return arith::AndIOp::create(k.builder(), k.loc(), x, y); }
Value either(KernelBuilder &k, Value x, Value y) { return arith::OrIOp::create(k.builder(), k.loc(), x, y); }

Value IndexArray::load(Value place) const {
  Value stored = k.loadBuffer(buffer, k.builder().getI64Type(), k.index(place));
  return arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getIndexType(), stored);
}

void IndexArray::store(Value place, Value index) const {
  Value stored = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), index);
  k.storeBuffer(buffer, k.builder().getI64Type(), k.index(place), stored);
}

static void swapEntries(const IndexArray &array, Value x, Value y) {
  Value atX = array.load(x), atY = array.load(y);
  array.store(x, atY);
  array.store(y, atX);
}

/// The entry at `root` sinks below entries that stand behind it, in the heap of the first `end` entries.
static void siftDown(const IndexArray &array, Value root, Value end, function_ref<Value(Value, Value)> isBefore) {
  KernelBuilder &k = array.k;
  Value one = k.emitConstant(1);
  auto left = [&](Value node) { return addIndex(k, addIndex(k, node, node), one); };
  k.whileLoop(root, [&](ValueRange state) { return isLess(k, left(state[0]), end); }, [&](ValueRange state) -> SmallVector<Value> {
    Value first = left(state[0]), second = k.minimum(addIndex(k, first, one), subIndex(k, end, one));
    Value child = choose(k, isBefore(array.load(first), array.load(second)), second, first);
    Value sinks = isBefore(array.load(state[0]), array.load(child));
    k.branch(sinks, [&] { swapEntries(array, state[0], child); });
    return {choose(k, sinks, child, end)};
  });
}

void sortIndices(const IndexArray &array, Value count, function_ref<Value(Value, Value)> isBefore) {
  KernelBuilder &k = array.k;
  Value zero = k.emitConstant(0), one = k.emitConstant(1);
  Value half = arith::DivSIOp::create(k.builder(), k.loc(), count, k.emitConstant(2));
  Value steps = subIndex(k, addIndex(k, half, count), one);
  // The first half makes a heap from the leaves upwards; then the last entry of the order leaves it, one a step.
  k.loop(k.constant(0), k.index(steps), 1, "step", [&](AffineExpr at) {
    Value step = k.emit(at), builds = isLess(k, step, half);
    Value root = choose(k, builds, subIndex(k, subIndex(k, half, one), step), zero);
    Value end = choose(k, builds, count, subIndex(k, steps, step));
    k.branch(isLess(k, end, count), [&] { swapEntries(array, zero, end); });
    siftDown(array, root, end, isBefore);
  });
}

static Value walk(KernelBuilder &k, ArrayRef<AffineExpr> dims, IndexExprs &at, Value carried,
                  function_ref<Value(ArrayRef<AffineExpr>, Value)> body) {
  if (at.size() == dims.size())
    return body(at, carried);
  return k.loop(k.constant(0), dims[at.size()], 1, "i", carried, [&](AffineExpr i, ValueRange state) -> SmallVector<Value> {
    at.push_back(i);
    Value next = walk(k, dims, at, state[0], body);
    at.pop_back();
    return {next};
  })[0];
}

Value walkIndices(KernelBuilder &k, ArrayRef<AffineExpr> dims, Value init, function_ref<Value(ArrayRef<AffineExpr>, Value)> body) {
  IndexExprs at;
  return walk(k, dims, at, init, body);
}

} // namespace kiln
