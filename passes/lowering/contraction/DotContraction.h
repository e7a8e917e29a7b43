//===- DotContraction.h - Products along contiguous rows -------------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_DOTCONTRACTION_H
#define KILN_PASSES_LOWERING_CONTRACTION_DOTCONTRACTION_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// Writes a contraction whose operands are both contiguous along the reduction, with one column or few rows.
/// Sums of left[i] * right[i] over the depth, each side from where it begins on; one of the two lists may have a single member that all share. Vectors have the
/// lanes of the tile, along which both sides are contiguous.
llvm::SmallVector<mlir::Value> emitDots(KernelBuilder &k, const Contraction &c, llvm::ArrayRef<mlir::AffineExpr> left, llvm::ArrayRef<mlir::AffineExpr> right);

LaunchInfo lowerDotContraction(KernelBuilder &k, const Contraction &contraction);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_DOTCONTRACTION_H
