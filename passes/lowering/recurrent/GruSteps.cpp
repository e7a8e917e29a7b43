//===- GruSteps.cpp - The steps of a GRU as one kernel ---------------------===//
//
//   for each step:  z, r = f(gates[t] + h R);  c = g(gates_h[t] + (r h) R_h + b)  or, with linear_before_reset,
//                                              c = g(gates_h[t] + r (h R_h + b));  h = (1 - z) c + z h
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNRecurrentOps.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/recurrent/RecurrentCell.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// Order of the gates.
enum { Update, Reset, Candidate };

struct Gru {
  RecurrentCell &cell;
  mutable GruOp op;

  Scalar bias(const RowTile &tile, const Scalar &x, AffineExpr j, Lanes lanes) const {
    return op.getRecurrenceBias() ? x + cell.scalar(cell.k.value(op.getRecurrenceBias(), {tile.direction, j}, lanes)) : x;
  }
  Scalar gateOf(const RowTile &tile, unsigned row, int64_t number, AffineExpr j, Lanes lanes, Value product) const {
    return cell.activate(0, cell.gate(tile, row, number, j, lanes) + cell.scalar(product));
  }
  void finish(const RowTile &tile, unsigned row, AffineExpr j, Lanes lanes, const Scalar &update, const Scalar &candidate) const {
    Scalar old = cell.scalar(cell.hiddenAt(tile, row, j, lanes)), fresh = cell.activate(1, candidate);
    cell.setHidden(row, j, ((update.like(1.0) - update) * fresh + update * old).value(), lanes);
  }

  void linearStep(const RowTile &tile) const {
    auto units = [&](unsigned row, AffineExpr j, Lanes lanes, ArrayRef<Value> sums) {
      Scalar update = gateOf(tile, row, Update, j, lanes, sums[Update]), reset = gateOf(tile, row, Reset, j, lanes, sums[Reset]);
      Scalar product = bias(tile, cell.scalar(sums[Candidate]), j, lanes);
      finish(tile, row, j, lanes, update, cell.gate(tile, row, Candidate, j, lanes) + reset * product);
    };
    cell.eachUnit(tile, {Update, Reset, Candidate}, [&](unsigned row, AffineExpr i) { return cell.hiddenAt(tile, row, i); }, units);
  }
  /// The candidate needs r * h of all units, so the gates come first; update gates and r * h wait on the stack.
  void resetStep(const RowTile &tile, Value updates, Value resets) const {
    KernelBuilder &k = cell.k;
    auto gates = [&](unsigned row, AffineExpr j, Lanes lanes, ArrayRef<Value> sums) {
      Scalar update = gateOf(tile, row, Update, j, lanes, sums[0]), reset = gateOf(tile, row, Reset, j, lanes, sums[1]);
      Scalar scaled = reset * cell.scalar(cell.hiddenAt(tile, row, j, lanes));
      k.storeBuffer(updates, cell.element, cell.scratchAt(row, j), update.value(), lanes);
      k.storeBuffer(resets, cell.element, cell.scratchAt(row, j), scaled.value(), lanes);
    };
    auto candidates = [&](unsigned row, AffineExpr j, Lanes lanes, ArrayRef<Value> sums) {
      Scalar candidate = cell.gate(tile, row, Candidate, j, lanes) + bias(tile, cell.scalar(sums[0]), j, lanes);
      finish(tile, row, j, lanes, cell.scalar(k.loadBuffer(updates, cell.element, cell.scratchAt(row, j), lanes)), candidate);
    };
    cell.eachUnit(tile, {Update, Reset}, [&](unsigned row, AffineExpr i) { return cell.hiddenAt(tile, row, i); }, gates);
    cell.eachUnit(tile, {Candidate}, [&](unsigned row, AffineExpr i) { return k.loadBuffer(resets, cell.element, cell.scratchAt(row, i)); }, candidates);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerGruSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<GruOp>(anchor);
  bool linear = op.getLinearBeforeReset();
  RecurrentCell cell(k, RecurrentLayer(op, 3, !linear));
  Gru gru{cell, op};
  Value updates = linear ? Value() : cell.makeScratch("updates"), resets = linear ? Value() : cell.makeScratch("resets");
  return cell.run([](const RowTile &) {}, [&](const RowTile &tile) { linear ? gru.linearStep(tile) : gru.resetStep(tile, updates, resets); });
}

} // namespace kiln
