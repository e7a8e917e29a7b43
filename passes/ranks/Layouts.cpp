//===- Layouts.cpp - Which part of a tensor a rank has ----------------------===//
#include "passes/ranks/Layouts.h"
#include "dialects/nn/Dims.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace kiln {

//===- Grid ------------------------------------------------------------------===//

int64_t Grid::countRanks() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// The distance of neighbours along an axis.
static int64_t strideOf(const Grid &grid, unsigned axis) {
  int64_t stride = 1;
  for (int64_t size : ArrayRef(grid.shape).drop_front(axis + 1))
    stride *= size;
  return stride;
}

int64_t Grid::coordinate(int64_t rank, unsigned axis) const { return rank / strideOf(*this, axis) % shape[axis]; }

SmallVector<int32_t> Grid::neighbours(int64_t rank, unsigned axis) const {
  int64_t stride = strideOf(*this, axis), first = rank - coordinate(rank, axis) * stride;
  SmallVector<int32_t> all;
  for (int64_t i = 0; i < shape[axis]; ++i)
    all.push_back(static_cast<int32_t>(first + i * stride));
  return all;
}

std::optional<Grid> parseGrid(StringRef text) {
  Grid grid;
  SmallVector<StringRef> sizes;
  text.split(sizes, 'x');
  for (StringRef size : sizes) {
    int64_t number;
    if (size.getAsInteger(10, number) || number < 1 || number > maxRanks)
      return std::nullopt;
    grid.shape.push_back(number);
  }
  return grid.shape.size() <= 3 && grid.countRanks() <= maxRanks ? std::optional(grid) : std::nullopt;
}

//===- Parts -----------------------------------------------------------------===//

int64_t sizeOfPart(RankedTensorType type, unsigned dim, const Cut &cut, const Grid &grid, unsigned axes) {
  int64_t size = type.getDimSize(dim);
  if (ShapedType::isDynamic(size))
    return -1;
  for (unsigned axis = 0; axis < axes; ++axis)
    if (cut[axis] == static_cast<int>(dim))
      size /= grid.shape[axis];
  return size;
}

RankedTensorType typeOfPart(RankedTensorType type, const Cut &cut, const Grid &grid) {
  nn::DimExprs dims = nn::getDims(type);
  for (unsigned i = 0; i < dims.size(); ++i)
    if (int64_t size = sizeOfPart(type, i, cut, grid, cut.size()); size >= 0)
      dims[i] = getAffineConstantExpr(size, type.getContext());
  return nn::makeTensorType(dims, type.getElementType());
}

//===- The shard dialect -----------------------------------------------------===//

shard::ShardOp makeShard(OpBuilder &builder, Value value, const Cut &cut, bool forUser) {
  MLIRContext *context = builder.getContext();
  SmallVector<SmallVector<shard::GridAxis>> axes(cast<RankedTensorType>(value.getType()).getRank());
  for (auto [axis, dim] : llvm::enumerate(cut))
    if (dim != whole)
      axes[dim].push_back(static_cast<shard::GridAxis>(axis));
  // The dialect wants at least one list, and no empty ones behind the last that is not.
  while (axes.size() > 1 && axes.back().empty())
    axes.pop_back();
  SmallVector<shard::GridAxesAttr> split;
  for (ArrayRef<shard::GridAxis> list : axes)
    split.push_back(shard::GridAxesAttr::get(context, list));
  if (split.empty())
    split.push_back(shard::GridAxesAttr::get(context, {}));
  auto sharding = shard::ShardingOp::create(builder, value.getLoc(), FlatSymbolRefAttr::get(context, gridName), split);
  return shard::ShardOp::create(builder, value.getLoc(), value, sharding, forUser);
}

Cut getCut(shard::ShardOp op, const Grid &grid) {
  Cut cut(grid.shape.size(), whole);
  shard::Sharding sharding(op.getSharding());
  for (auto [dim, axes] : llvm::enumerate(sharding.getSplitAxes()))
    for (shard::GridAxis axis : axes.asArrayRef())
      cut[axis] = static_cast<int>(dim);
  return cut;
}

std::optional<Grid> getGrid(Operation *module) {
  auto op = dyn_cast_or_null<shard::GridOp>(SymbolTable::lookupSymbolIn(module, gridName));
  return op ? std::optional(Grid{llvm::to_vector(op.getShape())}) : std::nullopt;
}

} // namespace kiln
