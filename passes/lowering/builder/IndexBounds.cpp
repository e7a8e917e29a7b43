//===- IndexBounds.cpp - What places are proven to be at least --------------===//
#include "passes/lowering/builder/IndexBounds.h"
#include "dialects/nn/Dims.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

/// Adds `factor` times an expression to a sum of terms, each with its coefficient.
static void addTerms(AffineExpr expr, int64_t factor, llvm::SmallMapVector<AffineExpr, int64_t, 8> &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto constant = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (binary && expr.getKind() == AffineExprKind::Add) {
    addTerms(binary.getLHS(), factor, terms);
    addTerms(binary.getRHS(), factor, terms);
  } else if (constant && expr.getKind() == AffineExprKind::Mul) {
    addTerms(binary.getLHS(), factor * constant.getValue(), terms);
  } else if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    terms[getAffineConstantExpr(1, expr.getContext())] += factor * number.getValue();
  } else {
    terms[expr] += factor;
  }
}

/// For a term that is x floordiv c, or (x floordiv s) * s: x and c, or x and 1.
static std::pair<AffineExpr, int64_t> matchMultiple(AffineExpr term) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(term);
  auto constant = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (constant && constant.getValue() > 0 && term.getKind() == AffineExprKind::FloorDiv)
    return {binary.getLHS(), constant.getValue()};
  AffineExpr lhs = binary && term.getKind() == AffineExprKind::Mul ? binary.getLHS() : AffineExpr();
  auto division = dyn_cast_or_null<AffineBinaryOpExpr>(lhs);
  if (division && division.getKind() == AffineExprKind::FloorDiv && division.getRHS() == binary.getRHS())
    return {division.getLHS(), 1};
  return {AffineExpr(), 1};
}

static std::optional<int64_t> findLowerBound(AffineExpr expr);

/// Of a term that is no sum; indices and sizes are at least 0, and what is divided by 0, an empty dimension, does not run.
static std::optional<int64_t> findTermBound(AffineExpr term) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(term);
  if (auto constant = dyn_cast<AffineConstantExpr>(term))
    return constant.getValue();
  if (!binary || term.getKind() == AffineExprKind::Mod || nn::matchPositivePart(term))
    return 0;
  std::optional<int64_t> lhs = findLowerBound(binary.getLHS()), rhs = findLowerBound(binary.getRHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (term.getKind() != AffineExprKind::Mul && lhs && divisor && divisor.getValue() > 0)
    return llvm::divideFloorSigned(*lhs, divisor.getValue());
  bool isPositive = lhs && *lhs >= 0 && (term.getKind() != AffineExprKind::Mul || (rhs && *rhs >= 0));
  return isPositive ? std::optional<int64_t>(0) : std::nullopt;
}

/// What an expression is proven to be at least, as a sum of bounded terms and of remainders x - (x floordiv c) * c.
static std::optional<int64_t> findLowerBound(AffineExpr expr) {
  llvm::SmallMapVector<AffineExpr, int64_t, 8> terms;
  addTerms(expr, 1, terms);
  for (auto &[term, factor] : llvm::to_vector(terms)) {
    auto [dividend, divisor] = matchMultiple(term);
    int64_t now = terms[term];
    if (now < 0 && dividend && now % divisor == 0) {
      terms[term] = 0;
      addTerms(dividend, now / divisor, terms);
    }
  }
  int64_t bound = 0;
  for (auto &[term, factor] : terms) {
    if (isa<AffineConstantExpr>(term)) {
      bound += factor;
      continue;
    }
    std::optional<int64_t> least = factor == 0 ? 0 : findTermBound(term);
    if (!least || factor < 0)
      return std::nullopt;
    bound += *least * factor;
  }
  return bound;
}

bool isNeverNegative(AffineExpr expr) { return findLowerBound(expr).value_or(-1) >= 0; }

} // namespace kiln
