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
void scanTopK(KernelBuilder &k, nn::TopKOp op, LineIndex at, LineValue read);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_ROWS_AXISSCANS_H
