//===- AlignDims.cpp - Shapes that have to be equal --------------------------===//
#include "compiler/import/AlignDims.h"

using namespace mlir;

namespace kiln::import {

Value alignDims(Node &node, Value x, ArrayRef<AffineExpr> wanted, const Twine &mismatch) {
  if (node.failed())
    return x;
  DimExprs dims = node.dims(x);
  if (dims.size() != wanted.size()) {
    (void)node.error(mismatch);
    return x;
  }
  for (auto [dim, want] : llvm::zip_equal(dims, wanted)) {
    if (auto have = nn::getConstantDim(dim), must = nn::getConstantDim(want); have && must && *have != *must)
      (void)node.error(mismatch);
    if (!node.unify(dim, want, mismatch + ": dimensions"))
      return x;
  }
  return node.reshape(x, wanted);
}

} // namespace kiln::import
