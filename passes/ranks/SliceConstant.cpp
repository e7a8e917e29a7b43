//===- SliceConstant.cpp - A part of a constant ------------------------------===//
#include "passes/ranks/SliceConstant.h"
#include "dialects/nn/ConstantData.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace kiln {

ElementsAttr sliceConstant(ElementsAttr value, unsigned dim, int64_t parts, int64_t index) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  auto part = RankedTensorType::get(shape, type.getElementType());
  int64_t rows = 1, row = nn::elementBytes(type.getElementType());
  for (int64_t size : type.getShape().take_front(dim))
    rows *= size;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    row *= size;
  int64_t bytes = shape[dim] * row;
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return splat.resizeSplat(part);
  nn::ConstantData data(value);
  if (rows == 1)
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
      return nn::makeBorrowedConstant(part, data.bytes().slice(index * bytes, bytes), resource.getRawHandle().getKey());
  std::vector<char> copy;
  copy.reserve(rows * bytes);
  for (int64_t i = 0; i < rows; ++i) {
    ArrayRef<char> slice = data.bytes().slice((i * parts + index) * bytes, bytes);
    copy.insert(copy.end(), slice.begin(), slice.end());
  }
  return nn::makeConstant(part, std::move(copy));
}

} // namespace kiln
