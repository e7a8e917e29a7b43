//===- PackedNumbers.h - Weights of a few bits -------------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_PACKEDNUMBERS_H
#define KILN_COMPILER_IMPORT_OPS_PACKEDNUMBERS_H

#include "compiler/import/Node.h"

namespace kiln::import {

// Each gives some value after an error.

/// Bytes as the numbers in them: 8 / bits of each, from the lowest bits on, along the last dimension.
Value unpackNumbers(Node &node, Value bytes, int64_t bits);

/// Which inputs of a node are the operands of a product with weights [columns, K] of a few bits in blocks; -1: it has none such.
struct BlockOperands {
  Value left;
  int64_t columns;
  int weight, scales, zeroPoints = -1, groups = -1, bias = -1;
};

/// left * weights^T + bias by attributes K, block_size, bits and accuracy_level of the node.
Value buildBlockQuantizedMatmul(Node &node, const BlockOperands &operands);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_PACKEDNUMBERS_H
