//===- IndexValues.h - Index values inside a kernel -------------------------===//
#ifndef KILN_PASSES_LOWERING_SIZED_INDEXVALUES_H
#define KILN_PASSES_LOWERING_SIZED_INDEXVALUES_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// An array of indices (i64) of the kernel's own, as index values.
struct IndexArray {
  KernelBuilder &k;
  mlir::Value buffer;

  void store(mlir::Value place, mlir::Value index) const;
};

/// Loops over all indices of `dims` in row-major order with one value carried round.
mlir::Value walkIndices(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Value init,
                        llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::AffineExpr>, mlir::Value)> body);

/// Arithmetic on index values.
/// @{
mlir::Value addIndex(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value isLess(KernelBuilder &k, mlir::Value x, mlir::Value y);
mlir::Value choose(KernelBuilder &k, mlir::Value condition, mlir::Value x, mlir::Value y);
/// @}

} // namespace kiln

#endif // KILN_PASSES_LOWERING_SIZED_INDEXVALUES_H
