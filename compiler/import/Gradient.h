//===- Gradient.h - Derivatives of a value ---------------------------------===//
#ifndef KILN_COMPILER_IMPORT_GRADIENT_H
#define KILN_COMPILER_IMPORT_GRADIENT_H

#include "mlir/Support/LLVM.h"

namespace kiln::import {

class Node;

/// Gradient: a node that is about other nodes.
mlir::LogicalResult differentiate(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_GRADIENT_H
