//===- ControlFlow.h - Operators with bodies -------------------------------===//
#ifndef KILN_COMPILER_IMPORT_CONTROLFLOW_H
#define KILN_COMPILER_IMPORT_CONTROLFLOW_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include <optional>

namespace kiln::import {

class Node;

/// Expresses a node whose operator has bodies, or is about other nodes.
using ControlFlow = mlir::LogicalResult (*)(Node &node);
/// Null: it is no such operator.
ControlFlow findControlFlow(llvm::StringRef domain, llvm::StringRef name);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_CONTROLFLOW_H
