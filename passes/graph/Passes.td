//===- Passes.td - Simplifications that hold on any target, in pipeline order ===//
#ifndef KILN_PASSES_GRAPH
#define KILN_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

#endif // KILN_PASSES_GRAPH
