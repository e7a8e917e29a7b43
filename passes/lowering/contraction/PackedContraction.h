//===- PackedContraction.h - Products whose right side is packed by the kernel ===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_PACKEDCONTRACTION_H
#define KILN_PASSES_LOWERING_CONTRACTION_PACKEDCONTRACTION_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// A constant right side of fewer bits, which tasks make f32 as they go.
struct UnpackedSide {
  /// Elements of the sum that are unpacked at a time.
  int64_t length;
  /// The sums of a part, whose first element is `start`, for the columns from `column` on and rows that begin at `lhs` and the offsets from there. Stores the
  /// part in a panel of the tile's columns on the way.
  std::function<llvm::SmallVector<mlir::Value>(mlir::Value panel, mlir::AffineExpr column, mlir::AffineExpr start, mlir::AffineExpr length,
                                               mlir::AffineExpr lhs, llvm::ArrayRef<mlir::AffineExpr> offsets)>
      unpack;
  /// Where a part begins in a row of the left side, and how its elements lie there and in the panel.
  std::function<mlir::AffineExpr(mlir::AffineExpr start)> lhsOffset;
  std::function<llvm::SmallVector<ReductionLoop>(mlir::AffineExpr length)> reduction;
  /// The sums of rows that begin at `lhs` and the offsets from there, without a panel: for few rows, where only run time knows how many.
  std::function<llvm::SmallVector<mlir::Value>(mlir::AffineExpr lhs, llvm::ArrayRef<mlir::AffineExpr> offsets, mlir::AffineExpr column, Panel panel)>
      sumInPlace;
  /// Which rows go without a panel: up to `ofOneTile` of them are a tile, up to `most` are cut evenly into tiles of at most `ofEach`.
  struct RowsInPlace {
    int64_t ofOneTile, ofEach, most;
  };
  /// More rows are cut evenly into blocks then. Null: rows that are fewer than those of a block go without a panel, by fours and ones.
  std::optional<RowsInPlace> rowsInPlace = std::nullopt;
};

/// Writes a contraction whose right side is computed, or constant in another form: each task packs its columns before it multiplies.
LaunchInfo lowerPackedContraction(KernelBuilder &k, const Contraction &contraction, const UnpackedSide *side = nullptr);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_PACKEDCONTRACTION_H
