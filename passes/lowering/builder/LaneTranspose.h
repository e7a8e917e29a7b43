//===- LaneTranspose.h - A square block of elements in registers -----------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_LANETRANSPOSE_H
#define KILN_PASSES_LOWERING_BUILDER_LANETRANSPOSE_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// Lane l of `a` and `b` where l lacks `bit` beside those where it has it: {a0, b0, a2, b2, ...} and {a1, b1, a3, b3, ...} for bit 1.
std::pair<mlir::Value, mlir::Value> exchangeLanes(KernelBuilder &k, mlir::Value a, mlir::Value b, int64_t bit);

/// What `move` makes of vectors whose lanes it only moves; values that were widened when they were loaded move as they lie in memory.
llvm::SmallVector<mlir::Value> moveLanes(KernelBuilder &k, llvm::ArrayRef<mlir::Value> vectors,
                                         llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::Value>)> move);

/// The columns of as many vectors as each has lanes (a power of two).
llvm::SmallVector<mlir::Value> transposeLanes(KernelBuilder &k, llvm::ArrayRef<mlir::Value> rows);

/// The sums of as many vectors of floats as each has lanes (a power of two), as one vector.
mlir::Value sumEachVector(KernelBuilder &k, llvm::SmallVector<mlir::Value> vectors);

/// As many vectors that have the elements of the rows (2, 4 or 8 of them) in turn.
llvm::SmallVector<mlir::Value> interleaveRows(KernelBuilder &k, llvm::ArrayRef<mlir::Value> rows);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_LANETRANSPOSE_H
