//===- RecurrentGates.h - Recurrent layers that are cut by units ------------===//
//
// A rank computes some of the hidden units, for all gates. It has the columns of these units of the recurrent weights and of the input products, and gets
// the hidden states of the other units from the other ranks in each step.
//
// The columns of a gate lie behind those of the gate before it, [directions, gates, units]. They are put into the order [ranks, directions, gates, units of
// a rank], so that a rank's columns are a part like any other; the order is made in the constants that the input products come from.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_RANKS_RECURRENTGATES_H
#define KILN_PASSES_RANKS_RECURRENTGATES_H

#include "dialects/nn/NN.h"
#include "passes/ranks/Layouts.h"

#include <string>

namespace kiln {

/// What an operand of a layer is.
enum LayerRole { Gates, Recurrence, Hidden, Cell, Peephole, RecurrenceBias, Lengths, CountRoles };

/// What nn.rnn, nn.lstm and nn.gru have in common.
struct GatedLayer {
  mlir::Operation *op;
  /// Of each operand. The first three are those of all layers, and one value may have several roles.
  llvm::SmallVector<LayerRole> roles;
  unsigned gateCount;
  /// How often ranks exchange states in a step: a reset gate that comes before the product needs the other units, too.
  unsigned exchanges;
  mlir::ArrayAttr activations = {};
  /// Null without one.
  mlir::FloatAttr clip = {};
  bool isReverse = false, couplesInputForget = false;

  mlir::RankedTensorType getRecurrence() const { return mlir::cast<mlir::RankedTensorType>(op->getOperand(Recurrence).getType()); }
  int64_t countDirections() const { return getRecurrence().getDimSize(0); }
  int64_t countUnits() const { return getRecurrence().getDimSize(1); }
};

std::optional<GatedLayer> matchGatedLayer(mlir::Operation *op);

/// Makes a layer of one direction run in reverse.
void setReverse(mlir::Operation *layer);

/// The dimension of the recurrent weights that is cut for units, and for directions.
inline constexpr int unitDim = 2, directionDim = 0;

/// Why a layer cannot be cut into so many parts by units; empty if it can.
std::string findGateFault(const GatedLayer &layer, int64_t parts);

/// Brings the columns of a layer into the order of the ranks.
void orderGates(const GatedLayer &layer, int64_t parts);

/// The loop of one rank for a layer, whose operands it has as `parts`. Returns the results of the layer: all states and the last hidden state whole,
/// and the cells of the rank's units.
llvm::SmallVector<mlir::Value> buildGateLoop(mlir::OpBuilder &builder, const GatedLayer &layer, mlir::ValueRange parts, const Grid &grid, unsigned axis,
                                             int64_t rank, int64_t &collectives);

} // namespace kiln

#endif // KILN_PASSES_RANKS_RECURRENTGATES_H
