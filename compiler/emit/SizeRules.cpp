//===- SizeRules.cpp - What a model demands of its dimensions ---------------===//
#include "compiler/emit/SizeRules.h"
#include "compiler/emit/SizeSet.h"
#include "compiler/emit/SizeText.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace kiln {

/// The factors of a product one of which must be zero; the expression itself if it is none.
static SmallVector<AffineExpr> listFactors(AffineExpr expr) {
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || expr.getKind() != AffineExprKind::Mul || isa<AffineConstantExpr>(product.getRHS()))
    return {expr};
  SmallVector<AffineExpr> factors = listFactors(nn::simplifyDim(product.getLHS()));
  llvm::append_range(factors, listFactors(nn::simplifyDim(product.getRHS())));
  return factors;
}

//===- Words ---------------------------------------------------------------===//

static std::string ruleText(AffineExpr mustBeZero, NameOfSymbol nameOf) {
  if (AffineExpr number = nn::matchNotNegative(mustBeZero)) {
    auto [more, less] = splitBySign(number);
    return sizeText(less, nameOf) + " <= " + sizeText(more, nameOf);
  }
  std::vector<std::string> parts;
  for (AffineExpr factor : listFactors(nn::simplifyDim(mustBeZero))) {
    auto [left, right] = splitBySign(factor);
    // A number stands on the right.
    bool swaps = isa<AffineConstantExpr>(left);
    parts.push_back(sizeText(swaps ? right : left, nameOf) + " == " + sizeText(swaps ? left : right, nameOf));
  }
  return llvm::join(parts, " or ");
}

/// The symbols of an expression, each once, in their order; nullopt if the caller does not give all of them.
static std::optional<std::vector<unsigned>> listGiven(AffineExpr expr, const Signature &signature) {
  std::set<unsigned> positions;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      positions.insert(symbol.getPosition());
  });
  std::vector<unsigned> given;
  for (unsigned position : positions) {
    const SignatureSymbol *symbol = signature.findSymbol(position);
    if (!symbol || symbol->most)
      return std::nullopt;
    given.push_back(unsigned(symbol - signature.symbols.data()));
  }
  return given;
}

//===- Rules for one symbol ------------------------------------------------===//

namespace {
/// What all rules together allow one symbol, and which rules these are.
struct Allowed {
  std::optional<SizeSet> set;
  std::vector<size_t> rules;
};
} // namespace

/// A rule that a symbol is at least or at most a number: moves the symbol's end, and gives the rule its words.
static bool readLimit(SizeRule &rule, AffineExpr number, SignatureSymbol &symbol) {
  bool isLinear = number.isPureAffine();
  number.walk([&](AffineExpr part) {
    isLinear &= !llvm::is_contained({AffineExprKind::FloorDiv, AffineExprKind::CeilDiv, AffineExprKind::Mod}, part.getKind());
  });
  AffineExpr variable = getAffineSymbolExpr(symbol.position, number.getContext());
  auto at = [&](int64_t value) { return nn::getConstantDim(number.replace(variable, getAffineConstantExpr(value, number.getContext()))); };
  std::optional<int64_t> zero = at(0), one = at(1);
  if (!isLinear || !zero || !one || *one == *zero)
    return false;
  int64_t slope = *one - *zero;
  bool isLeast = slope > 0;
  int64_t limit = isLeast ? llvm::divideCeilSigned(-*zero, slope) : llvm::divideFloorSigned(*zero, -slope);
  rule.text = symbol.field + (isLeast ? " >= " : " <= ") + std::to_string(limit);
  rule.demand = (isLeast ? "must be at least " : "must be at most ") + std::to_string(limit);
  rule.isBound = true;
  int64_t &end = isLeast ? symbol.min : symbol.max;
  if (isLeast ? limit > end : limit < end) {
    end = limit;
    (isLeast ? symbol.minNode : symbol.maxNode) = rule.node;
  }
  return true;
}

static void addSet(size_t rule, std::optional<SizeSet> set, Allowed &allowed) {
  std::optional<SizeSet> both = allowed.set ? SizeSet::combine(*allowed.set, *set, /*isUnion=*/false) : set;
  if (!both)
    return;
  allowed.set = std::move(both);
  allowed.rules.push_back(rule);
}

static std::string withNode(const std::string &text, const std::string &node, unsigned others = 0) {
  if (node.empty())
    return text;
  return text + " (" + node + (others == 0 ? "" : others == 1 ? " and another node" : " and " + std::to_string(others) + " other nodes") + ")";
}

/// The words for all rules of a symbol together, which say more than those of one. Returns whether there are any.
static bool describeTogether(const Allowed &allowed, SignatureSymbol &symbol, Signature &signature) {
  SizeSet::Words words = allowed.set->describe(symbol.field, symbol.min, symbol.max);
  if (words.text.empty())
    return false;
  std::set<std::string> nodes;
  for (size_t rule : allowed.rules) {
    signature.rules[rule].demand = words.demand;
    nodes.insert(signature.rules[rule].node);
  }
  symbol.multiple = allowed.set->getMultiple(symbol.min, symbol.max);
  if (std::optional<int64_t> largest = allowed.set->getLargest(); largest && *largest >= symbol.min && *largest < symbol.max) {
    symbol.max = *largest;
    symbol.maxNode = signature.rules[allowed.rules.front()].node;
  }
  signature.demands.push_back(withNode(words.text, signature.rules[allowed.rules.front()].node, unsigned(nodes.size()) - 1));
  return true;
}

/// Lines for people: what each symbol by itself must be, then what ties several.
static void listDemands(Signature &signature, const std::map<unsigned, Allowed> &allowed, std::vector<bool> isSaid) {
  for (auto [i, symbol] : llvm::enumerate(signature.symbols)) {
    if (!symbol.most && symbol.min > symbol.givenMin)
      signature.demands.push_back(withNode(symbol.field + " >= " + std::to_string(symbol.min), symbol.minNode));
    if (!symbol.most && symbol.max < symbol.givenMax)
      signature.demands.push_back(withNode(symbol.field + " <= " + std::to_string(symbol.max), symbol.maxNode));
    if (auto own = allowed.find(unsigned(i)); own != allowed.end() && describeTogether(own->second, symbol, signature))
      for (size_t rule : own->second.rules)
        isSaid[rule] = true;
  }
  std::set<unsigned> isOpen;
  for (auto [rule, isListed] : llvm::zip_equal(signature.rules, isSaid)) {
    if (isListed)
      continue;
    if (rule.symbols.size() == 1)
      isOpen.insert(rule.symbols.front());
    if (std::string line = withNode(rule.text, rule.node); !llvm::is_contained(signature.demands, line))
      signature.demands.push_back(line);
  }
  // Other rules may exclude multiples.
  for (unsigned place : isOpen)
    signature.symbols[place].multiple = 0;
}

void readSizeRules(Signature &signature) {
  constexpr unsigned mostParts = 400;
  constexpr size_t mostText = 160;
  auto nameOf = [&](unsigned position) { return signature.findSymbol(position)->field; };
  auto names = signature.module()->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  auto nameOfAny = [&](unsigned position) { return cast<StringAttr>(names[position]).str(); };
  std::map<unsigned, Allowed> allowed;
  std::vector<bool> isSaid;
  for (const nn::Constraint &constraint : nn::getConstraints(signature.module())) {
    auto symbols = listGiven(constraint.mustBeZero, signature);
    if (!symbols && !nn::hasMoreParts(constraint.mustBeZero, mostParts))
      if (std::string text = ruleText(constraint.mustBeZero, nameOfAny); text.size() <= mostText)
        signature.dataDemands.push_back(withNode("the data must give " + text, constraint.node));
    if (!symbols || symbols->empty())
      continue;
    SizeRule rule{constraint.mustBeZero, constraint.node, *symbols, "", ""};
    bool isLarge = nn::hasMoreParts(rule.mustBeZero, mostParts), isOne = symbols->size() == 1 && !isLarge;
    rule.text = isLarge ? "" : ruleText(rule.mustBeZero, nameOf);
    if (rule.text.empty() || rule.text.size() > mostText)
      rule.text = "sizes that fit each other, which depend on " + llvm::join(llvm::map_range(*symbols, [&](unsigned place) {
                    return signature.symbols[place].field;
                  }), " and ");
    rule.demand = "must have " + rule.text;
    AffineExpr number = nn::matchNotNegative(rule.mustBeZero);
    isSaid.push_back(isOne && number && readLimit(rule, number, signature.symbols[symbols->front()]));
    std::optional<SizeSet> set;
    if (symbols->size() == 1 && !isSaid.back())
      set = number ? solveNotNegative(number) : solveZero(rule.mustBeZero);
    if (set)
      addSet(signature.rules.size(), std::move(set), allowed[symbols->front()]);
    signature.rules.push_back(std::move(rule));
  }
  listDemands(signature, allowed, std::move(isSaid));
}

//===- Conditions ----------------------------------------------------------===//

std::string fieldText(AffineExpr expr, const Signature &signature) {
  return sizeCode(expr, [&](unsigned position) { return "dims->" + signature.findSymbol(position)->field; });
}

static std::string ruleCondition(const SizeRule &rule, NameOfSymbol nameOf) {
  if (AffineExpr number = nn::matchNotNegative(rule.mustBeZero)) {
    auto [more, less] = splitBySign(number);
    return sizeCode(less, nameOf) + " <= " + sizeCode(more, nameOf);
  }
  std::vector<std::string> parts;
  for (AffineExpr factor : listFactors(nn::simplifyDim(rule.mustBeZero))) {
    auto [left, right] = splitBySign(factor);
    parts.push_back(sizeCode(left, nameOf) + " == " + sizeCode(right, nameOf));
  }
  return llvm::join(parts, " || ");
}

//===- Demands -------------------------------------------------------------===//

static void addBounds(const SignatureSymbol &symbol, unsigned place, StringRef name, std::vector<SizeDemand> &demands) {
  auto cause = [&](bool isDemanded, const std::string &node) {
    return !isDemanded ? symbol.isBounded ? " (--dim)" : " (--dim sets other bounds)" : node.empty() ? "" : " (" + node + ")";
  };
  std::string least = std::to_string(symbol.min), most = std::to_string(symbol.max), less = (symbol.min < 0 ? " + " : " - ") + least.substr(symbol.min < 0);
  demands.push_back({name.str() + " >= " + least, symbol.field + less, /*isLeast=*/true, /*isBound=*/true, {place},
                     "must be at least " + least + cause(symbol.min > symbol.givenMin, symbol.minNode)});
  demands.push_back({name.str() + " <= " + most, most + " - " + symbol.field, /*isLeast=*/true, /*isBound=*/true, {place},
                     "must be at most " + most + cause(symbol.max < symbol.givenMax, symbol.maxNode)});
}

std::vector<SizeDemand> listSizeDemands(const Signature &signature, llvm::function_ref<std::string(const SignatureSymbol &)> nameOf) {
  constexpr size_t mostText = 2000;
  std::vector<SizeDemand> demands;
  for (auto [place, symbol] : llvm::enumerate(signature.givenSymbols()))
    addBounds(symbol, unsigned(place), nameOf(symbol), demands);
  for (const SizeRule &rule : signature.rules) {
    if (rule.isBound)
      continue;
    AffineExpr notNegative = nn::matchNotNegative(rule.mustBeZero);
    std::string number = dimText(notNegative ? notNegative : rule.mustBeZero, signature, "");
    demands.push_back({ruleCondition(rule, [&](unsigned position) { return nameOf(*signature.findSymbol(position)); }),
                       number.size() > mostText ? "" : number, notNegative != nullptr, /*isBound=*/false, rule.symbols,
                       withNode(rule.demand, rule.node)});
  }
  return demands;
}

StringRef demandStatus(const SizeDemand &demand) {
  return demand.isBound ? "KILN_STATUS_DIMENSION_OUT_OF_BOUNDS" : "KILN_STATUS_DIMENSION_MISMATCH";
}

} // namespace kiln
