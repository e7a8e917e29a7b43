//===- ScalarRanges.h - Ranges through element-wise formulas ---------------===//
#ifndef KILN_PASSES_ANALYSIS_SCALARRANGES_H
#define KILN_PASSES_ANALYSIS_SCALARRANGES_H

#include "dialects/nn/NN.h"
#include "passes/analysis/Interval.h"

namespace kiln {

/// The range of an element-wise operation's result, from the ranges of its operands. It builds the operation's scalar computation and evaluates that on
/// ranges, so every operation with a ScalarBody has a range.
Interval inferScalarRange(nn::ScalarBody op, llvm::ArrayRef<Interval> operands);

} // namespace kiln

#endif // KILN_PASSES_ANALYSIS_SCALARRANGES_H
