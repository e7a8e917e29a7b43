//===- LstmSteps.cpp - The steps of an LSTM as one kernel ------------------===//
//
//   for each step:  [i o f c] = gates[t] + h R;  C = f C + i c;  h = o tanh(C)
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNRecurrentOps.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/recurrent/RecurrentCell.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// Results of the group: states, last hidden, last cell.
enum { States, Hidden, Cell };
/// Order of the gates.
enum { In, Out, Forget, Candidate };

struct Lstm {
  RecurrentCell &cell;
  mutable LstmOp op;

  Scalar peephole(const RowTile &tile, const Scalar &x, int64_t number, AffineExpr j, Lanes lanes, const Scalar &state) const {
    if (!op.getPeephole())
      return x;
    return x + cell.scalar(cell.k.value(op.getPeephole(), {tile.direction, j + number * cell.hidden}, lanes)) * state;
  }

  /// The new cell and hidden state of units [j, j + lanes), from the recurrent products of the four gates.
  void finish(const RowTile &tile, unsigned row, AffineExpr j, Lanes lanes, ArrayRef<Value> products) const {
    IndexExprs at{tile.direction, tile.rows[row], j};
    auto sum = [&](int64_t number) { return cell.gate(tile, row, number, j, lanes) + cell.scalar(products[number]); };
    Scalar old = cell.scalar(cell.k.loadResult(Cell, at, lanes));
    Scalar input = cell.activate(0, peephole(tile, sum(In), 0, j, lanes, old));
    Scalar forget = op.getInputForget() ? input.like(1.0) - input : cell.activate(0, peephole(tile, sum(Forget), 2, j, lanes, old));
    Scalar candidate = cell.activate(1, sum(Candidate));
    Scalar next = forget * old + input * candidate;
    Scalar output = cell.activate(0, peephole(tile, sum(Out), 1, j, lanes, next));
    Scalar hidden = output * cell.activateUnclipped(2, next);
    cell.k.store(Cell, cell.keepInactive(tile, row, next.value(), old.value()), at, lanes);
    cell.setHidden(row, j, hidden.value(), lanes);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerLstmSteps(KernelBuilder &k, Operation *anchor) {
  auto op = cast<LstmOp>(anchor);
  RecurrentCell cell(k, RecurrentLayer(op, 4));
  Lstm lstm{cell, op};
  auto start = [&](const RowTile &tile) {
    cell.copyUnits([&](AffineExpr j, Lanes lanes) {
      for (AffineExpr row : tile.rows)
        k.store(Cell, k.value(op.getCell(), {tile.direction, row, j}, lanes), {tile.direction, row, j}, lanes);
    });
  };
  return cell.run(start, [&](const RowTile &tile) {
    cell.eachUnit(tile, {In, Out, Forget, Candidate}, [&](unsigned row, AffineExpr i) { return cell.hiddenAt(tile, row, i); },
                  [&](unsigned row, AffineExpr j, Lanes lanes, ArrayRef<Value> products) { lstm.finish(tile, row, j, lanes, products); });
  });
}

} // namespace kiln
