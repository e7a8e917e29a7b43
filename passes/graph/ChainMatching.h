//===- ChainMatching.h - Recognisers in addition to the composites' bodies -----===//
#ifndef KILN_PASSES_GRAPH_CHAINMATCHING_H
#define KILN_PASSES_GRAPH_CHAINMATCHING_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateLossPatterns(mlir::RewritePatternSet &patterns);
/// Patterns that run after losses have been recognised.
void populateCrossEntropyPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
/// Patterns that remove inverse reshapes and transposes around a row-wise composite.
void populateRowMovementPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_CHAINMATCHING_H
