//===- SymbolicSizes.cpp - The model's symbolic dimensions -----------------===//
#include "compiler/import/SymbolicSizes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::import {

SymbolicSizes::SymbolicSizes(MLIRContext &context, const ImportOptions &options, SqueezedDims &squeezed, Assumptions &assumptions)
    : context(context), options(options), squeezed(squeezed), assumptions(assumptions) {}

AffineExpr SymbolicSizes::get(StringRef name) {
  if (auto number = options.dims.find(name.str()); number != options.dims.end()) {
    fixed.insert(name);
    return getAffineConstantExpr(number->second, &context);
  }
  auto [entry, isNew] = byName.try_emplace(name, AffineExpr());
  if (isNew) {
    entry->second = getAffineSymbolExpr(names.size(), &context);
    if (auto given = options.dimBounds.find(name.str()); given != options.dimBounds.end())
      facts.bound(names.size(), {given->second.first, given->second.second});
    names.push_back(name.str());
  }
  return entry->second;
}

AffineExpr SymbolicSizes::addComputed(const Twine &name, AffineExpr bound) {
  // Expressions in the library's tables use the name as a field, so it must be an identifier.
  std::string stem;
  for (char c : name.str())
    if (llvm::isAlnum(c) || (!stem.empty() && stem.back() != '_'))
      stem += llvm::isAlnum(c) ? c : '_';
  if (stem.empty() || llvm::isDigit(stem.front()))
    stem = "n" + stem;
  std::string unique = stem;
  for (unsigned number = 2; llvm::is_contained(names, unique); ++number)
    unique = stem + "_" + std::to_string(number);
  names.push_back(unique);
  computedBounds.push_back(nn::simplifyDim(bound));
  facts.bound(names.size() - 1, {0, facts.getRange(bound).most});
  return getAffineSymbolExpr(names.size() - 1, &context);
}

bool SymbolicSizes::isConstraint(AffineExpr mustBeZero) const {
  return llvm::is_contained(constraints, nn::simplifyDim(mustBeZero)) || llvm::is_contained(constraints, nn::simplifyDim(mustBeZero * -1));
}

void SymbolicSizes::addConstraint(AffineExpr mustBeZero) {
  if (!isConstraint(mustBeZero))
    constraints.push_back(nn::simplifyDim(mustBeZero));
}

void SymbolicSizes::requireNotNegative(AffineExpr expr) {
  // This is zero exactly for 0 <= expr < 2^40, because constraints are equations.
  addConstraint(expr.floorDiv(int64_t(1) << 40));
  if (!isConditional())
    facts.add(expr);
}

bool SymbolicSizes::isInRange(AffineExpr expr) {
  assumptions.hasClamped = true;
  // The next import of the model may number computed symbols differently.
  if (!assumptions.isInRange && !computed().isIn(expr))
    clamped.insert(nn::simplifyDim(expr));
  return assumptions.isInRange;
}

bool SymbolicSizes::hasSign(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) { found |= static_cast<bool>(nn::matchSign(part)); });
  return found;
}

bool SymbolicSizes::learn(AffineExpr mustBeZero, ArrayRef<AffineExpr> orOne) {
  if (clamped.empty() || isConditional() || !hasSign(mustBeZero))
    return false;
  // An expression that is never zero needs no sign, but every sign would seem to be needed.
  if (nn::DimRange range = facts.getRange(mustBeZero); orOne.empty() && ((range.least && *range.least > 0) || (range.most && *range.most < 0)))
    return false;
  nn::DimFacts more = facts;
  auto isNeeded = [&](AffineExpr notNegative) {
    nn::DimFacts otherwise = facts;
    otherwise.add(notNegative * -1 - 1);
    auto isNever = [&](AffineExpr expr, int64_t value) {
      nn::DimRange range = otherwise.getRange(expr);
      return (range.least && *range.least > value) || (range.most && *range.most < value);
    };
    return isNever(mustBeZero, 0) && llvm::all_of(orOne, [&](AffineExpr size) { return isNever(size, 1); });
  };
  for (AffineExpr expr : clamped)
    for (AffineExpr sign : {expr, nn::simplifyDim(expr * -1)})
      if (isNeeded(sign)) {
        assumptions.found.insert(sign);
        more.add(sign);
      }
  if (nn::getConstantDim(more.simplify(mustBeZero)) == 0)
    return true;
  // Rows of a table of constant length, such as position embeddings, are meant to exist.
  DimExprs ofTables;
  for (AffineExpr expr : clamped)
    if (nn::DimRange range = facts.getRange(expr); range.most && !range.least) {
      ofTables.push_back(expr);
      more.add(expr);
    }
  bool isZero = nn::getConstantDim(more.simplify(mustBeZero)) == 0;
  if (isZero)
    assumptions.found.insert(ofTables.begin(), ofTables.end());
  return isZero;
}

void SymbolicSizes::assumeSigns() {
  for (AffineExpr expr : assumptions.notNegative)
    if (!facts.areOrdered(getAffineConstantExpr(0, &context), expr))
      requireNotNegative(expr);
}

AffineExpr SymbolicSizes::usePinned(AffineExpr dim) const {
  for (AffineExpr constraint : constraints) {
    AffineExpr symbol;
    bool isLinear = constraint.isPureAffine();
    constraint.walk([&](AffineExpr part) {
      bool isOther = isa<AffineSymbolExpr>(part) && symbol && part != symbol;
      isLinear &= !isOther && part.getKind() != AffineExprKind::FloorDiv && part.getKind() != AffineExprKind::CeilDiv && part.getKind() != AffineExprKind::Mod;
      symbol = isa<AffineSymbolExpr>(part) ? part : symbol;
    });
    if (!isLinear || !symbol || !dim.isFunctionOfSymbol(cast<AffineSymbolExpr>(symbol).getPosition()))
      continue;
    auto at = [&](int64_t value) { return nn::getConstantDim(constraint.replace(symbol, getAffineConstantExpr(value, &context))).value_or(0); };
    int64_t offset = at(0), factor = at(1) - offset;
    if (factor != 0 && offset % factor == 0)
      dim = nn::simplifyDim(dim.replace(symbol, getAffineConstantExpr(-offset / factor, &context)));
  }
  return dim;
}

void SymbolicSizes::record(ModuleOp module) const {
  Builder b(&context);
  SmallVector<StringRef> texts(names.begin(), names.end());
  module->setAttr(nn::symbolsAttrName, b.getStrArrayAttr(texts));
  if (!computedBounds.empty())
    module->setAttr(nn::computedSymbolsAttrName, AffineMapAttr::get(AffineMap::get(0, computed().given(), computedBounds, &context)));
  DimExprs assumed = llvm::filter_to_vector(assumedEqual, [&](AffineExpr zero) { return isConstraint(zero); });
  if (!assumed.empty())
    module->setAttr(nn::assumedAttrName, AffineMapAttr::get(AffineMap::get(0, names.size(), assumed, &context)));
  if (!constraints.empty())
    module->setAttr(nn::constraintsAttrName, AffineMapAttr::get(AffineMap::get(0, names.size(), constraints, &context)));
}

} // namespace kiln::import
