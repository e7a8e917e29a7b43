//===- Places.h - Values that lie inside larger buffers --------------------===//
//
// A value of a group is dense in a buffer of its own, or it has a place: an affine map from its index to an element of a larger buffer.
// `places` of an nn.group lists one attribute for each input, then for each result: a map, or unit for a dense value.
// `in_place` lists the inputs of a group that are written straight into the group's own result, so that its kernel leaves them out.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_GROUPS_PLACES_H
#define KILN_PASSES_TARGET_GROUPS_PLACES_H

#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"

namespace kiln {

/// The map of input or result number `value` of a group (results follow the inputs); null when it is dense.
mlir::AffineMap getPlace(nn::GroupOp group, unsigned value);
void setPlace(nn::GroupOp group, unsigned value, mlir::AffineMap place);

/// Whether the group's kernel finds input `input` already inside of its result.
bool isInPlace(nn::GroupOp group, unsigned input);
void setInPlace(nn::GroupOp group, unsigned input);
/// Whether the group only looks at a part of its input, or in another order: its result lies in its input's buffer (`view`).
bool isView(nn::GroupOp group);
void setView(nn::GroupOp group);
/// Whether nothing is left to do for the group: it is a view, or all of its inputs are in place.
bool needsNoKernel(nn::GroupOp group);

/// The inputs whose buffers the group's result may take over, when they are dense and not needed afterwards.
llvm::SmallVector<unsigned> getOverwritable(nn::GroupOp group);

/// The row-major map of a dense value of these dimensions.
mlir::AffineMap getDenseMap(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context);

/// Where element `at` of a block argument of a group lies in its buffer.
mlir::AffineExpr getElementOffset(mlir::BlockArgument argument, llvm::ArrayRef<mlir::AffineExpr> at);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_PLACES_H
