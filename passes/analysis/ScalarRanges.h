//===- ScalarRanges.h - Ranges through element-wise formulas ---------------===//
#ifndef KILN_PASSES_ANALYSIS_SCALARRANGES_H
#define KILN_PASSES_ANALYSIS_SCALARRANGES_H

#include "dialects/nn/NN.h"
#include "passes/analysis/Interval.h"

namespace kiln {

/// Where the result of an element-wise operation lies, given where its operands lie. It builds the operation's own scalar computation and
/// walks through that, so each operation that has a ScalarBody has a range.
Interval inferScalarRange(nn::ScalarBody op, llvm::ArrayRef<Interval> operands);

} // namespace kiln

#endif // KILN_PASSES_ANALYSIS_SCALARRANGES_H
