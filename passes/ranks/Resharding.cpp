//===- Resharding.cpp - From one part of a tensor to another ----------------===//
#include "passes/ranks/Resharding.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/Ranks.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// A transpose that moves a dimension to another place.
static Value moveDim(OpBuilder &builder, Location loc, Value value, int64_t from, int64_t to) {
  if (from == to)
    return value;
  DimExprs dims = getDims(value.getType());
  SmallVector<int64_t> order;
  for (size_t i = 0; i < dims.size(); ++i)
    if (static_cast<int64_t>(i) != from)
      order.push_back(i);
  order.insert(order.begin() + to, from);
  DimExprs moved;
  for (int64_t i : order)
    moved.push_back(dims[i]);
  return TransposeOp::create(builder, loc, makeTensorType(moved, elementOf(value)), value, builder.getDenseI64ArrayAttr(order));
}

Value Resharding::toFront(Value value, int dim, int64_t count) {
  DimExprs dims = getDims(value.getType());
  int64_t size = *getConstantDim(dims[dim]);
  dims[dim] = builder.getAffineConstantExpr(size / count);
  dims.insert(dims.begin() + dim, builder.getAffineConstantExpr(count));
  Value split = ReshapeOp::create(builder, loc, makeTensorType(dims, elementOf(value)), value);
  return moveDim(builder, loc, split, dim, 0);
}

Value Resharding::fromFront(Value value, int dim) {
  Value moved = moveDim(builder, loc, value, 0, dim);
  DimExprs dims = getDims(moved.getType());
  dims[dim + 1] = simplifyDim(dims[dim] * dims[dim + 1]);
  dims.erase(dims.begin() + dim);
  return ReshapeOp::create(builder, loc, makeTensorType(dims, elementOf(value)), moved);
}

Value Resharding::gather(Value part, unsigned axis, int dim) {
  DimExprs dims = getDims(part.getType());
  dims.insert(dims.begin(), builder.getAffineConstantExpr(grid.shape[axis]));
  Value all = AllGatherOp::create(builder, loc, makeTensorType(dims, elementOf(part)), part, builder.getDenseI32ArrayAttr(grid.neighbours(rank, axis)),
                                  builder.getI64IntegerAttr(grid.coordinate(rank, axis)), nextNumber());
  return fromFront(all, dim);
}

Value Resharding::slice(Value part, unsigned axis, int dim) {
  DimExprs dims = getDims(part.getType());
  int64_t size = *getConstantDim(dims[dim]) / grid.shape[axis];
  dims[dim] = builder.getAffineConstantExpr(size);
  SmallVector<AffineExpr> starts(dims.size(), builder.getAffineConstantExpr(0));
  starts[dim] = builder.getAffineConstantExpr(size * grid.coordinate(rank, axis));
  SmallVector<int64_t> steps(dims.size(), 1);
  return SliceOp::create(builder, loc, makeTensorType(dims, elementOf(part)), part, AffineMapAttr::get(makeSymbolMap(starts, builder.getContext())),
                         builder.getDenseI64ArrayAttr(steps));
}

Value Resharding::exchange(Value part, unsigned axis, int from, int to) {
  Value slices = toFront(part, to, grid.shape[axis]);
  Value all = AllToAllOp::create(builder, loc, slices.getType(), slices, builder.getDenseI32ArrayAttr(grid.neighbours(rank, axis)),
                                 builder.getI64IntegerAttr(grid.coordinate(rank, axis)), nextNumber());
  return fromFront(all, from);
}

Value Resharding::combine(Value part, unsigned axis, int dim, ReduceKind kind) {
  auto ranks = builder.getDenseI32ArrayAttr(grid.neighbours(rank, axis));
  auto index = builder.getI64IntegerAttr(grid.coordinate(rank, axis));
  auto reduction = ReduceKindAttr::get(builder.getContext(), kind);
  if (dim == whole)
    return AllReduceOp::create(builder, loc, part.getType(), part, ranks, index, nextNumber(), reduction);
  Value slices = toFront(part, dim, grid.shape[axis]);
  DimExprs dims = getDims(slices.getType());
  dims.erase(dims.begin());
  return ReduceScatterOp::create(builder, loc, makeTensorType(dims, elementOf(part)), slices, ranks, index, nextNumber(), reduction);
}

Value Resharding::change(Value part, const Cut &from, const Cut &to) {
  if (from == to)
    return part;
  if (from.size() == 1 && from[0] != whole && to[0] != whole)
    return exchange(part, 0, from[0], to[0]);
  // The parts of one dimension nest: what an axis has cut comes together only after what later axes have cut of the same dimension.
  Cut now = from;
  for (unsigned axis = from.size(); axis-- > 0;) {
    bool isUnder = llvm::any_of(llvm::seq<unsigned>(0, axis), [&](unsigned earlier) {
      return now[earlier] != to[earlier] && (now[earlier] == now[axis] || to[earlier] == to[axis]);
    });
    if (now[axis] == whole || (now[axis] == to[axis] && !isUnder))
      continue;
    part = gather(part, axis, now[axis]);
    now[axis] = whole;
  }
  for (unsigned axis = 0; axis < to.size(); ++axis)
    if (now[axis] != to[axis])
      part = slice(part, axis, to[axis]);
  return part;
}

} // namespace kiln
