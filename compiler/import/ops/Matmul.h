//===- Matmul.h - Products that other operators begin with -------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_MATMUL_H
#define KILN_COMPILER_IMPORT_OPS_MATMUL_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// numpy's matmul: one-dimensional operands become a row and a column, batch dimensions broadcast. Some value after an error.
Value buildMatmul(Node &node, Value a, Value b);

/// A product of matrices without the dimensions of 1 that stand for a vector on the left (`isRow`) or on the right (`isColumn`). Some value after an error.
Value dropVectorDims(Node &node, Value product, bool isRow, bool isColumn);

/// alpha * A' * B' + beta * C of inputs 0 to 2 and the attributes of Gemm, where ' is an optional transposition. Some value after an error.
Value buildGemm(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_MATMUL_H
