//===- LstmSteps.cpp - One direction of an LSTM as one kernel --------------===//
//
//   for each batch row, for each step:  [i o f c] = gates[t] + h R^T;  C = f C + i c;  h = o tanh(C)
//
// The units of the four gates go side by side: R is stored as [unit block][k][gate][lane], so one pass over h feeds all gates of a block.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Kernels.h"
#include "passes/lowering/RecurrentCell.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool matchLstmSteps(GroupOp, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  reason = "all steps in one kernel: gates fused, recurrent weights stored gate beside gate, batch rows in parallel";
  auto op = dyn_cast_or_null<LstmOp>(anchor);
  return op && knowsActivations(op.getActivations()) && getConstantDim(getDim(op.getRecurrence().getType(), 1));
}

namespace {
/// Results of the group: states, last hidden, last cell.
enum { States, Hidden, Cell };

struct Lstm {
  RecurrentCell &cell;
  mutable LstmOp op;

  Scalar gate(AffineExpr t, AffineExpr b, AffineExpr j, int64_t number, Lanes lanes) const {
    return cell.scalar(cell.k.value(op.getGates(), {t, b, j + number * cell.hidden}, lanes));
  }
  Scalar peephole(AffineExpr j, int64_t number, Lanes lanes) const {
    return cell.scalar(cell.k.value(op.getPeephole(), {j + number * cell.hidden}, lanes));
  }
  Scalar activate(unsigned which, const Scalar &x) const { return cell.activate(cast<StringAttr>(op.getActivations()[which]), x); }

  /// The new cell and hidden state of units [j, j + lanes), from the recurrent products of the four gates.
  void finish(AffineExpr t, AffineExpr b, AffineExpr j, ArrayRef<Value> products, Lanes lanes) const {
    KernelBuilder &k = cell.k;
    auto sum = [&](int64_t number) { return gate(t, b, j, number, lanes) + cell.scalar(products[number]); };
    Scalar old = cell.scalar(k.loadResult(Cell, {b, j}, lanes));
    auto with = [&](const Scalar &x, int64_t number, const Scalar &state) {
      return op.getPeephole() ? x + peephole(j, number, lanes) * state : x;
    };
    Scalar input = activate(0, cell.clip(with(sum(0), 0, old), op.getClip()));
    Scalar forget = op.getInputForget() ? input.like(1.0) - input : activate(0, cell.clip(with(sum(2), 2, old), op.getClip()));
    Scalar candidate = activate(1, cell.clip(sum(3), op.getClip()));
    Scalar next = forget * old + input * candidate;
    Scalar output = activate(0, cell.clip(with(sum(1), 1, next), op.getClip()));
    Scalar hidden = output * activate(2, next);
    k.store(Cell, next.value(), {b, j}, lanes);
    k.store(States, hidden.value(), {t, b, j}, lanes);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerLstmSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<LstmOp>(anchor);
  RecurrentCell cell(k, op.getRecurrence(), 4);
  Lstm lstm{cell, op};
  DimExprs gates = getDims(op.getGates().getType());
  k.taskLoop({gates[1]}, [&](ArrayRef<AffineExpr> task) {
    AffineExpr b = task[0];
    cell.copyUnits([&](AffineExpr j, Lanes lanes) {
      k.store(Hidden, k.value(op.getHidden(), {b, j}, lanes), {b, j}, lanes);
      k.store(Cell, k.value(op.getCell(), {b, j}, lanes), {b, j}, lanes);
    });
    cell.steps(gates[0], op.getReverse(), op.getLengths(), b, States, [&](AffineExpr t) {
      cell.eachBlock([&](AffineExpr j, Lanes lanes, unsigned) {
        SmallVector<Value> products = cell.products(j, lanes, {0, 1, 2, 3}, [&](AffineExpr i) { return k.loadResult(Hidden, {b, i}); });
        lstm.finish(t, b, j, products, lanes);
      });
      cell.copyUnits([&](AffineExpr j, Lanes lanes) { k.store(Hidden, k.loadResult(States, {t, b, j}, lanes), {b, j}, lanes); });
    });
  });
  AffineExpr flops = getNumElements(gates, k.context()) * (2 * cell.hidden);
  return LaunchInfo{gates[1], flops, gates[0] * (16 * cell.hidden * cell.hidden)};
}

} // namespace kiln
