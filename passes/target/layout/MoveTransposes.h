//===- MoveTransposes.h - Moving layout changes towards each other ---------===//
#ifndef KILN_PASSES_TARGET_LAYOUT_MOVETRANSPOSES_H
#define KILN_PASSES_TARGET_LAYOUT_MOVETRANSPOSES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"

namespace kiln {

/// Moves transposes to channels_first down through their users, as long as that makes no more of them. Visits each operation once.
void sinkTransposes(mlir::Block &block);

/// Moves transposes to channels_last up through the operations that define their operands. Visits each operation once.
void hoistTransposes(mlir::Block &block);

/// Whether a transpose of this value costs a pass over memory at run time.
bool movesData(mlir::Value value, llvm::ArrayRef<int64_t> permutation);

} // namespace kiln

#endif // KILN_PASSES_TARGET_LAYOUT_MOVETRANSPOSES_H
