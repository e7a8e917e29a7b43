//===- ChainMatching.h - The recognisers beside the composites' bodies -----===//
#ifndef KILN_PASSES_GRAPH_CHAINMATCHING_H
#define KILN_PASSES_GRAPH_CHAINMATCHING_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateLossPatterns(mlir::RewritePatternSet &patterns);
/// For when losses are whole.
void populateCrossEntropyPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
/// Reshapes and transposes around a row-wise composite that undo each other.
void populateRowMovementPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_CHAINMATCHING_H
