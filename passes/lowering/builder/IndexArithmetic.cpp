//===- IndexArithmetic.cpp - Index expressions as arithmetic ---------------===//
#include "passes/lowering/builder/IndexArithmetic.h"
#include "dialects/nn/Dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

Value emitIndex(OpBuilder &b, Location loc, AffineExpr expr, const IndexTerms &terms) {
  auto emit = [&](AffineExpr part) { return emitIndex(b, loc, part, terms); };
  auto constantOf = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  expr = nn::simplifyDim(expr);
  if (terms.visit)
    terms.visit(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constantOf(constant.getValue());
  if (isa<AffineDimExpr, AffineSymbolExpr>(expr))
    return terms.variable(expr);
  if (AffineExpr part = nn::matchPositivePart(expr))
    return arith::MaxSIOp::create(b, loc, emit(part), constantOf(0));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emit(binary.getLHS());
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (terms.subtracts && expr.getKind() == AffineExprKind::Add && constant && constant.getValue() < 0)
    return arith::SubIOp::create(b, loc, lhs, constantOf(-constant.getValue()));
  Value rhs = emit(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add)
    return arith::AddIOp::create(b, loc, lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return arith::MulIOp::create(b, loc, lhs, rhs);
  return terms.quotient(binary, lhs, rhs);
}

} // namespace kiln
