//===- RowWalk.h - The passes of a kernel over one row ---------------------===//
//
// A composite along an axis reads each of its rows several times: once or more for statistics, such as a maximum and a sum, and at last for the results.
//
//   forEachRow(k, shape, [&](auto at, Lanes across) {
//     RowWalk row{k, input, element, accuracy, shape.length, k.vectorLanes(), at, across, wide};
//     Value total = row.reduce(ReduceKind::Sum, [&](AffineExpr j, Lanes lanes) { return row.first(j, lanes); });
//     row.each([&](AffineExpr j, Lanes lanes) {
//       Scalar y = row.scalar(row.load(j, lanes)) / row.spread(total, lanes.count);
//       k.storeResults(result, y.value(), at(j), lanes);
//     });
//   });
//
// What is computed before the composite, in its kernel's prologue, is computed by the first pass only, where the row has a place to wait: an array of
// the kernel, or else the result, if its elements are of the row's type.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_ROWS_ROWWALK_H
#define KILN_PASSES_LOWERING_ROWS_ROWWALK_H

#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/RowLoops.h"

namespace kiln {

/// One row, or `across.count` rows side by side: loops along it, values as scalars or vectors.
struct RowWalk {
  KernelBuilder &k;
  /// The operand whose rows these are.
  mlir::Value input;
  mlir::Type element;
  /// The accuracy of every exp.
  kernel::Accuracy accuracy;
  mlir::AffineExpr length;
  /// The lanes of a vector along the row; 0 if its elements are not neighbours, and vectors go across rows.
  unsigned lanes;
  /// The index of a place.
  llvm::function_ref<IndexExprs(mlir::AffineExpr)> at;
  Lanes across;
  /// The array in which the row waits between its passes; null: the result.
  mlir::Value wide;

  /// @name Loops
  /// `body` gets a place, and the vector or the scalar at it.
  /// @{
  /// Combines what the body gives for each place.
  mlir::Value reduce(nn::ReduceKind kind, llvm::function_ref<mlir::Value(mlir::AffineExpr, Lanes)> body) const;
  /// The same for `count` values at once, along the row only.
  llvm::SmallVector<mlir::Value> reduce(nn::ReduceKind kind, unsigned count,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::AffineExpr, Lanes)> body) const;
  void each(llvm::function_ref<void(mlir::AffineExpr, Lanes)> body) const;
  /// @}

  /// @name Values of the row
  /// @{
  /// Computes the input's value.
  mlir::Value read(mlir::AffineExpr j, Lanes lanes) const { return k.value(input, at(j), lanes); }
  /// The same in the first pass, which leaves it where the row waits, unless it costs nothing to read again.
  mlir::Value first(mlir::AffineExpr j, Lanes lanes) const;
  /// Returns an element that the first pass has left, and computes it again if that pass could not leave any.
  mlir::Value load(mlir::AffineExpr j, Lanes lanes) const { return keepsInput() ? get(j, lanes) : read(j, lanes); }
  /// Stores a value where the row waits, and loads it. Only if it can wait.
  void put(mlir::Value x, mlir::AffineExpr j, Lanes lanes) const;
  mlir::Value get(mlir::AffineExpr j, Lanes lanes) const;
  /// Whether it can wait anywhere.
  bool isKept() const { return wide || storesElements(k, element); }
  /// @}

  /// @name Arithmetic
  /// @{
  nn::Scalar scalar(mlir::Value value) const { return nn::Scalar(k.builder(), k.loc(), value, element, accuracy); }
  nn::Scalar spread(mlir::Value value, unsigned count) const { return scalar(k.broadcast(value, count)); }
  /// @}

private:
  /// An argument of the group is read straight from a buffer.
  bool keepsInput() const { return isKept() && (wide || !llvm::isa<mlir::BlockArgument>(input)); }
};

/// What a softmax's row is divided by, and what its elements were less before their exponentials were added.
struct RowExponentials {
  /// Null if a shift has been proven.
  mlir::Value maximum;
  nn::Scalar total;
};
/// Emits the passes of a softmax or log-softmax over its row, up to the sum. A softmax leaves the exponentials where the row waits.
RowExponentials emitExponentials(const RowWalk &row, mlir::Operation *softmax);
/// The exponential at a place, for rows that cannot wait, after emitExponentials.
nn::Scalar emitExponential(const RowWalk &row, mlir::Operation *softmax, mlir::Value maximum, mlir::AffineExpr j, Lanes lanes);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ROWS_ROWWALK_H
