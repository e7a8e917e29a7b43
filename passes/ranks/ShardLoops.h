//===- ShardLoops.h - How the nn operations can be cut ----------------------===//
#ifndef KILN_PASSES_RANKS_SHARDLOOPS_H
#define KILN_PASSES_RANKS_SHARDLOOPS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"
#include <utility>

namespace mlir {
class Operation;
}

namespace kiln {

/// Adds the shard dialect, and makes nn operations implement its ShardingInterface.
///
/// The loops of an operation are those that can be cut. An indexing map has a loop for each dimension of a tensor that is cut with the loop, and 0 for a
/// dimension that every rank needs whole, such as the axis of a softmax. Operations without loops are computed whole by every rank.
void registerShardLoops(mlir::DialectRegistry &registry);

/// The pairs of dimensions (of the operand, of the result) of an nn.reshape that are cut together: equal parts of one are equal parts of the other, in the
/// same order, for `parts` parts. No affine map says this, so the interface does not.
llvm::SmallVector<std::pair<unsigned, unsigned>> matchReshapedDims(mlir::Operation *reshape, llvm::ArrayRef<int64_t> operandSizes,
                                                                   llvm::ArrayRef<int64_t> resultSizes, int64_t parts);

} // namespace kiln

#endif // KILN_PASSES_RANKS_SHARDLOOPS_H
