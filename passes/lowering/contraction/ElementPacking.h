//===- ElementPacking.h - Panels of elements that a kernel makes -----------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_ELEMENTPACKING_H
#define KILN_PASSES_LOWERING_CONTRACTION_ELEMENTPACKING_H

#include "passes/lowering/contraction/ContractionTile.h"

namespace kiln {

/// A part of a right side whose elements are computed with one by one: `length` of its rows.
struct ElementRows {
  mlir::Value buffer;
  /// The type of elements in the panel.
  mlir::Type element;
  /// Its first element, and how far apart rows and columns lie.
  mlir::AffineExpr from, rowStride, columnStride;
  mlir::AffineExpr length;
  /// Columns that exist from the first one on. They are whole vectors, or never fewer than the panel has.
  mlir::AffineExpr columns;
  bool areVectors, areWhole;
};

/// Stores the first columns of such rows in a panel [row, column]. The products of columns that do not exist are read by nobody.
void packElements(KernelBuilder &k, const ElementRows &rows, mlir::Value panel, TileShape tile);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_ELEMENTPACKING_H
