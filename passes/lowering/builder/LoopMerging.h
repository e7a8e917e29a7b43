//===- LoopMerging.h - Neighbouring dimensions as one loop -----------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_LOOPMERGING_H
#define KILN_PASSES_LOWERING_BUILDER_LOOPMERGING_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// A run of neighbouring dimensions that one loop covers.
struct MergedLoop {
  mlir::AffineExpr extent;
  /// The last dimension of the run: it takes the loop variable, the others are zero.
  unsigned dim;
  bool reduced;
};

/// Merges neighbouring dims of `dims` wherever all offsets that `tensors` read at an index of that space go on by the inner dim's extent.
/// Dims marked in `reduced` merge only among themselves and are zero for all tensors but the first; dims of extent one disappear.
llvm::SmallVector<MergedLoop> mergeLoops(KernelBuilder &builder, llvm::ArrayRef<mlir::AffineExpr> dims, llvm::ArrayRef<bool> reduced,
                                         llvm::ArrayRef<mlir::Value> tensors);

/// The index of the full space for the loop variables `at` (one a merged loop).
IndexExprs expandIndex(KernelBuilder &builder, unsigned rank, llvm::ArrayRef<MergedLoop> loops, llvm::ArrayRef<mlir::AffineExpr> at);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_LOOPMERGING_H
