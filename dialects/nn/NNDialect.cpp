//===- NNDialect.cpp - The nn dialect --------------------------------------===//
#include "dialects/nn/NN.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::nn;

#include "dialects/nn/NNDialect.cpp.inc"
#include "dialects/nn/NNEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NNAttributes.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/nn/NNAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NNOps.cpp.inc"
      >();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getType() == type ? ConstantOp::create(builder, loc, elements) : nullptr;
}
