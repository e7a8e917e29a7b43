//===- Ranks.h - What the ranks of a sharded model exchange -----------------===//
#ifndef KILN_DIALECTS_NN_RANKS_H
#define KILN_DIALECTS_NN_RANKS_H

#include "dialects/nn/NNRankOps.h"
#include <optional>


namespace kiln::nn {

/// The most ranks that take part in one collective (kiln/collectives.h).
inline constexpr int64_t maxCollectiveRanks = 256;

/// Whether the operation is one in which all ranks take part, in the same order on each.
inline bool isCollective(mlir::Operation *op) { return llvm::isa<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp, ShiftOp, MergedExchangeOp>(op); }

/// What a collective, or each of those that were merged into one, is: "all_gather".
llvm::StringRef getCollectiveKind(mlir::Operation *op);

/// The most collectives that are merged into one (KILN_MERGED_MAX of kiln/communicator.h).
inline constexpr size_t mostMerged = 8;

/// The ranks that take part in a collective.
llvm::ArrayRef<int32_t> getCollectiveRanks(mlir::Operation *op);

/// The place of a collective, of a group of one, or of the first one in the body of a loop, among those of the model; nothing for other operations.
std::optional<int64_t> getCollectiveNumber(mlir::Operation *op);

/// Gives the collectives of a module their numbers anew, in the order in which they are.
void numberCollectives(mlir::Operation *module);

/// Puts collectives in the order of their numbers, and other operations where they need the fewest moves. They must be in an order that allows it.
void orderCollectives(mlir::Block &block);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_RANKS_H
