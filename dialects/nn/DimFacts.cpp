//===- DimFacts.cpp - What sizes are at least and at most -------------------===//
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/ChosenDims.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::nn {

//===- Numbers that may not be known ---------------------------------------===//

using Bound = std::optional<int64_t>;

static Bound addBounds(Bound a, Bound b) {
  int64_t sum;
  return a && b && !llvm::AddOverflow(*a, *b, sum) ? Bound(sum) : std::nullopt;
}

static Bound multiplyBounds(Bound a, Bound b) {
  int64_t product;
  return a && b && !llvm::MulOverflow(*a, *b, product) ? Bound(product) : std::nullopt;
}

/// The one that says more: what is known, and of two the larger (`larger`) or the smaller one.
static Bound closer(Bound a, Bound b, bool larger) {
  if (!a || !b)
    return a ? a : b;
  return larger ? std::max(*a, *b) : std::min(*a, *b);
}

/// Of two, one of which holds.
static Bound looser(Bound a, Bound b, bool larger) { return a && b ? Bound(larger ? std::max(*a, *b) : std::min(*a, *b)) : std::nullopt; }

static DimRange scaleRange(DimRange range, int64_t factor) {
  Bound least = multiplyBounds(range.least, factor), most = multiplyBounds(range.most, factor);
  return factor < 0 ? DimRange{most, least} : DimRange{least, most};
}

bool hasMoreParts(AffineExpr expr, unsigned parts) {
  SmallVector<AffineExpr> work{expr};
  for (; !work.empty() && parts > 0; --parts)
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(work.pop_back_val()))
      work.append({binary.getLHS(), binary.getRHS()});
  return !work.empty();
}

//===- Facts ---------------------------------------------------------------===//

DimFacts::DimFacts(ModuleOp module) {
  auto bounds = module->getAttrOfType<ArrayAttr>(symbolBoundsAttrName);
  for (auto [i, attr] : llvm::enumerate(bounds ? bounds.getValue() : ArrayRef<Attribute>()))
    if (auto range = dyn_cast<DenseI64ArrayAttr>(attr); range && range.size() == 2)
      bound(i, {range[0], range[1]});
  for (const Constraint &constraint : getConstraints(module))
    if (AffineExpr notNegative = matchNotNegative(constraint.mustBeZero))
      add(notNegative);
}

void DimFacts::bound(unsigned symbol, DimRange range) {
  if (symbols.size() <= symbol)
    symbols.resize(symbol + 1);
  DimRange &own = symbols[symbol];
  own = {closer(own.least, range.least, true), closer(own.most, range.most, false)};
}

DimRange DimFacts::getSymbolRange(unsigned symbol) const {
  DimRange own = symbol < symbols.size() ? symbols[symbol] : DimRange();
  return {std::max<int64_t>(own.least.value_or(0), 0), own.most};
}

/// `factor` times a symbol and `offset`; no symbol: it is something else.
static AffineExpr matchLinear(AffineExpr expr, int64_t &factor, int64_t &offset) {
  factor = 1, offset = 0;
  auto split = [&](AffineExprKind kind, int64_t &number) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto constant = binary && expr.getKind() == kind ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
    if (!constant)
      return;
    number = constant.getValue();
    expr = binary.getLHS();
  };
  split(AffineExprKind::Add, offset);
  split(AffineExprKind::Mul, factor);
  return isa<AffineSymbolExpr>(expr) && factor != 0 ? expr : AffineExpr();
}

void DimFacts::add(AffineExpr expr) {
  expr = simplifyDim(expr);
  int64_t factor, offset;
  AffineExpr symbol = matchLinear(expr, factor, offset);
  if (!symbol) {
    if (!isa<AffineConstantExpr>(expr) && !llvm::is_contained(notNegative, expr))
      notNegative.push_back(expr);
    return;
  }
  unsigned position = cast<AffineSymbolExpr>(symbol).getPosition();
  bound(position, factor > 0 ? DimRange{llvm::divideCeilSigned(-offset, factor), std::nullopt}
                             : DimRange{std::nullopt, llvm::divideFloorSigned(offset, -factor)});
}

//===- Ranges --------------------------------------------------------------===//

/// Each sign that is not known takes two ranges, each of which may meet the next.
static constexpr unsigned mostSplits = 5;

DimRange DimFacts::getTermRange(AffineExpr term, unsigned splits) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(term))
    return {constant.getValue(), constant.getValue()};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(term))
    return getSymbolRange(symbol.getPosition());
  auto binary = dyn_cast<AffineBinaryOpExpr>(term);
  if (!binary)
    return {};
  DimRange lhs = getOwnRange(binary.getLHS(), splits), rhs = getOwnRange(binary.getRHS(), splits);
  bool isPositive = lhs.least && *lhs.least >= 0 && rhs.least && *rhs.least >= 0;
  if (AffineExpr x = matchSign(term)) {
    DimRange range = getOwnRange(x, splits);
    return {range.least && *range.least > 0, range.most && *range.most <= 0 ? 0 : 1};
  }
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool divides = divisor && divisor.getValue() > 0;
  switch (term.getKind()) {
  case AffineExprKind::Mul:
    if (divisor)
      return scaleRange(lhs, divisor.getValue());
    return isPositive ? DimRange{multiplyBounds(lhs.least, rhs.least), multiplyBounds(lhs.most, rhs.most)} : DimRange();
  case AffineExprKind::Mod:
    return {0, closer(divides ? Bound(divisor.getValue() - 1) : addBounds(rhs.most, -1), isPositive ? lhs.most : Bound(), false)};
  case AffineExprKind::FloorDiv:
    if (divides)
      return {lhs.least ? Bound(llvm::divideFloorSigned(*lhs.least, divisor.getValue())) : std::nullopt,
              lhs.most ? Bound(llvm::divideFloorSigned(*lhs.most, divisor.getValue())) : std::nullopt};
    return isPositive ? DimRange{0, lhs.most} : DimRange();
  default:
    if (divides)
      return {lhs.least ? Bound(llvm::divideCeilSigned(*lhs.least, divisor.getValue())) : std::nullopt,
              lhs.most ? Bound(llvm::divideCeilSigned(*lhs.most, divisor.getValue())) : std::nullopt};
    return isPositive ? DimRange{0, lhs.most} : DimRange();
  }
}

/// The terms of a sum with their factors.
static void listTerms(AffineExpr expr, int64_t factor, SmallVectorImpl<std::pair<AffineExpr, int64_t>> &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto constant = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  int64_t product;
  if (binary && expr.getKind() == AffineExprKind::Add) {
    listTerms(binary.getLHS(), factor, terms);
    listTerms(binary.getRHS(), factor, terms);
  } else if (constant && expr.getKind() == AffineExprKind::Mul && !llvm::MulOverflow(factor, constant.getValue(), product)) {
    listTerms(binary.getLHS(), product, terms);
  } else {
    terms.emplace_back(expr, factor);
  }
}

DimRange DimFacts::getSplitRange(AffineExpr sum, AffineExpr part, AffineExpr x, int64_t factor, unsigned splits) const {
  AffineExpr rest = simplifyDim(sum - part * factor);
  // c * max(x, 0) is the larger one of 0 and c * x for positive c, else the smaller one.
  DimRange without = getOwnRange(rest, splits), with = getOwnRange(simplifyDim(rest + x * factor), splits);
  if (matchChosen(part))
    return {looser(without.least, with.least, false), looser(without.most, with.most, true)};
  if (factor > 0)
    return {closer(without.least, with.least, true), looser(without.most, with.most, true)};
  return {looser(without.least, with.least, false), closer(without.most, with.most, false)};
}

DimRange DimFacts::getOwnRange(AffineExpr expr, unsigned splits) const {
  SmallVector<std::pair<AffineExpr, int64_t>> terms;
  listTerms(expr, 1, terms);
  DimRange sum{0, 0};
  for (auto [term, factor] : terms) {
    AffineExpr x = matchPositivePart(term);
    if (x && splits > 0)
      return getSplitRange(expr, term, x, factor, splits - 1);
    if (AffineExpr chosen = matchChosen(term); chosen && splits > 0)
      return getSplitRange(expr, term, chosen, factor, splits - 1);
    DimRange range = scaleRange(x ? DimRange{0, std::nullopt} : getTermRange(term, splits), factor);
    sum = {addBounds(sum.least, range.least), addBounds(sum.most, range.most)};
  }
  return sum;
}

DimRange DimFacts::getRange(AffineExpr expr) const {
  expr = simplifyDim(expr);
  DimRange range = getOwnRange(expr, mostSplits);
  for (AffineExpr fact : notNegative) {
    range.least = closer(range.least, getOwnRange(simplifyDim(expr - fact), mostSplits).least, true);
    range.most = closer(range.most, getOwnRange(simplifyDim(expr + fact), mostSplits).most, false);
  }
  return range;
}

Bound DimFacts::getLeastDifference(AffineExpr a, AffineExpr b) const {
  if (!isa<AffineConstantExpr>(a) && !isa<AffineConstantExpr>(b))
    return getRange(b - a).least;
  // A constant may be so far away that the difference itself would wrap around.
  Bound most = getRange(a).most, least = getRange(b).least;
  if (!isa<AffineConstantExpr>(a))
    most = closer(most, mostSize, false);
  if (!isa<AffineConstantExpr>(b))
    least = closer(least, -mostSize, true);
  int64_t difference;
  if (!llvm::SubOverflow(*least, *most, difference))
    return difference;
  return *least > *most ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

bool DimFacts::areOrdered(AffineExpr a, AffineExpr b) const { return getLeastDifference(a, b).value_or(-1) >= 0; }

bool DimFacts::isBelow(AffineExpr a, AffineExpr b) const { return getLeastDifference(a, b).value_or(-1) > 0; }

AffineExpr DimFacts::getLarger(AffineExpr a, AffineExpr b) const {
  return areOrdered(a, b) ? simplifyDim(b) : areOrdered(b, a) ? simplifyDim(a) : simplifyDim(a + getPositivePart(b - a));
}

AffineExpr DimFacts::getSmaller(AffineExpr a, AffineExpr b) const {
  return areOrdered(a, b) ? simplifyDim(a) : areOrdered(b, a) ? simplifyDim(b) : simplifyDim(b - getPositivePart(b - a));
}

AffineExpr DimFacts::simplify(AffineExpr expr) const {
  expr = simplifyDim(expr);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  if (AffineExpr x = matchPositivePart(expr))
    return getLarger(simplify(x), getAffineConstantExpr(0, expr.getContext()));
  if (AffineExpr x = matchSign(expr)) {
    DimRange range = getRange(x = simplify(x));
    bool isPositive = range.least && *range.least > 0, isKnown = isPositive || (range.most && *range.most <= 0);
    return isKnown ? getAffineConstantExpr(isPositive, expr.getContext()) : getSign(x);
  }
  return simplifyDim(getAffineBinaryOpExpr(expr.getKind(), simplify(binary.getLHS()), simplify(binary.getRHS())));
}

} // namespace kiln::nn
