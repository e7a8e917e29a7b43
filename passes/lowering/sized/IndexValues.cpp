//===- IndexValues.cpp - Index values inside a kernel -----------------------===//
#include "passes/lowering/sized/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

Value addIndex(KernelBuilder &k, Value x, Value y) { return arith::AddIOp::create(k.builder(), k.loc(), x, y); }
Value isLess(KernelBuilder &k, Value x, Value y) { return arith::CmpIOp::create(k.builder(), k.loc(), arith::CmpIPredicate::slt, x, y); }
Value choose(KernelBuilder &k, Value condition, Value x, Value y) { return arith::SelectOp::create(k.builder(), k.loc(), condition, x, y); }

void IndexArray::store(Value place, Value index) const {
  Value stored = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), index);
  k.storeBuffer(buffer, k.builder().getI64Type(), k.index(place), stored);
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
