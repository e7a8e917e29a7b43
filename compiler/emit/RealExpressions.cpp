//===- RealExpressions.cpp - Expressions of dimensions in double, as C++ ----===//
#include "compiler/emit/RealExpressions.h"
#include "dialects/nn/Dims.h"

using namespace mlir;

namespace kiln {

std::string printReal(AffineExpr expr, ArrayRef<std::string> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue()) + ".0";
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return "double(" + symbols[symbol.getPosition()] + ")";
  if (AffineExpr part = nn::matchPositivePart(expr))
    return "kiln::work_above_zero(" + printReal(part, symbols) + ")";
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string lhs = printReal(binary.getLHS(), symbols), rhs = printReal(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return "(" + lhs + " + " + rhs + ")";
  case AffineExprKind::Mul:
    return lhs + " * " + rhs;
  case AffineExprKind::FloorDiv:
    return "kiln::work_quotient(" + lhs + ", " + rhs + ")";
  case AffineExprKind::CeilDiv:
    return "-kiln::work_quotient(-(" + lhs + "), " + rhs + ")";
  default:
    return "kiln::work_remainder(" + lhs + ", " + rhs + ")";
  }
}

} // namespace kiln
