//===- GreedySearch.h - One token of each row again and again ----------------===//
#ifndef KILN_COMPILER_IMPORT_GREEDYSEARCH_H
#define KILN_COMPILER_IMPORT_GREEDYSEARCH_H

#include "mlir/Support/LLVM.h"

namespace kiln::import {

class Node;

/// GreedySearch and Sampling of domain com.microsoft.
mlir::LogicalResult searchGreedily(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_GREEDYSEARCH_H
