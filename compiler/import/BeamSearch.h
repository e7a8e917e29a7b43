//===- BeamSearch.h - The likeliest sequences of some beams ------------------===//
#ifndef KILN_COMPILER_IMPORT_BEAMSEARCH_H
#define KILN_COMPILER_IMPORT_BEAMSEARCH_H

#include "mlir/Support/LLVM.h"

namespace kiln::import {

class Node;

/// BeamSearch of domain com.microsoft.
mlir::LogicalResult searchBeams(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_BEAMSEARCH_H
