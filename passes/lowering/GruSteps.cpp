//===- GruSteps.cpp - One direction of a GRU as one kernel -----------------===//
//
//   for each batch row, for each step:  z, r = f(gates[t] + h R^T);  c = g(gates_h[t] + (r h) R_h^T + b)  or, with linear_before_reset,
//                                       c = g(gates_h[t] + r (h R_h^T + b));  h = (1 - z) c + z h
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Kernels.h"
#include "passes/lowering/RecurrentCell.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool matchGruSteps(GroupOp, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  reason = "all steps in one kernel: gates fused, recurrent weights stored gate beside gate, batch rows in parallel";
  auto op = dyn_cast_or_null<GruOp>(anchor);
  return op && knowsActivations(op.getActivations()) && getConstantDim(getDim(op.getRecurrence().getType(), 1));
}

namespace {
/// Results of the group: states, last hidden.
enum { States, Hidden };

struct Gru {
  RecurrentCell &cell;
  mutable GruOp op;
  Type element;

  Scalar gate(AffineExpr t, AffineExpr b, AffineExpr j, int64_t number, Lanes lanes) const {
    return cell.scalar(cell.k.value(op.getGates(), {t, b, j + number * cell.hidden}, lanes));
  }
  Scalar activate(unsigned which, const Scalar &x) const { return cell.activate(cast<StringAttr>(op.getActivations()[which]), x); }
  Scalar bias(const Scalar &x, AffineExpr j, Lanes lanes) const {
    return op.getRecurrenceBias() ? x + cell.scalar(cell.k.value(op.getRecurrenceBias(), {j}, lanes)) : x;
  }
  void finish(AffineExpr t, AffineExpr b, AffineExpr j, const Scalar &update, const Scalar &candidate, Lanes lanes) const {
    Scalar old = cell.scalar(cell.k.loadResult(Hidden, {b, j}, lanes));
    Scalar next = (update.like(1.0) - update) * candidate + update * old;
    cell.k.store(States, next.value(), {t, b, j}, lanes);
  }
  Value hiddenAt(AffineExpr b, AffineExpr i) const { return cell.k.loadResult(Hidden, {b, i}); }

  void linearStep(AffineExpr t, AffineExpr b) const {
    cell.eachBlock([&](AffineExpr j, Lanes lanes, unsigned) {
      SmallVector<Value> sums = cell.products(j, lanes, {0, 1, 2}, [&](AffineExpr i) { return hiddenAt(b, i); });
      Scalar update = activate(0, cell.clip(gate(t, b, j, 0, lanes) + cell.scalar(sums[0]), op.getClip()));
      Scalar reset = activate(0, cell.clip(gate(t, b, j, 1, lanes) + cell.scalar(sums[1]), op.getClip()));
      Scalar candidate = gate(t, b, j, 2, lanes) + reset * bias(cell.scalar(sums[2]), j, lanes);
      finish(t, b, j, update, activate(1, cell.clip(candidate, op.getClip())), lanes);
    });
  }
  /// The candidate needs r * h of all units, so the gates come first; update gates and r * h wait on the stack.
  void resetStep(AffineExpr t, AffineExpr b, Value updates, Value resets) const {
    KernelBuilder &k = cell.k;
    cell.eachBlock([&](AffineExpr j, Lanes lanes, unsigned) {
      SmallVector<Value> sums = cell.products(j, lanes, {0, 1}, [&](AffineExpr i) { return hiddenAt(b, i); });
      Scalar update = activate(0, cell.clip(gate(t, b, j, 0, lanes) + cell.scalar(sums[0]), op.getClip()));
      Scalar reset = activate(0, cell.clip(gate(t, b, j, 1, lanes) + cell.scalar(sums[1]), op.getClip()));
      Scalar scaled = reset * cell.scalar(k.loadResult(Hidden, {b, j}, lanes));
      k.storeBuffer(updates, element, j, update.value(), lanes);
      k.storeBuffer(resets, element, j, scaled.value(), lanes);
    });
    cell.eachBlock([&](AffineExpr j, Lanes lanes, unsigned) {
      SmallVector<Value> sums = cell.products(j, lanes, {2}, [&](AffineExpr i) { return k.loadBuffer(resets, element, i); });
      Scalar candidate = gate(t, b, j, 2, lanes) + bias(cell.scalar(sums[0]), j, lanes);
      Scalar update = cell.scalar(k.loadBuffer(updates, element, j, lanes));
      finish(t, b, j, update, activate(1, cell.clip(candidate, op.getClip())), lanes);
    });
  }
};
} // namespace

FailureOr<LaunchInfo> lowerGruSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<GruOp>(anchor);
  RecurrentCell cell(k, op.getRecurrence(), 3);
  Gru gru{cell, op, getElementTypeOrSelf(op.getGates().getType())};
  DimExprs gates = getDims(op.getGates().getType());
  auto scratch = [&] { return memref::AllocaOp::create(k.builder(), k.loc(), MemRefType::get({cell.hidden}, gru.element)).getResult(); };
  bool linear = op.getLinearBeforeReset();
  Value updates = linear ? Value() : scratch(), resets = linear ? Value() : scratch();
  k.taskLoop({gates[1]}, [&](ArrayRef<AffineExpr> task) {
    AffineExpr b = task[0];
    cell.copyUnits([&](AffineExpr j, Lanes lanes) { k.store(Hidden, k.value(op.getHidden(), {b, j}, lanes), {b, j}, lanes); });
    cell.steps(gates[0], op.getReverse(), op.getLengths(), b, States, [&](AffineExpr t) {
      linear ? gru.linearStep(t, b) : gru.resetStep(t, b, updates, resets);
      cell.copyUnits([&](AffineExpr j, Lanes lanes) { k.store(Hidden, k.loadResult(States, {t, b, j}, lanes), {b, j}, lanes); });
    });
  });
  AffineExpr flops = getNumElements(gates, k.context()) * (2 * cell.hidden);
  return LaunchInfo{gates[1], flops, gates[0] * (12 * cell.hidden * cell.hidden)};
}

} // namespace kiln
