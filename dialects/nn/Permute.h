//===- Permute.h - Operations under another order of dimensions ------------===//
#ifndef KILN_DIALECTS_NN_PERMUTE_H
#define KILN_DIALECTS_NN_PERMUTE_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"

namespace kiln::nn {

/// [N, C, spatial...] -> [N, spatial..., C] as a permutation of `rank` dimensions, and back.
llvm::SmallVector<int64_t> toChannelsLast(int64_t rank);
llvm::SmallVector<int64_t> toChannelsFirst(int64_t rank);

/// The type whose dimension i is dimension permutation[i] of `type`.
mlir::RankedTensorType permuteType(mlir::Type type, llvm::ArrayRef<int64_t> permutation);

/// An nn.transpose, merged with those that define the value; the value itself if nothing moves.
mlir::Value makeTranspose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> permutation);

/// Whether transposing this type only moves dimensions of size one, and no elements.
bool permutesOnlyUnits(mlir::Type type, llvm::ArrayRef<int64_t> permutation);

/// Builds `op` for operands transposed by `permutation` (those of the permutation's rank); the results are transposed likewise.
mlir::Operation *buildPermuted(mlir::OpBuilder &builder, Permutable op, llvm::ArrayRef<int64_t> permutation);

/// A transpose of a reshape as a reshape of a transpose and the other way around, where the reshape splits and merges dimensions that stay neighbours.
mlir::FailureOr<mlir::Value> sinkTransposeThroughReshape(mlir::OpBuilder &builder, ReshapeOp reshape, TransposeOp inner);
mlir::FailureOr<mlir::Value> hoistTransposeThroughReshape(mlir::OpBuilder &builder, TransposeOp outer, ReshapeOp reshape);

/// Whether each dimension of the reshape's result is the operand's dimension at the same position: by its expression, or because every run checks that
/// they are equal (`nn.constraints`). Such a reshape only has another name for each size.
bool onlyRenamesSizes(ReshapeOp reshape);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_PERMUTE_H
