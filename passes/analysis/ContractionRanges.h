//===- ContractionRanges.h - Ranges of products ----------------------------===//
#ifndef KILN_PASSES_ANALYSIS_CONTRACTIONRANGES_H
#define KILN_PASSES_ANALYSIS_CONTRACTIONRANGES_H

#include "passes/analysis/Interval.h"
#include "mlir/IR/Operation.h"

namespace kiln {

/// The range of a matrix product or convolution, from the ranges of its operands: from the sums of a constant weight, or else from the number of products.
Interval inferContractionRange(mlir::Operation *op, Interval input, Interval weight);

} // namespace kiln

#endif // KILN_PASSES_ANALYSIS_CONTRACTIONRANGES_H
