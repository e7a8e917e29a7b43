//===- MovedBytes.cpp - What a kernel reads and writes ---------------------===//
#include "passes/lowering/builder/MovedBytes.h"
#include "dialects/nn/ConstantData.h"

using namespace mlir;

namespace kiln {

using namespace nn;

AffineExpr countMovedBytes(KernelBuilder &k) {
  AffineExpr bytes = k.constant(0);
  auto add = [&](Type type) {
    bytes = bytes + getNumElements(getDims(type), k.context()) * elementBytes(getElementTypeOrSelf(type));
  };
  for (Value input : k.group().getInputs())
    add(input.getType());
  for (Type type : k.group().getResultTypes())
    add(type);
  return simplifyDim(bytes);
}

} // namespace kiln
