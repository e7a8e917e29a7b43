//===- Ranks.h - What the ranks of a sharded model exchange -----------------===//
#ifndef KILN_DIALECTS_NN_RANKS_H
#define KILN_DIALECTS_NN_RANKS_H

#include "dialects/nn/NN.h"

#define GET_OP_CLASSES
#include "dialects/nn/NNRankOps.h.inc"

namespace kiln::nn {

/// Whether the operation is one in which all ranks take part, in the same order on each.
inline bool isCollective(mlir::Operation *op) { return llvm::isa<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp, HaloOp>(op); }

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_RANKS_H
