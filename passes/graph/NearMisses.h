//===- NearMisses.h - Composites that a graph nearly contains --------------===//
#ifndef KILN_PASSES_GRAPH_NEARMISSES_H
#define KILN_PASSES_GRAPH_NEARMISSES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace kiln {

/// Returns which composite the operations of an ONNX node (`name` or `name(Operator)`) would nearly be the parts of, with operations around them, and what is
/// in the way: one line. Empty if no composite comes near. The graph is what the graph stage has left.
std::string describeNearMiss(mlir::ModuleOp module, llvm::StringRef node);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_NEARMISSES_H
