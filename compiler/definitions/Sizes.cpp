//===- Sizes.cpp - Arithmetic of sizes in definitions -----------------------===//
#include "compiler/definitions/Sizes.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

using namespace llvm;

namespace kiln::definitions {

using Kind = IndexExpr::Kind;

std::string print(const IndexExpr &expr) {
  auto two = [&](StringRef sign) { return print(expr.operands[0]) + sign.str() + print(expr.operands[1]); };
  auto bracketed = [&](StringRef sign) {
    auto side = [](const IndexExpr &operand) {
      bool isSum = operand.kind == Kind::Add || operand.kind == Kind::Sub;
      return isSum ? "(" + print(operand) + ")" : print(operand);
    };
    return side(expr.operands[0]) + sign.str() + side(expr.operands[1]);
  };
  switch (expr.kind) {
  case Kind::Number:
    return std::to_string(expr.number);
  case Kind::Variable:
  case Kind::Attribute:
    return expr.name;
  case Kind::Dim:
    return "dim(" + expr.name + ", " + std::to_string(expr.number) + ")";
  case Kind::Add:
    return two(" + ");
  case Kind::Sub:
    return expr.operands[0].isConstant(0) ? "-" + print(expr.operands[1]) : two(" - ");
  case Kind::Mul:
    return bracketed(" * ");
  case Kind::FloorDiv:
    return bracketed(" // ");
  case Kind::Mod:
    return bracketed(" % ");
  case Kind::Min:
    return "min(" + two(", ") + ")";
  case Kind::Max:
    return "max(" + two(", ") + ")";
  }
  return "";
}

double boundMagnitude(const IndexExpr &expr, function_ref<double(const IndexExpr &)> leaf) {
  if (expr.kind == Kind::Number)
    return std::abs(static_cast<double>(expr.number));
  if (expr.operands.empty())
    return leaf(expr);
  double left = boundMagnitude(expr.operands[0], leaf), right = boundMagnitude(expr.operands[1], leaf);
  return expr.kind == Kind::Mul ? left * right : expr.kind == Kind::Add || expr.kind == Kind::Sub ? left + right : std::max(left, right);
}

//===- Sums of indices -------------------------------------------------------===//

const AffineIndex::Term *AffineIndex::find(StringRef index) const {
  auto found = find_if(terms, [&](const Term &term) { return term.index == index; });
  return found == terms.end() ? nullptr : &*found;
}

static void addTerms(AffineIndex &sum, const AffineIndex &other, int64_t sign) {
  sum.rest = sign > 0 ? sum.rest + other.rest : sum.rest - other.rest;
  for (const AffineIndex::Term &term : other.terms) {
    IndexExpr factor = term.factor * number(sign);
    auto *known = const_cast<AffineIndex::Term *>(sum.find(term.index));
    if (known)
      known->factor = simplify(known->factor + factor);
    else
      sum.terms.push_back({term.index, factor});
  }
  erase_if(sum.terms, [](const AffineIndex::Term &term) { return term.factor.isConstant(0); });
}

std::optional<AffineIndex> asAffine(const IndexExpr &expr) {
  if (expr.kind == Kind::Variable)
    return AffineIndex{{{expr.name, number(1)}}, number(0)};
  if (expr.operands.empty())
    return AffineIndex{{}, expr};
  std::optional<AffineIndex> left = asAffine(expr.operands[0]), right = asAffine(expr.operands[1]);
  if (!left || !right)
    return std::nullopt;
  if (left->terms.empty() && right->terms.empty())
    return AffineIndex{{}, expr};
  if (expr.kind == Kind::Add || expr.kind == Kind::Sub) {
    addTerms(*left, *right, expr.kind == Kind::Add ? 1 : -1);
    return left;
  }
  if (expr.kind != Kind::Mul || (!left->terms.empty() && !right->terms.empty()))
    return std::nullopt;
  AffineIndex &sum = left->terms.empty() ? *right : *left;
  IndexExpr factor = left->terms.empty() ? left->rest : right->rest;
  sum.rest = sum.rest * factor;
  for (AffineIndex::Term &term : sum.terms)
    term.factor = term.factor * factor;
  return sum;
}

//===- Sums of sizes -----------------------------------------------------------===//

namespace {
/// Parts that are no sums or multiples, by their text, with their factors; and a number.
struct Parts {
  std::map<std::string, std::pair<IndexExpr, int64_t>> parts;
  int64_t constant = 0;
  /// A number beyond 64 bits: then nothing is simplified.
  bool overflows = false;
};
} // namespace

static void addParts(Parts &sum, const IndexExpr &expr, int64_t factor) {
  auto addTo = [&](int64_t &to, int64_t number) {
    int64_t product;
    sum.overflows |= __builtin_mul_overflow(number, factor, &product) || __builtin_add_overflow(to, product, &to);
  };
  if (expr.kind == Kind::Number)
    return addTo(sum.constant, expr.number);
  if (expr.kind == Kind::Add || expr.kind == Kind::Sub) {
    addParts(sum, expr.operands[0], factor);
    int64_t other = factor;
    sum.overflows |= expr.kind == Kind::Sub && __builtin_sub_overflow(int64_t(0), factor, &other);
    return addParts(sum, expr.operands[1], other);
  }
  if (expr.kind == Kind::Mul)
    for (unsigned i : {0, 1})
      if (int64_t product; expr.operands[i].kind == Kind::Number && !__builtin_mul_overflow(expr.operands[i].number, factor, &product))
        return addParts(sum, expr.operands[1 - i], product);
  auto [part, isNew] = sum.parts.try_emplace(print(expr), expr, 0);
  addTo(part->second.second, 1);
}

IndexExpr simplify(const IndexExpr &expr) {
  Parts sum;
  addParts(sum, expr, 1);
  if (sum.overflows)
    return expr;
  IndexExpr result = number(0);
  bool isFirst = true;
  for (const auto &[text, part] : sum.parts) {
    if (part.second == INT64_MIN)
      return expr;
    if (part.second == 0)
      continue;
    bool subtracts = !isFirst && part.second < 0;
    IndexExpr term = part.first * number(subtracts ? -part.second : part.second);
    result = isFirst ? term : subtracts ? result - term : result + term;
    isFirst = false;
  }
  if (isFirst)
    return number(sum.constant);
  return sum.constant < 0 && sum.constant != INT64_MIN ? result - number(-sum.constant) : result + number(sum.constant);
}

bool isSame(const IndexExpr &a, const IndexExpr &b) { return simplify(a - b).isConstant(0); }

} // namespace kiln::definitions
