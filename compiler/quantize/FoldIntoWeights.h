//===- FoldIntoWeights.h - Factors and sums folded into convolutions -------===//
#ifndef KILN_COMPILER_QUANTIZE_FOLDINTOWEIGHTS_H
#define KILN_COMPILER_QUANTIZE_FOLDINTOWEIGHTS_H

#include "compiler/quantize/ModelGraph.h"

namespace kiln::quantize {

/// Turns Constant nodes into initializers, and folds batch normalisation and constant factors and summands of a channel into the convolution before them, so
/// that the ranges of weights and results are those of the numbers that are multiplied and stored.
llvm::Error foldIntoWeights(ModelGraph &model);

/// Only the first half of it.
void liftConstants(ModelGraph &model);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_FOLDINTOWEIGHTS_H
