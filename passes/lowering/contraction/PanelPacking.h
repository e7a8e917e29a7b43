//===- PanelPacking.h - Panels of bytes that a kernel makes ----------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_PANELPACKING_H
#define KILN_PASSES_LOWERING_CONTRACTION_PANELPACKING_H

#include "passes/lowering/contraction/ContractionTile.h"

namespace kiln {

/// A part of a right side of bytes: `length` of its rows.
struct ByteRows {
  mlir::Value buffer;
  /// Its first element, and how far apart rows and columns lie.
  mlir::AffineExpr from, rowStride, columnStride;
  mlir::AffineExpr length;
  /// Whether the length is a multiple of four.
  bool areFours;
  /// Columns that exist from the first one on; `isWhole`: never fewer than the panel has.
  mlir::AffineExpr columns;
  bool isWhole;
};

/// Stores the first columns of such rows in a panel [row / 4, column, row % 4], with zeros for rows that are missing in the last four. Columns that do not
/// exist stay as they are.
void packQuads(KernelBuilder &k, const ByteRows &rows, mlir::Value panel, TileShape tile);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_PANELPACKING_H
