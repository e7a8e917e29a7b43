//===- Pooling.h - Pools of several operators --------------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_POOLING_H
#define KILN_COMPILER_IMPORT_OPS_POOLING_H

#include "compiler/import/ops/Convolution.h"

namespace kiln::import {

// Pools of x [N, C, spatial...] by the node's attributes; null after an error.

Value buildAveragePool(Node &node, Value x);
Value buildMaxPool(Node &node, Value x);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_POOLING_H
