//===- MathExpressions.cpp - math operations as C++ ------------------------===//
#include "compiler/emit/Expression.h"
#include "dialects/kernel/EntryAttributeNames.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kiln {

/// The function of the kernel headers for an operation; all work on scalars and vectors.
static StringRef functionFor(StringRef op) {
  static const llvm::StringMap<StringRef> names = {
      {"math.exp2", "exp2"},   {"math.expm1", "expm1"}, {"math.log", "log"},       {"math.log2", "log2"},
      {"math.log1p", "log1p"}, {"math.sqrt", "sqrt"},   {"math.rsqrt", "rsqrt"},   {"math.erf", "erf"},     {"math.erfc", "erfc"},
      {"math.sin", "sin"},       {"math.cos", "cos"},     {"math.tan", "tan"},     {"math.asin", "asin"},     {"math.acos", "acos"},
      {"math.atan", "atan"},     {"math.sinh", "sinh"},   {"math.cosh", "cosh"},     {"math.tanh", "tanh"},
      {"math.asinh", "asinh"},   {"math.acosh", "acosh"}, {"math.atanh", "atanh"}, {"math.floor", "floor"},   {"math.ceil", "ceil"},
      {"math.trunc", "trunc"},   {"math.round", "round"}, {"math.roundeven", "roundeven"}, {"math.absf", "abs"},
      {"math.powf", "pow"},      {"math.absi", "abs_integer"}, {"math.ipowi", "pow_integer"},                 {"math.copysign", "copysign"},
      {"math.ctpop", "count_ones"}};
  return names.lookup(op);
}

/// Whether all users add a constant to it that is 1 or more.
static bool isAddend(Value value) {
  auto isLarge = [](Value other) {
    if (auto broadcast = other.getDefiningOp<vector::BroadcastOp>())
      other = broadcast.getSource();
    Attribute constant;
    if (!matchPattern(other, m_Constant(&constant)))
      return false;
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(constant);
    return number && number.getValueAsDouble() >= 1;
  };
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto sum = dyn_cast<arith::AddFOp>(use.getOwner());
    return sum && isLarge(use.getOperandNumber() == 0 ? sum.getRhs() : sum.getLhs());
  });
}

static std::string expFunction(Operation *op) {
  kernel::Accuracy accuracy = kernel::getExpAccuracy(op);
  if (accuracy != kernel::Accuracy::Exact)
    return kernel::getExpFunction(accuracy);
  return op->hasAttr(kernel::normalAttrName) ? "exp_normal" : isAddend(op->getResult(0)) ? "exp_addend" : "exp";
}

Expression writeMath(Operation *op, OperandText operand) {
  if (op->getNumResults() != 1)
    return {};
  Type type = op->getResult(0).getType();
  if (auto fma = dyn_cast<math::FmaOp>(op)) {
    Expression product = infix(operand(fma.getA()), "*", operand(fma.getB()), Binding::Multiply);
    return infix(product, "+", operand(fma.getC()), Binding::Add);
  }
  Type element = getElementTypeOrSelf(type);
  std::string function = isa<math::ExpOp>(op) ? expFunction(op) : functionFor(op->getName().getStringRef()).str();
  if (function.empty() || element.isF16() || element.isBF16())
    return {};
  // The explicit template argument keeps a literal from determining the type.
  return callOn(function, operand.type(type), op->getOperands(), operand);
}

} // namespace kiln
