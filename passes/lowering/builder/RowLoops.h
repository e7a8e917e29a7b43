//===- RowLoops.h - Reductions along one loop ------------------------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_ROWLOOPS_H
#define KILN_PASSES_LOWERING_BUILDER_ROWLOOPS_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// The type in which the general loops add products of `elementType`: the next wider floating-point type, for they are what the special kernels are
/// compared with, and one long chain in f32 strays further than those do.
mlir::Type getSumType(mlir::Type elementType);

/// Where the running maximum of a softmax in f32 starts: the exp of it is zero against any finite value, and unlike minus infinity it can be subtracted
/// from itself.
inline constexpr double lowest = -3.4028234663852886e38;

/// The start value of a reduction: 0, 1, -inf, +inf or the smallest or largest integer of the type.
mlir::Value reductionIdentity(KernelBuilder &k, nn::ReduceKind kind, mlir::Type elementType, unsigned lanes);
/// x (+) y for scalars or vectors; max and min propagate NaN. Mean combines as sum.
mlir::Value combine(KernelBuilder &k, nn::ReduceKind kind, mlir::Type elementType, mlir::Value x, mlir::Value y);
/// The larger of two floats, in one instruction; y when x is NaN.
mlir::Value larger(KernelBuilder &k, mlir::Value x, mlir::Value y);
/// All lanes of a vector combined in a fixed order.
mlir::Value reduceLanes(KernelBuilder &k, nn::ReduceKind kind, mlir::Type elementType, mlir::Value vector);

/// Reduces body(i, lanes) over i in [0, extent), in vectors of `lanes` with several independent accumulators when the loop is long.
/// The order of combination depends on the extent and the lanes only. Returns a scalar.
mlir::Value reduceRow(KernelBuilder &k, nn::ReduceKind kind, mlir::Type elementType, mlir::AffineExpr extent, unsigned lanes,
                      llvm::function_ref<mlir::Value(mlir::AffineExpr, Lanes)> body);
/// The same for `count` values at once.
llvm::SmallVector<mlir::Value> reduceRow(KernelBuilder &k, nn::ReduceKind kind, mlir::Type elementType, mlir::AffineExpr extent, unsigned lanes,
                                         unsigned count, llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::AffineExpr, Lanes)> body);

/// How a composite along some dimensions of a tensor is walked: tasks over the kept dimensions, and either rows that are contiguous in
/// memory (the vector runs along the row) or columns (the vector runs across neighbouring rows).
struct RowShape {
  llvm::SmallVector<mlir::AffineExpr> tasks;
  mlir::AffineExpr length;
  bool alongRow;
  /// Full-rank index for the task coordinates, a place in the row and, for columns, the place across.
  std::function<IndexExprs(llvm::ArrayRef<mlir::AffineExpr> task, mlir::AffineExpr row, mlir::AffineExpr across)> at;
  /// Extent across; columns only.
  mlir::AffineExpr across;
};

/// `dims` normalized along [first, last]; the rest are kept.
RowShape makeRowShape(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> dims, unsigned first, unsigned last);

/// Walks all rows: body(at, lanes) where at(j) is the full index of place j of the row. For columns, lanes.count rows go side by side.
void forEachRow(KernelBuilder &k, const RowShape &shape,
                llvm::function_ref<void(llvm::function_ref<IndexExprs(mlir::AffineExpr)> at, Lanes across)> body);

/// Whether the group's result has elements of this type, so that a row can wait there for the kernel's next pass.
bool storesElements(KernelBuilder &k, mlir::Type element);

mlir::AffineExpr countTasks(KernelBuilder &k, llvm::ArrayRef<mlir::AffineExpr> extents);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_ROWLOOPS_H
