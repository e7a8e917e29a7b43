//===- Layouts.h - Which part of a tensor a rank has ------------------------===//
#ifndef KILN_PASSES_RANKS_LAYOUTS_H
#define KILN_PASSES_RANKS_LAYOUTS_H

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string>

namespace kiln {

/// The ranks, in row-major order of their coordinates.
struct Grid {
  llvm::SmallVector<int64_t> shape;

  int64_t countRanks() const;
  /// The place of a rank along an axis.
  int64_t coordinate(int64_t rank, unsigned axis) const;
  /// The ranks that differ from this one in their place along the axis only, in order.
  llvm::SmallVector<int32_t> neighbours(int64_t rank, unsigned axis) const;
};

/// For each axis of the grid, the dimension of a tensor that is cut along it, or `whole`. Where axes cut the same dimension, the first one makes the
/// largest parts.
using Cut = llvm::SmallVector<int, 2>;
inline constexpr int whole = -1;

/// The size of a dimension after the first `axes` axes have cut it; -1 if only run time knows it.
int64_t sizeOfPart(mlir::RankedTensorType type, unsigned dim, const Cut &cut, const Grid &grid, unsigned axes);

/// The type of a rank's part.
mlir::RankedTensorType typeOfPart(mlir::RankedTensorType type, const Cut &cut, const Grid &grid);

/// The same in the shard dialect, and back.
/// @{
inline constexpr llvm::StringLiteral gridName = "ranks";
mlir::shard::ShardOp makeShard(mlir::OpBuilder &builder, mlir::Value value, const Cut &cut, bool forUser);
Cut getCut(mlir::shard::ShardOp shard, const Grid &grid);
/// The grid of a module whose values are annotated.
std::optional<Grid> getGrid(mlir::Operation *module);
/// @}

/// "4x2" as a grid; none if it is not one of at most maxRanks ranks and three axes.
inline constexpr int64_t maxRanks = 256;
std::optional<Grid> parseGrid(llvm::StringRef text);

} // namespace kiln

#endif // KILN_PASSES_RANKS_LAYOUTS_H
