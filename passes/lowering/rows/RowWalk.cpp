//===- RowWalk.cpp - The passes of a kernel over one row -------------------===//
#include "passes/lowering/rows/RowWalk.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/Shortcuts.h"
#include "passes/lowering/builder/RegisterRow.h"

using namespace mlir;

namespace kiln {

using namespace nn;

Value RowWalk::reduce(ReduceKind kind, function_ref<Value(AffineExpr, Lanes)> body) const {
  if (lanes)
    return reduceRow(k, kind, element, length, lanes, body);
  Value init = reductionIdentity(k, kind, element, across.count);
  return k.loop(k.constant(0), length, 1, "j", init, [&](AffineExpr j, ValueRange carried) -> SmallVector<Value> {
    return {combine(k, kind, element, carried.front(), body(j, across))};
  }).front();
}

SmallVector<Value> RowWalk::reduce(ReduceKind kind, unsigned count, function_ref<SmallVector<Value>(AffineExpr, Lanes)> body) const {
  return reduceRow(k, kind, element, length, lanes, count, body);
}

void RowWalk::each(function_ref<void(AffineExpr, Lanes)> body) const {
  if (lanes)
    return k.vectorLoop(length, lanes, "i", body);
  k.loop(k.constant(0), length, 1, "j", [&](AffineExpr j) { body(j, across); });
}

Value RowWalk::first(AffineExpr j, Lanes lanes) const {
  Value x = read(j, lanes);
  if (keepsInput())
    put(x, j, lanes);
  return x;
}

void RowWalk::put(Value x, AffineExpr j, Lanes lanes) const {
  if (wide)
    return k.storeBuffer(wide, element, j, x, lanes);
  k.store(0, x, at(j), lanes);
}

Value RowWalk::get(AffineExpr j, Lanes lanes) const { return wide ? k.loadBuffer(wide, element, j, lanes) : k.loadResult(0, at(j), lanes); }

//===- Softmax -------------------------------------------------------------===//

Scalar emitExponential(const RowWalk &row, Operation *softmax, Value maximum, AffineExpr j, Lanes lanes) {
  auto shift = getProvenShift(softmax);
  // With a shift, there was no pass before this one.
  Scalar x = row.scalar(shift ? row.read(j, lanes) : row.load(j, lanes));
  Scalar y = shiftedExp(shift ? subtractShift(x, *shift) : x - row.spread(maximum, lanes.count), shift.has_value());
  return row.scalar(row.k.named(y.value(), "e"));
}

RowExponentials emitExponentials(const RowWalk &row, Operation *softmax) {
  KernelBuilder &k = row.k;
  bool isLog = isa<LogSoftmaxOp>(softmax);
  Value maximum;
  if (!getProvenShift(softmax))
    maximum = k.named(row.reduce(ReduceKind::Max, [&](AffineExpr j, Lanes lanes) { return row.first(j, lanes); }), "maximum");
  Value sum = row.reduce(ReduceKind::Sum, [&](AffineExpr j, Lanes lanes) {
    Value y = emitExponential(row, softmax, maximum, j, lanes).value();
    if (!isLog && row.isKept())
      row.put(y, j, lanes);
    return y;
  });
  return {maximum, row.scalar(k.named(sum, "total"))};
}

} // namespace kiln
