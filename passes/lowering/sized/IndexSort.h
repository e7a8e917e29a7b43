//===- IndexSort.h - Sorting indices inside a kernel ------------------------===//
#ifndef KILN_PASSES_LOWERING_SIZED_INDEXSORT_H
#define KILN_PASSES_LOWERING_SIZED_INDEXSORT_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// An array of indices (i64) of the kernel's own, as index values.
struct IndexArray {
  KernelBuilder &k;
  mlir::Value buffer;

  mlir::Value load(mlir::Value place) const;
  void store(mlir::Value place, mlir::Value index) const;
};

/// Sorts the first `count` entries in place, in O(n log n) steps: `isBefore` says whether an entry stands before another one. Entries that
/// stand in no order come in any, so it should break ties.
void sortIndices(const IndexArray &array, mlir::Value count, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> isBefore);

/// Loops over all indices of `dims` in row-major order with one value carried round.
mlir::Value walkIndices(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Value init,
                        llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::AffineExpr>, mlir::Value)> body);

/// Arithmetic on index values.
/// @{
mlir::Value addIndex(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value subIndex(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value isLess(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value isEqual(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value choose(KernelBuilder &k, mlir::Value condition, mlir::Value x, mlir::Value y);
mlir::Value both(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value either(KernelBuilder &k, mlir::Value x, mlir::Value y);
/// @}

} // namespace kiln

#endif // KILN_PASSES_LOWERING_SIZED_INDEXSORT_H
