//===- OutsideTaps.h - Taps of a convolution that see padding alone --------===//
#ifndef KILN_PASSES_GRAPH_OUTSIDETAPS_H
#define KILN_PASSES_GRAPH_OUTSIDETAPS_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// Adds the pattern that drops the first and last lines of a convolution's window that lie in the padding for every element of the result.
void populateOutsideTapsPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_OUTSIDETAPS_H
