//===- ComputedDims.cpp - Symbols that the model computes -------------------===//
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/ChosenDims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SymbolAttributeNames.h"

using namespace mlir;

namespace kiln::nn {

ComputedDims::ComputedDims(ModuleOp module) {
  auto names = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
  auto computed = module->getAttrOfType<AffineMapAttr>(computedSymbolsAttrName);
  if (computed)
    bounds.assign(computed.getValue().getResults().begin(), computed.getValue().getResults().end());
  if (auto symbols = module->getAttrOfType<DenseI64ArrayAttr>(raisedSymbolsAttrName))
    raised.assign(symbols.asArrayRef().begin(), symbols.asArrayRef().end());
  size_t count = names ? names.size() : 0;
  numGiven = count > bounds.size() ? count - bounds.size() : 0;
}

std::optional<unsigned> ComputedDims::findRaised(unsigned symbol) const {
  auto bound = dyn_cast_or_null<AffineSymbolExpr>(isComputed(symbol) ? getBound(symbol) : AffineExpr());
  return bound && isRaised(bound.getPosition()) ? std::optional(bound.getPosition()) : std::nullopt;
}

void ComputedDims::collect(AffineExpr expr, SmallVectorImpl<unsigned> &symbols) const {
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (symbol && isComputed(symbol.getPosition()) && !llvm::is_contained(symbols, symbol.getPosition()))
      symbols.push_back(symbol.getPosition());
  });
}

bool ComputedDims::isIn(AffineExpr expr) const {
  SmallVector<unsigned> symbols;
  collect(expr, symbols);
  return !symbols.empty();
}

/// Whether `sign` is 1 where x is positive and 0 elsewhere, as in the size of a broadcast.
static bool isStepOf(AffineExpr sign, AffineExpr x) {
  return matchSign(sign) && getSign(x) == simplifyDim(sign);
}

/// Whether an expression of given symbols, which are not negative, cannot be negative; false: not known.
static bool isNotNegative(AffineExpr expr) {
  if (!expr || isa<AffineSymbolExpr>(expr))
    return static_cast<bool>(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Mul && (isStepOf(binary.getLHS(), binary.getRHS()) || isStepOf(binary.getRHS(), binary.getLHS())))
    return true;
  return binary && isNotNegative(binary.getLHS()) && isNotNegative(binary.getRHS());
}

/// The summands that cannot be negative: no less than the sum, and than zero. Null when others are left that may be positive.
static AffineExpr getPositiveTerms(AffineExpr expr) {
  if (!expr || isNotNegative(expr))
    return expr;
  AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return isa<AffineConstantExpr>(expr) ? zero : AffineExpr();
  if (expr.getKind() == AffineExprKind::Add) {
    AffineExpr lhs = getPositiveTerms(binary.getLHS()), rhs = getPositiveTerms(binary.getRHS());
    return lhs && rhs ? lhs + rhs : AffineExpr();
  }
  auto factor = getConstantDim(binary.getRHS());
  bool isNegative = expr.getKind() == AffineExprKind::Mul && factor && *factor < 0 && isNotNegative(binary.getLHS());
  return isNegative ? zero : AffineExpr();
}

std::pair<AffineExpr, AffineExpr> ComputedDims::getProductRange(AffineExpr lhs, AffineExpr rhs) const {
  if (AffineExpr chosen = matchChosen(lhs * rhs))
    return {AffineExpr(), getPositiveTerms(getRange(chosen).second)};
  if (isStepOf(lhs, rhs))
    std::swap(lhs, rhs);
  if (isStepOf(rhs, lhs))
    return {getAffineConstantExpr(0, lhs.getContext()), getPositiveTerms(getRange(lhs).second)};
  auto [leastX, mostX] = getRange(lhs);
  auto [leastY, mostY] = getRange(rhs);
  auto times = [](AffineExpr x, AffineExpr y) { return x && y ? simplifyDim(x * y) : AffineExpr(); };
  auto factor = getConstantDim(rhs);
  if (factor && *factor < 0)
    return {times(mostX, rhs), times(leastX, rhs)};
  if (factor)
    return {times(leastX, rhs), times(mostX, rhs)};
  bool positiveX = isNotNegative(leastX), positiveY = isNotNegative(leastY);
  // Of a factor that may be negative only its most counts, when the other one may be zero.
  bool known = (positiveX && isNotNegative(mostY)) || (positiveY && isNotNegative(mostX));
  return {positiveX && positiveY ? times(leastX, leastY) : AffineExpr(), known ? times(mostX, mostY) : AffineExpr()};
}

std::pair<AffineExpr, AffineExpr> ComputedDims::getRange(AffineExpr expr) const {
  if (!isIn(expr))
    return {expr, expr};
  AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return {zero, getBound(symbol.getPosition())};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Mul)
    return getProductRange(lhs, rhs);
  auto [leastX, mostX] = getRange(lhs);
  auto [leastY, mostY] = getRange(rhs);
  if (expr.getKind() == AffineExprKind::Add)
    return {leastX && leastY ? simplifyDim(leastX + leastY) : AffineExpr(), mostX && mostY ? simplifyDim(mostX + mostY) : AffineExpr()};
  auto divisor = getConstantDim(rhs);
  AffineExpr least = isNotNegative(leastX) ? zero : AffineExpr();
  if (expr.getKind() == AffineExprKind::Mod)
    return {divisor ? zero : least, divisor ? getAffineConstantExpr(*divisor - 1, expr.getContext()) : mostY};
  // A quotient of numbers that are not negative is at most the dividend.
  if (!divisor || *divisor <= 0)
    return {least, isNotNegative(leastX) ? mostX : AffineExpr()};
  auto divide = [&](AffineExpr x) {
    bool up = expr.getKind() == AffineExprKind::CeilDiv;
    return x ? simplifyDim(up ? x.ceilDiv(*divisor) : x.floorDiv(*divisor)) : AffineExpr();
  };
  return {divide(leastX), divide(mostX)};
}

AffineExpr ComputedDims::getMostElements(ArrayRef<AffineExpr> dims, MLIRContext *context) const {
  DimExprs most;
  for (AffineExpr dim : dims) {
    most.push_back(getUpperBound(simplifyDim(dim)));
    if (!most.back())
      return {};
  }
  return getNumElements(most, context);
}

} // namespace kiln::nn
