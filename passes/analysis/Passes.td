//===- Passes.td - What is known of values ---------------------------------===//
#ifndef KILN_PASSES_ANALYSIS
#define KILN_PASSES_ANALYSIS

include "mlir/Pass/PassBase.td"

def AnnotateValueRanges : Pass<"nn-annotate-value-ranges", "mlir::ModuleOp"> {
  let summary = "Writes onto each operation where the values of its results lie, as `range`: for tests and for curious people.";
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

#endif // KILN_PASSES_ANALYSIS
