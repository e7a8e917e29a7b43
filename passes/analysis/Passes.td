//===- Passes.td - Analyses of values ---------------------------------===//
#ifndef KILN_PASSES_ANALYSIS
#define KILN_PASSES_ANALYSIS

include "mlir/Pass/PassBase.td"

def AnnotateValueRanges : Pass<"nn-annotate-value-ranges", "mlir::ModuleOp"> {
  let summary = "Writes the ranges of each operation's results into the attribute `nn.value_range`, for tests and for inspection.";
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

#endif // KILN_PASSES_ANALYSIS
