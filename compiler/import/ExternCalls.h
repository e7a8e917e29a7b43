//===- ExternCalls.h - Operators that the program provides ------------------===//
#ifndef KILN_COMPILER_IMPORT_EXTERNCALLS_H
#define KILN_COMPILER_IMPORT_EXTERNCALLS_H

#include "compiler/definitions/Definition.h"
#include "compiler/import/Node.h"

namespace kiln::import {

class Diagnostics;

/// A node that a declaration makes a call of a C function: checks its operands and gives the results their declared shapes.
mlir::LogicalResult importExtern(Node &node, const definitions::Extern &external, Diagnostics &diagnostics);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_EXTERNCALLS_H
