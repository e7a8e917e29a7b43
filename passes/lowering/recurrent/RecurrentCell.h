//===- RecurrentCell.h - What the recurrent kernels share ------------------===//
#ifndef KILN_PASSES_LOWERING_RECURRENT_RECURRENTCELL_H
#define KILN_PASSES_LOWERING_RECURRENT_RECURRENTCELL_H

#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

/// What keeps a layer with these activations and recurrent weights from being computed by such kernels; empty when nothing does.
std::string findCellFault(mlir::ArrayAttr activations, mlir::Type recurrence);

/// The operands that nn.rnn, nn.lstm and nn.gru have in common. The group's first results are all states, then the last hidden state.
struct RecurrentLayer {
  template <typename Op>
  RecurrentLayer(Op op, int64_t gateCount, bool gatesApart = false)
      : gates(op.getGates()), recurrence(op.getRecurrence()), hidden(op.getHidden()), lengths(op.getLengths()), clip(op.getClip()),
        activations(op.getActivations()), reverse(op.getReverse()), gatesApart(gatesApart), gateCount(gateCount) {}

  mlir::Value gates, recurrence, hidden, lengths;
  std::optional<llvm::APFloat> clip;
  mlir::ArrayAttr activations;
  bool reverse;
  /// Whether the gates' products are taken at different times, so that each gate's weights are stored by themselves.
  bool gatesApart;
  int64_t gateCount;
};

/// Whether the recurrent weights of the group's layer are stored gate beside gate, for vectors of so many lanes.
bool packsRecurrence(nn::GroupOp group, const RecurrentLayer &layer, int64_t lanes);

/// The numbers of the group's layer: its tile is rows of the batch, which go through the steps together, by units.
PlanNumbers planCell(nn::GroupOp group, const RecurrentLayer &layer, kernel::TargetAttr target);

/// Rows of the batch that walk through the steps together in one direction.
struct RowTile {
  mlir::AffineExpr direction;
  llvm::SmallVector<mlir::AffineExpr> rows;
  /// Where each row's hidden state begins in its buffer.
  llvm::SmallVector<mlir::AffineExpr> hidden;
  /// Of the current step: the time that each row reads, and the time it writes.
  llvm::SmallVector<mlir::AffineExpr> times, targets;
  /// Whether a row is still within its length; empty when all are.
  llvm::SmallVector<mlir::Value> active;
  /// 0 and 1 by turns.
  mlir::Value parity;
};

/// Walks the steps of a recurrent layer and multiplies the hidden state by the recurrence.
class RecurrentCell {
public:
  /// Gives out the value of element i of what row `row` of a tile is multiplied with.
  using State = llvm::function_ref<mlir::Value(unsigned row, mlir::AffineExpr i)>;
  /// Takes the products of units [j, j + lanes) of one row, one for each wanted gate.
  using Finish = llvm::function_ref<void(unsigned row, mlir::AffineExpr j, Lanes lanes, llvm::ArrayRef<mlir::Value> products)>;

  RecurrentCell(KernelBuilder &k, const RecurrentLayer &layer);

  /// The whole kernel: tasks are a direction and a tile of rows. `start` prepares a tile (the hidden state is set), `step` computes one step and
  /// puts the new hidden state by `setHidden`.
  LaunchInfo run(llvm::function_ref<void(const RowTile &)> start, llvm::function_ref<void(const RowTile &)> step);

  /// finish(...) for all units, with sum over i of state(i) * R[i, gate * hidden + j] for the wanted gates, in their order.
  void eachUnit(const RowTile &tile, llvm::ArrayRef<int64_t> wanted, State state, Finish finish) const;
  /// body(j, lanes) over all units, for copies.
  void copyUnits(llvm::function_ref<void(mlir::AffineExpr, Lanes)> body) const;

  nn::Scalar scalar(mlir::Value value) const { return nn::Scalar(k.builder(), k.loc(), value, element); }
  /// The input product of a gate.
  nn::Scalar gate(const RowTile &tile, unsigned row, int64_t number, mlir::AffineExpr j, Lanes lanes) const;
  /// Activation f, g or h of the standard, with the standard's default parameters, on the clipped value.
  nn::Scalar activate(unsigned which, const nn::Scalar &x) const;
  nn::Scalar activateUnclipped(unsigned which, const nn::Scalar &x) const;
  /// The hidden state before this step.
  mlir::Value hiddenAt(const RowTile &tile, unsigned row, mlir::AffineExpr i, Lanes lanes = {}) const;
  void setHidden(unsigned row, mlir::AffineExpr j, mlir::Value value, Lanes lanes) const;
  /// `next`, or `old` when the row is beyond its length.
  mlir::Value keepInactive(const RowTile &tile, unsigned row, mlir::Value next, mlir::Value old) const;

  /// A buffer on the stack with one element for each unit of each row of a tile.
  mlir::Value makeScratch(llvm::StringRef name) const;
  mlir::AffineExpr scratchAt(unsigned row, mlir::AffineExpr j) const { return j + row * hidden; }

  KernelBuilder &k;
  RecurrentLayer layer;
  int64_t directions, hidden;
  mlir::Type element;

private:
  void packRecurrence();
  mlir::Value weight(const RowTile &tile, mlir::AffineExpr j, mlir::AffineExpr i, int64_t gate, Lanes lanes) const;
  llvm::SmallVector<mlir::Value> products(const RowTile &tile, mlir::AffineExpr j, Lanes lanes, llvm::ArrayRef<int64_t> wanted, State state) const;
  void walk(mlir::AffineExpr direction, mlir::AffineExpr first, unsigned count, llvm::function_ref<void(const RowTile &)> start,
            llvm::function_ref<void(const RowTile &)> step);
  void setTimes(RowTile &tile, mlir::Value backwards, mlir::AffineExpr step, llvm::ArrayRef<mlir::Value> lengths) const;
  void commit(const RowTile &tile) const;

  mlir::AffineExpr steps, batch;
  unsigned lanes, tileRows;
  bool packed;
  mlir::Value next;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_RECURRENT_RECURRENTCELL_H
