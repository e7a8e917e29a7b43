//===- SymbolicSizes.cpp - The model's symbolic dimensions -----------------===//
#include "compiler/import/SymbolicSizes.h"
#include "compiler/files/Suggestion.h"
#include "compiler/import/Diagnostics.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::import {

SymbolicSizes::SymbolicSizes(MLIRContext &context, const ImportOptions &options, SqueezedDims &squeezed, Assumptions &assumptions)
    : context(context), options(options), squeezed(squeezed), assumptions(assumptions) {}

AffineExpr SymbolicSizes::get(StringRef original) {
  std::string name = options.rename(original);
  originals[name].insert(original.str());
  if (auto number = options.dims.find(name); number != options.dims.end()) {
    fixed.insert(name);
    return getAffineConstantExpr(number->second, &context);
  }
  auto [entry, isNew] = byName.try_emplace(name, AffineExpr());
  if (isNew) {
    entry->second = getAffineSymbolExpr(names.size(), &context);
    if (auto given = options.dimBounds.find(name); given != options.dimBounds.end())
      facts.bound(names.size(), {given->second.first, given->second.second});
    names.push_back(name);
  }
  return entry->second;
}

std::string SymbolicSizes::nameRaised(std::string name) const {
  while (ofInputs.contains(options.rename(name)))
    name += "_";
  return name;
}

void SymbolicSizes::addRaised() {
  for (const auto &[name, spellings] : originals)
    ofInputs.insert(name);
  for (const std::string &name : assumptions.raised)
    raised[name] = get(nameRaised(name));
}

AffineExpr SymbolicSizes::getRaised(const std::string &name) {
  std::string own = nameRaised(name);
  if (options.dims.count(options.rename(own)))
    return get(own);
  if (!llvm::is_contained(assumptions.raisedAsked, name))
    assumptions.raisedAsked.push_back(name);
  AffineExpr known = raised.lookup(name);
  // The next round has the symbol.
  return known ? known : getAffineConstantExpr(1, &context);
}

std::vector<std::pair<std::string, std::string>> SymbolicSizes::describeRaised() const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const std::string &name : assumptions.raised)
    lines.push_back({nn::raisedMetadata.str() + names[cast<AffineSymbolExpr>(raised.lookup(name)).getPosition()], name});
  return lines;
}

std::string SymbolicSizes::findUnusedName(llvm::function_ref<bool(StringRef)> isNamed) const {
  for (const auto &[name, size] : options.dims)
    if (!isNamed(name) && !isFixed(name))
      return name;
  return "";
}

bool SymbolicSizes::loosen(unsigned symbol) {
  nn::ComputedDims dims = computed();
  return dims.isComputed(symbol) && nn::getConstantDim(dims.getBound(symbol)) && assumptions.loosened.insert(names[symbol]).second;
}

std::string SymbolicSizes::makeName(const Twine &stemName) const {
  // Expressions in the library's tables use the name as a field, so it must be an identifier.
  std::string stem;
  for (char c : stemName.str())
    if (llvm::isAlnum(c) || (!stem.empty() && stem.back() != '_'))
      stem += llvm::isAlnum(c) ? c : '_';
  if (stem.empty() || llvm::isDigit(stem.front()))
    stem = "n" + stem;
  std::string unique = stem;
  for (unsigned number = 2; llvm::is_contained(names, unique); ++number)
    unique = stem + "_" + std::to_string(number);
  return unique;
}

AffineExpr SymbolicSizes::addComputed(const Twine &stemName, AffineExpr bound) {
  std::string unique = makeName(stemName);
  std::string name = options.rename(unique);
  originals[name].insert(unique);
  if (!bound)
    bound = getRaised(unique + "_most");
  names.push_back(name);
  computedBounds.push_back(nn::simplifyDim(bound));
  facts.bound(names.size() - 1, {0, facts.getRange(bound).most});
  return getAffineSymbolExpr(names.size() - 1, &context);
}

std::string SymbolicSizes::findFaultInRenames() const {
  for (const auto &rename : options.renames) {
    const std::string &original = rename.first, &name = rename.second;
    auto known = originals.find(name);
    if (known == originals.end() || !known->second.count(original)) {
      std::vector<std::string> all;
      for (const auto &entry : originals)
        llvm::append_range(all, entry.second);
      llvm::sort(all);
      std::string list = all.empty() ? ", all are static" : ", but '" + printable(llvm::join(all, "', '")) + "'";
      return "--rename: the model has no dimension '" + printable(original) + "'" + suggest(original, all) + list;
    }
    if (known->second.size() > 1) {
      auto other = llvm::find_if(known->second, [&](const std::string &one) { return one != original; });
      return "--rename: '" + printable(original) + "' and '" + printable(*other) + "' would both be called '" + printable(name) + "'";
    }
  }
  return "";
}

bool SymbolicSizes::isConstraint(AffineExpr mustBeZero) const {
  AffineExpr same = nn::simplifyDim(mustBeZero), negated = nn::simplifyDim(mustBeZero * -1);
  return llvm::any_of(constraints, [&](const nn::Constraint &known) { return known.mustBeZero == same || known.mustBeZero == negated; });
}

void SymbolicSizes::addConstraint(AffineExpr mustBeZero, StringRef node) {
  if (!isConstraint(mustBeZero))
    constraints.push_back({nn::simplifyDim(mustBeZero), node.str()});
}

void SymbolicSizes::requireNotNegative(AffineExpr expr, StringRef node) {
  addConstraint(nn::makeNotNegative(expr), node);
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
      requireNotNegative(expr, "");
}

AffineExpr SymbolicSizes::usePinned(AffineExpr dim) const {
  for (const nn::Constraint &known : constraints) {
    AffineExpr constraint = known.mustBeZero;
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

void SymbolicSizes::goBackTo(const Mark &mark) {
  assert(names.size() - mark.names <= computedBounds.size() && "only computed symbols are forgotten");
  for (const std::string &name : llvm::ArrayRef(names).drop_front(mark.names))
    originals.erase(name);
  computedBounds.truncate(computedBounds.size() - (names.size() - mark.names));
  names.truncate(mark.names);
  constraints.resize(mark.constraints);
  facts.goBackTo(mark.facts);
}

void SymbolicSizes::recordSymbols(ModuleOp module) const {
  Builder b(&context);
  SmallVector<StringRef> texts(names.begin(), names.end());
  module->setAttr(nn::symbolsAttrName, b.getStrArrayAttr(texts));
  if (!computedBounds.empty())
    module->setAttr(nn::computedSymbolsAttrName, AffineMapAttr::get(AffineMap::get(0, computed().given(), computedBounds, &context)));
  SmallVector<int64_t> positions;
  for (const std::string &name : assumptions.raised)
    positions.push_back(cast<AffineSymbolExpr>(raised.lookup(name)).getPosition());
  if (!positions.empty())
    module->setAttr(nn::raisedSymbolsAttrName, b.getDenseI64ArrayAttr(positions));
}

void SymbolicSizes::record(ModuleOp module) const {
  recordSymbols(module);
  DimExprs assumed = llvm::filter_to_vector(assumedEqual, [&](AffineExpr zero) { return isConstraint(zero); });
  if (!assumed.empty())
    module->setAttr(nn::assumedAttrName, AffineMapAttr::get(AffineMap::get(0, names.size(), assumed, &context)));
  nn::setConstraints(module, constraints);
}

} // namespace kiln::import
