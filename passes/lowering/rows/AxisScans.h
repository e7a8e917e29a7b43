//===- AxisScans.h - Kernels that walk one axis in order -------------------===//
#ifndef KILN_PASSES_LOWERING_ROWS_AXISSCANS_H
#define KILN_PASSES_LOWERING_ROWS_AXISSCANS_H

#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// The index of a place on the line, and its value, which is asked for once.
using LineIndex = llvm::function_ref<IndexExprs(mlir::AffineExpr)>;
using LineValue = llvm::function_ref<mlir::Value(mlir::AffineExpr)>;

/// All dimensions but the axis as tasks; body(at) where at(j) is the full index of place j. Returns the tasks' extents.
IndexExprs forEachLine(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, unsigned axis, llvm::function_ref<void(LineIndex)> body);

/// Stores the results of one line.
void scanBest(KernelBuilder &k, nn::ArgReduceOp op, LineIndex at, LineValue read);

/// The k best of rows that a kernel computes, by the runtime.
class TopKRow {
public:
  /// Takes the kernel's scratch memory.
  TopKRow(KernelBuilder &k, nn::TopKOp op);
  /// Stores the results of line `line`. The row lies in an array of the kernel's own.
  void emit(mlir::Value row, mlir::AffineExpr line) const;

private:
  KernelBuilder &k;
  /// A handle: const methods of operations do not exist.
  mutable nn::TopKOp op;
  mlir::Value scratch;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ROWS_AXISSCANS_H
