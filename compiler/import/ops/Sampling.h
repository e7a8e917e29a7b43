//===- Sampling.h - What reads at computed coordinates share -----------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_SAMPLING_H
#define KILN_COMPILER_IMPORT_OPS_SAMPLING_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// A dimension as a scalar of `element`.
Value sizeOf(Node &node, AffineExpr dim, Type element);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_SAMPLING_H
