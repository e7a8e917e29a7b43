//===- LaneTranspose.h - A square block of elements in registers -----------===//
#ifndef KILN_PASSES_LOWERING_LANETRANSPOSE_H
#define KILN_PASSES_LOWERING_LANETRANSPOSE_H

#include "passes/lowering/KernelBuilder.h"

namespace kiln {

/// The columns of as many vectors as each has lanes (a power of two).
llvm::SmallVector<mlir::Value> transposeLanes(KernelBuilder &k, llvm::ArrayRef<mlir::Value> rows);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_LANETRANSPOSE_H
