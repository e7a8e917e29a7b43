//===- RegisterRow.h - A softmax's row in registers ------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_REGISTERROW_H
#define KILN_PASSES_LOWERING_BUILDER_REGISTERROW_H

#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// Some neighbouring columns of a row: one, or a vector of them.
struct RowPiece {
  mlir::AffineExpr column;
  Lanes lanes;
  mlir::Value value;
};

/// The pieces that `length` columns from `first` on are cut into: vectors of `lanes`, then of smaller powers of two down to four, then single ones.
/// They have no values yet.
llvm::SmallVector<RowPiece> cutRow(KernelBuilder &k, mlir::AffineExpr first, int64_t length, unsigned lanes);
/// How many that are.
int64_t countPieces(int64_t length, unsigned lanes);

/// Pieces of one row of a softmax or log-softmax.
struct RegisterRow {
  KernelBuilder &k;
  /// The softmax.
  mlir::Operation *anchor;
  llvm::SmallVector<RowPiece> pieces;

  nn::Scalar scalar(mlir::Value value) const;
  /// A scalar in each lane of a piece.
  nn::Scalar spread(mlir::Value value, const RowPiece &piece) const { return scalar(k.broadcast(value, piece.lanes.count)); }
  /// All values as one. Pieces of one size meet in pairs, then sizes. A maximum may pass over a NaN: the sum finds it.
  mlir::Value combine(nn::ReduceKind kind) const;
  /// Takes the pieces for the whole row, and stores what becomes of it. `at` gives the index of a column.
  void finish(llvm::function_ref<IndexExprs(mlir::AffineExpr)> at);

private:
  void store(llvm::function_ref<IndexExprs(mlir::AffineExpr)> at);
};

/// x less a shift that has been proven.
nn::Scalar subtractShift(nn::Scalar x, double shift);
/// exp, without its limits where a proof of nn-prove-shortcuts says that it is a normal number.
nn::Scalar shiftedExp(nn::Scalar x, bool isProven);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_REGISTERROW_H
