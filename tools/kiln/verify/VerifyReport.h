//===- VerifyReport.h - What kiln verify prints --------------------------------===//
#ifndef KILN_TOOLS_KILN_VERIFY_VERIFYREPORT_H
#define KILN_TOOLS_KILN_VERIFY_VERIFYREPORT_H

#include "tools/kiln/NodeComparison.h"

namespace kiln {

/// One output of one data set.
struct Verdict {
  std::string set, output;
  Comparison comparison;
};

/// Prints whether all agree, what does not, and the five largest errors of outputs and of kernels' results that do; with -v all of them. Returns the
/// exit status.
int printReport(llvm::ArrayRef<Verdict> outputs, const NodeReport *nodes, bool isPlotted);

/// Draws the error of each value, in the order of the model: a bar for each, or for some neighbours the largest.
void printErrorPlot(llvm::ArrayRef<NodeVerdict> verdicts);

} // namespace kiln

#endif // KILN_TOOLS_KILN_VERIFY_VERIFYREPORT_H
