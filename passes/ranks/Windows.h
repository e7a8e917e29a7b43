//===- Windows.h - Convolutions and pools whose images are cut ---------------===//
#ifndef KILN_PASSES_RANKS_WINDOWS_H
#define KILN_PASSES_RANKS_WINDOWS_H

#include "dialects/nn/NN.h"
#include "passes/ranks/Layouts.h"

namespace kiln {

/// How an operation with windows is cut along a spatial dimension: every part of the result needs a part of the operand, and some rows of its neighbours'.
struct WindowCut {
  /// The dimension of operand and result, and its place among the spatial dimensions.
  unsigned dim, spatial;
  /// Rows that are needed of the part before and of the part behind.
  int64_t before, after;
};

/// Whether findWindowCut knows the operation.
bool hasWindows(mlir::Operation *op);

/// The cut along dimension `dim` of the first operand into `parts`; nothing if the rows of the operand and of the result do not go together so.
/// The sizes are those before the cut.
std::optional<WindowCut> findWindowCut(mlir::Operation *op, unsigned dim, int64_t size, int64_t resultSize, int64_t parts);

/// The rows that a part of `op` reads: those of `part`, with its neighbours' before and behind them. `collectives` counts what has been built.
mlir::Value addNeighbours(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value part, const WindowCut &cut, const Grid &grid, unsigned axis, int64_t rank,
                          int64_t &collectives);

/// The same of a value of which the rank has all rows.
mlir::Value takeRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, const WindowCut &cut, int64_t parts, int64_t index);

/// Leaves the padding only where the part of the rank ends as the image does.
void cutPadding(mlir::Operation *op, const WindowCut &cut, int64_t parts, int64_t index);

} // namespace kiln

#endif // KILN_PASSES_RANKS_WINDOWS_H
