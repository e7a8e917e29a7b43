//===- MoveTransposes.h - Moving layout changes towards each other ---------===//
#ifndef KILN_PASSES_TARGET_MOVETRANSPOSES_H
#define KILN_PASSES_TARGET_MOVETRANSPOSES_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// Patterns that move transposes to channels_first down through their users, as long as that makes no more of them.
void populateSinkTransposePatterns(mlir::RewritePatternSet &patterns);

/// Patterns that move transposes to channels_last up through the operations that define their operands.
void populateHoistTransposePatterns(mlir::RewritePatternSet &patterns);

/// Patterns that merge transposes with each other and with what they read.
void populateMergeTransposePatterns(mlir::RewritePatternSet &patterns);

/// Whether a transpose of this value costs a pass over memory at run time.
bool movesData(mlir::Value value, llvm::ArrayRef<int64_t> permutation);

} // namespace kiln

#endif // KILN_PASSES_TARGET_MOVETRANSPOSES_H
