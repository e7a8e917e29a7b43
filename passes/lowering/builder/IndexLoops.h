//===- IndexLoops.h - Loops over a block of an index space -----------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_INDEXLOOPS_H
#define KILN_PASSES_LOWERING_BUILDER_INDEXLOOPS_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

using IndexBody = llvm::function_ref<void(llvm::ArrayRef<mlir::AffineExpr> at, Lanes lanes)>;

/// `dims` with the dimensions outside [first, last) set to one: the part of an index space that one nest of loops covers.
IndexExprs keepDims(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, unsigned first, unsigned last);

/// Loops over all indices of `dims`, the innermost in vectors. Neighbouring dimensions become one loop where all reads of `tensors` go on
/// evenly; the index that `body` gets then has the whole offset in the last dimension of a run. A body that computes with wider elements than the
/// group has says how many lanes it takes at most.
void forEachIndex(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<mlir::Value> tensors, IndexBody body,
                  unsigned mostLanes = std::numeric_limits<unsigned>::max());

/// The same without vectors, one dimension a loop, so that every coordinate is exact.
void forEachElement(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, IndexBody body);

/// body(first, count) for pieces of [0, extent), at most `most` long and as even as possible.
void forEvenPieces(KernelBuilder &k, int64_t extent, int64_t most, llvm::function_ref<void(mlir::AffineExpr first, unsigned count)> body);

/// Splits the kernel's tasks over the indices of `dims` and returns their number.
mlir::AffineExpr forEachTask(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<mlir::Value> tensors,
                             llvm::function_ref<void(llvm::ArrayRef<mlir::AffineExpr> at)> body);

/// Everything that the group's results and `inputs` read: what loops may merge by.
llvm::SmallVector<mlir::Value> mergedReads(KernelBuilder &k, llvm::ArrayRef<mlir::Value> inputs);

/// An index that the model computes: negative ones count from the end of `extent`. Out of bounds, the kernel's status is set and `body` is
/// left out.
struct CheckedIndices {
  KernelBuilder &k;
  mlir::Value inBounds;

  explicit CheckedIndices(KernelBuilder &k) : k(k) {}
  mlir::AffineExpr add(mlir::Value index, mlir::AffineExpr extent);
  void ifInBounds(llvm::function_ref<void()> body);
  /// The place itself, or the first one and the status set.
  mlir::AffineExpr orFirst(mlir::AffineExpr place);
};

/// A move's cost: every element of the results read and written once.
LaunchInfo moveInfo(KernelBuilder &k, mlir::AffineExpr tasks);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_INDEXLOOPS_H
