//===- SliceConstant.cpp - A part of a constant ------------------------------===//
#include "passes/ranks/SliceConstant.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/ConstantPart.h"

using namespace mlir;

namespace kiln {

ElementsAttr sliceConstant(ElementsAttr value, const Cut &cut, const Grid &grid, int64_t rank) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape()), starts(shape.size(), 0);
  for (auto [axis, dim] : llvm::enumerate(cut))
    if (dim != whole) {
      shape[dim] /= grid.shape[axis];
      starts[dim] += shape[dim] * grid.coordinate(rank, axis);
    }
  return nn::makePart(value, starts, shape, cut);
}

static ElementsAttr slice(ElementsAttr value, unsigned dim, int64_t first, int64_t count) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = count;
  auto part = RankedTensorType::get(shape, type.getElementType());
  int64_t rows = 1, row = nn::elementBytes(type.getElementType());
  for (int64_t size : type.getShape().take_front(dim))
    rows *= size;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    row *= size;
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return splat.resizeSplat(part);
  nn::ConstantData data(value);
  // The bytes of a part are only there while somebody reads them.
  if (rows == 1 && !nn::findPart(value))
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
      return nn::makeBorrowedConstant(part, data.bytes().slice(first * row, count * row), resource.getRawHandle().getKey());
  std::vector<char> copy;
  copy.reserve(rows * count * row);
  for (int64_t i = 0; i < rows; ++i) {
    ArrayRef<char> piece = data.bytes().slice((i * type.getDimSize(dim) + first) * row, count * row);
    copy.insert(copy.end(), piece.begin(), piece.end());
  }
  return nn::makeConstant(part, std::move(copy));
}

ElementsAttr sliceConstant(ElementsAttr value, unsigned dim, int64_t parts, int64_t index) {
  int64_t count = cast<RankedTensorType>(value.getType()).getDimSize(dim) / parts;
  return slice(value, dim, index * count, count);
}

ElementsAttr sliceRows(ElementsAttr value, int64_t first, int64_t count) { return slice(value, 0, first, count); }

} // namespace kiln
