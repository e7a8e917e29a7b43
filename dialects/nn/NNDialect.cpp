//===- NNDialect.cpp - The nn dialect --------------------------------------===//
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::nn;

#include "dialects/nn/NNDialect.cpp.inc"
#include "dialects/nn/NNEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NNAttributes.cpp.inc"

bool kiln::nn::isString(Type element) { return element.isInteger(128); }

void NNDialect::initialize() {
  // For #kernel.accuracy, which operations have by default.
  getContext()->loadDialect<kernel::KernelDialect>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/nn/NNAttributes.cpp.inc"
      >();
#define NN_FAMILY(name) add##name##Ops();
#include "dialects/nn/Families.def"
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getType() == type ? ConstantOp::create(builder, loc, elements) : nullptr;
}

/// One expression of the symbols a dimension; static dimensions say the same as the shape.
LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  AffineMap map = getMap();
  if (map.getNumDims() != 0 || map.getNumResults() != shape.size())
    return emitError() << "expected " << shape.size() << " expressions of symbols in #nn.dims, one per dimension";
  for (auto [i, size, expr] : llvm::enumerate(shape, map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (ShapedType::isDynamic(size) == static_cast<bool>(constant) || (constant && constant.getValue() != size))
      return emitError() << "#nn.dims and the shape disagree on dimension " << i;
    WalkResult divisors = expr.walk([](AffineExpr part) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(part);
      bool divides = binary && part.getKind() != AffineExprKind::Add && part.getKind() != AffineExprKind::Mul;
      auto divisor = divides ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
      return divisor && divisor.getValue() <= 0 ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (divisors.wasInterrupted())
      return emitError() << "#nn.dims divides by a number that is not positive in dimension " << i;
  }
  return success();
}
