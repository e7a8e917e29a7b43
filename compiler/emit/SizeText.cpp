//===- SizeText.cpp - Sizes as people write them ----------------------------===//
//
// A model's shape arithmetic gives nested quotients: ((h - 1) floordiv 4) floordiv 8 * 32 + 32. A sum is taken apart into its terms, quotients of quotients
// become one, and the numbers in a numerator and behind the quotient tell whether it is rounded up: here to ceil_div(h, 32) * 32, which is ceil_to(h, 32).
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/SizeText.h"
#include "dialects/nn/ChosenDims.h"
#include "dialects/nn/Dims.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

namespace {

/// A number times an expression that is neither a sum nor a product with a number.
struct Term {
  int64_t factor;
  AffineExpr part;
};

/// A sum without its terms that are numbers, and these.
struct Sum {
  SmallVector<Term> terms;
  int64_t offset = 0;
};

} // namespace

static void addTerms(AffineExpr expr, int64_t factor, Sum &sum) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.offset += factor * constant.getValue();
  } else if (binary && expr.getKind() == AffineExprKind::Add) {
    addTerms(binary.getLHS(), factor, sum);
    addTerms(binary.getRHS(), factor, sum);
  } else if (auto number = binary && expr.getKind() == AffineExprKind::Mul ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr()) {
    addTerms(binary.getLHS(), factor * number.getValue(), sum);
  } else {
    sum.terms.push_back({factor, expr});
  }
}

static AffineExpr makeSum(const Sum &sum, MLIRContext *context) {
  AffineExpr result = getAffineConstantExpr(sum.offset, context);
  for (const Term &term : sum.terms)
    result = result + term.part * term.factor;
  return nn::simplifyDim(result);
}

std::pair<AffineExpr, AffineExpr> splitBySign(AffineExpr expr) {
  Sum all, left, right;
  addTerms(nn::simplifyDim(expr), 1, all);
  for (const Term &term : all.terms)
    (term.factor > 0 ? left : right).terms.push_back({std::abs(term.factor), term.part});
  (all.offset > 0 ? left : right).offset = std::abs(all.offset);
  return {makeSum(left, expr.getContext()), makeSum(right, expr.getContext())};
}

namespace {

/// The quotient of a numerator without a number, and what is added to it behind the division.
struct Quotient {
  AffineExpr numerator;
  int64_t remainder = 0, divisor = 1, behind = 0;
  bool isUp = false;
};

/// How tightly a text binds.
enum class Level { Sum, Product, Whole };

struct Text {
  std::string text;
  Level level = Level::Whole;
  std::string at(Level place) const { return level < place ? "(" + text + ")" : text; }
};

class Writer {
public:
  Writer(NameOfSymbol nameOf, bool isCode) : nameOf(nameOf), isCode(isCode) {}
  Text write(AffineExpr expr) { return writeSum(expr); }

private:
  std::optional<Quotient> matchQuotient(AffineExpr expr);
  std::optional<Text> writeExtreme(const Sum &sum, MLIRContext *context);
  std::optional<Text> writeBroadcast(const Sum &sum, MLIRContext *context);
  Text writeSum(AffineExpr expr);
  Text writePart(AffineExpr expr);
  Text writeQuotient(const Quotient &quotient);
  /// The term of a sum with a positive factor. What a quotient adds to the sum goes to `offset`.
  Text writeTerm(int64_t factor, AffineExpr part, int64_t &offset, int64_t sign);

  Text call(const std::string &function, const std::string &left, const std::string &right) {
    return {(isCode ? "kiln_" : "") + function + "(" + left + ", " + right + ")"};
  }
  /// A quotient that is rounded down, or a remainder.
  Text divide(const char *sign, const char *function, const Text &left, const Text &right) {
    return isCode ? call(function, left.text, right.text) : Text{left.at(Level::Product) + sign + right.at(Level::Whole), Level::Product};
  }

  NameOfSymbol nameOf;
  bool isCode;
};

/// (e floordiv a + c) floordiv b is (e + a * c) floordiv (a * b).
std::optional<Quotient> Writer::matchQuotient(AffineExpr expr) {
  auto division = dyn_cast<AffineBinaryOpExpr>(expr);
  auto divisor = division && llvm::is_contained({AffineExprKind::FloorDiv, AffineExprKind::CeilDiv}, expr.getKind())
                     ? dyn_cast<AffineConstantExpr>(division.getRHS())
                     : AffineConstantExpr();
  if (!divisor || divisor.getValue() <= 0 || divisor.getValue() >= int64_t(1) << 31 || nn::matchSign(expr))
    return std::nullopt;
  Quotient result;
  Sum sum;
  addTerms(nn::simplifyDim(division.getLHS()), 1, sum);
  result.divisor = divisor.getValue();
  int64_t offset = sum.offset + (expr.getKind() == AffineExprKind::CeilDiv ? result.divisor - 1 : 0);
  result.numerator = makeSum({sum.terms, 0}, expr.getContext());
  if (sum.terms.size() == 1 && sum.terms.front().factor == 1)
    if (auto inner = matchQuotient(sum.terms.front().part); inner && inner->divisor < int64_t(1) << 31) {
      int64_t inside = inner->isUp ? inner->divisor - 1 : inner->remainder;
      offset = inside + (inner->behind + offset) * inner->divisor;
      result.numerator = inner->numerator;
      result.divisor *= inner->divisor;
    }
  result.behind = llvm::divideFloorSigned(offset, result.divisor);
  result.remainder = offset - result.behind * result.divisor;
  result.isUp = result.divisor > 1 && result.remainder == result.divisor - 1;
  if (result.isUp)
    result.remainder = 0;
  return result;
}

Text Writer::writeQuotient(const Quotient &quotient) {
  Text divisor{std::to_string(quotient.divisor)};
  if (quotient.isUp)
    return call("ceil_div", write(quotient.numerator).text, divisor.text);
  if (quotient.divisor == 1)
    return write(nn::simplifyDim(quotient.numerator + quotient.remainder));
  return divide(" / ", "floor_div", write(nn::simplifyDim(quotient.numerator + quotient.remainder)), divisor);
}

Text Writer::writeTerm(int64_t factor, AffineExpr part, int64_t &offset, int64_t sign) {
  if (auto quotient = matchQuotient(part)) {
    offset += sign * factor * quotient->behind;
    if (!quotient->isUp || factor % quotient->divisor != 0) {
      Text text = writeQuotient(*quotient);
      return factor == 1 ? text : Text{text.at(Level::Whole) + " * " + std::to_string(factor), Level::Product};
    }
    Text rounded = call("ceil_to", write(quotient->numerator).text, std::to_string(quotient->divisor));
    int64_t times = factor / quotient->divisor;
    return times == 1 ? rounded : Text{rounded.text + " * " + std::to_string(times), Level::Product};
  }
  Text text = writePart(part);
  return factor == 1 ? text : Text{text.at(Level::Product) + " * " + std::to_string(factor), Level::Product};
}

/// a + max(b - a, 0) is max(a, b), and a - max(a - b, 0) is min(a, b).
std::optional<Text> Writer::writeExtreme(const Sum &sum, MLIRContext *context) {
  for (auto [i, term] : llvm::enumerate(sum.terms)) {
    AffineExpr part = nn::matchPositivePart(term.part);
    if (!part || std::abs(term.factor) != 1)
      continue;
    Sum rest = sum;
    rest.terms.erase(rest.terms.begin() + i);
    if (rest.terms.empty())
      return std::nullopt;
    AffineExpr one = makeSum(rest, context), other = nn::simplifyDim(one + part * term.factor);
    return call(term.factor > 0 ? "max" : "min", write(one).text, write(other).text);
  }
  return std::nullopt;
}

/// a + (b - a) * (whether a is 1) is the size that a has where it broadcasts with b.
std::optional<Text> Writer::writeBroadcast(const Sum &sum, MLIRContext *context) {
  for (auto [i, term] : llvm::enumerate(sum.terms)) {
    if (isCode || term.factor != 1 || !nn::matchChosen(term.part))
      continue;
    Sum rest = sum;
    rest.terms.erase(rest.terms.begin() + i);
    AffineExpr one = makeSum(rest, context);
    if (AffineExpr other = nn::matchBroadcastOf(makeSum(sum, context), one))
      return call("broadcast", write(one).text, write(other).text);
  }
  return std::nullopt;
}

Text Writer::writeSum(AffineExpr expr) {
  Sum sum;
  addTerms(nn::simplifyDim(expr), 1, sum);
  if (sum.terms.empty())
    return {std::to_string(sum.offset), sum.offset < 0 ? Level::Sum : Level::Whole};
  if (auto extreme = writeExtreme(sum, expr.getContext()))
    return *extreme;
  if (auto broadcast = writeBroadcast(sum, expr.getContext()))
    return *broadcast;
  std::string plus, minus;
  Text only;
  int64_t offset = sum.offset;
  for (const Term &term : sum.terms) {
    int64_t sign = term.factor > 0 ? 1 : -1;
    only = writeTerm(std::abs(term.factor), term.part, offset, sign);
    if (sign > 0)
      plus += (plus.empty() ? "" : " + ") + only.at(Level::Product);
    else
      minus += " - " + only.at(Level::Product);
  }
  if (sum.terms.size() == 1 && offset == 0 && minus.empty())
    return only;
  if (offset > 0)
    plus += (plus.empty() ? "" : " + ") + std::to_string(offset);
  else if (offset < 0)
    minus += " - " + std::to_string(-offset);
  std::string text = plus + minus;
  return {plus.empty() ? "-" + text.substr(3) : text, Level::Sum};
}

Text Writer::writePart(AffineExpr expr) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return {nameOf(symbol.getPosition())};
  if (AffineExpr part = nn::matchPositivePart(expr))
    return call("max", write(part).text, "0");
  if (AffineExpr part = nn::matchSign(expr))
    return {"(" + write(part).text + " > 0)"};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Text left = write(binary.getLHS()), right = write(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return {left.at(Level::Product) + " * " + right.at(Level::Whole), Level::Product};
  case AffineExprKind::Mod:
    return divide(" % ", "floor_mod", {left.at(Level::Whole)}, right);
  case AffineExprKind::CeilDiv:
    return call("ceil_div", left.text, right.text);
  default:
    return divide(" / ", "floor_div", left, right);
  }
}

} // namespace

std::string sizeText(AffineExpr expr, NameOfSymbol nameOf) { return Writer(nameOf, /*isCode=*/false).write(expr).text; }

std::string sizeCode(AffineExpr expr, NameOfSymbol nameOf) { return Writer(nameOf, /*isCode=*/true).write(expr).text; }

} // namespace kiln
