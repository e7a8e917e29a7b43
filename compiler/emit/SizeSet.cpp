//===- SizeSet.cpp - The sizes that an equation allows ----------------------===//
//
// Sums, products with numbers, quotients and remainders of one symbol grow evenly: for some period p, f(s + p) = f(s) + d for all s. So f(s) = 0 holds for whole
// classes of remainders if d is zero, and for at most p sizes otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/SizeSet.h"
#include "dialects/nn/DimFacts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace kiln {

static constexpr int64_t mostPeriod = 1 << 12, mostSmall = 1 << 16;

namespace {
/// f(s + period) = f(s) + step
struct Growth {
  int64_t period, step;
};
} // namespace

static std::optional<Growth> getGrowth(AffineExpr expr) {
  if (isa<AffineConstantExpr>(expr))
    return Growth{1, 0};
  if (isa<AffineSymbolExpr>(expr))
    return Growth{1, 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  std::optional<Growth> left = binary ? getGrowth(binary.getLHS()) : std::nullopt, right = left ? getGrowth(binary.getRHS()) : std::nullopt;
  if (!right)
    return std::nullopt;
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add) {
    int64_t period = std::lcm(left->period, right->period);
    return period > mostPeriod ? std::nullopt : std::optional(Growth{period, left->step * (period / left->period) + right->step * (period / right->period)});
  }
  if (!number || std::abs(number.getValue()) > mostSmall)
    return std::nullopt;
  int64_t value = number.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return Growth{left->period, left->step * value};
  if (value <= 0)
    return std::nullopt;
  // After so many periods the numerator has grown by a multiple of the divisor.
  int64_t times = value / std::gcd(value, left->step), period = left->period * times;
  if (period > mostPeriod)
    return std::nullopt;
  return Growth{period, expr.getKind() == AffineExprKind::Mod ? 0 : left->step * times / value};
}

static int64_t evaluate(AffineExpr expr, int64_t size) {
  auto *context = expr.getContext();
  AffineExpr symbol;
  expr.walk([&](AffineExpr part) { symbol = isa<AffineSymbolExpr>(part) ? part : symbol; });
  return nn::getConstantDim(symbol ? expr.replace(symbol, getAffineConstantExpr(size, context)) : expr).value_or(1);
}

std::optional<SizeSet> SizeSet::solve(AffineExpr expr) {
  expr = nn::simplifyDim(expr);
  constexpr unsigned mostParts = 200;
  if (nn::hasMoreParts(expr, mostParts))
    return std::nullopt;
  if (auto product = dyn_cast<AffineBinaryOpExpr>(expr);
      product && expr.getKind() == AffineExprKind::Mul && !isa<AffineConstantExpr>(product.getRHS())) {
    std::optional<SizeSet> left = solve(product.getLHS()), right = left ? solve(product.getRHS()) : std::nullopt;
    return right ? combine(*left, *right, /*isUnion=*/true) : std::nullopt;
  }
  std::optional<Growth> growth = getGrowth(expr);
  if (!growth)
    return std::nullopt;
  llvm::BitVector remainders(growth->step ? 1 : unsigned(growth->period)), small;
  for (int64_t rest = 0; rest < growth->period; ++rest) {
    int64_t value = evaluate(expr, rest);
    if (growth->step == 0) {
      remainders[unsigned(rest)] = value == 0;
      continue;
    }
    int64_t size = value % growth->step == 0 ? rest - value / growth->step * growth->period : -1;
    if (size > mostSmall)
      return std::nullopt;
    if (size < 0)
      continue;
    if (small.size() <= unsigned(size))
      small.resize(unsigned(size) + 1);
    small.set(unsigned(size));
  }
  return SizeSet(std::move(small), std::move(remainders));
}

std::optional<SizeSet> SizeSet::combine(const SizeSet &a, const SizeSet &b, bool isUnion) {
  int64_t period = std::lcm<int64_t>(a.remainders.size(), b.remainders.size());
  if (period > mostSmall)
    return std::nullopt;
  auto isIn = [&](bool left, bool right) { return isUnion ? left || right : left && right; };
  llvm::BitVector remainders{unsigned(period)}, small(std::max(a.small.size(), b.small.size()));
  for (unsigned i = 0; i < remainders.size(); ++i)
    remainders[i] = isIn(a.remainders[i % a.remainders.size()], b.remainders[i % b.remainders.size()]);
  for (unsigned i = 0; i < small.size(); ++i)
    small[i] = isIn(a.contains(i), b.contains(i));
  return SizeSet(std::move(small), std::move(remainders));
}

/// The shortest period, and no more small sizes than differ from it.
void SizeSet::reduce() {
  for (unsigned period = 1; period < remainders.size(); ++period) {
    if (remainders.size() % period)
      continue;
    bool repeats = true;
    for (unsigned i = period; repeats && i < remainders.size(); ++i)
      repeats = remainders[i] == remainders[i - period];
    if (repeats)
      remainders.resize(period);
  }
  while (!small.empty() && small[small.size() - 1] == remainders[(small.size() - 1) % remainders.size()])
    small.pop_back();
}

/// "0, 3 to 5 or 9"; empty if there are too many to say.
static std::string listSizes(llvm::ArrayRef<int64_t> sizes) {
  constexpr size_t most = 6;
  std::vector<std::string> ranges;
  for (size_t first = 0, last = 0; first < sizes.size(); first = last + 1) {
    for (last = first; last + 1 < sizes.size() && sizes[last + 1] == sizes[last] + 1;)
      ++last;
    ranges.push_back(std::to_string(sizes[first]) + (last == first ? "" : (last == first + 1 ? " or " : " to ") + std::to_string(sizes[last])));
  }
  if (ranges.empty() || ranges.size() > most)
    return "";
  std::string end = ranges.back();
  ranges.pop_back();
  return ranges.empty() ? end : llvm::join(ranges, ", ") + " or " + end;
}

SizeSet::Words SizeSet::describe(llvm::StringRef name, int64_t least, int64_t most) const {
  std::vector<int64_t> rests, more, holes;
  for (unsigned i : remainders.set_bits())
    rests.push_back(i);
  for (int64_t i = std::max<int64_t>(least, 0); i < std::min<int64_t>(int64_t(small.size()), most + 1); ++i)
    if (bool isRegular = remainders[unsigned(i % int64_t(remainders.size()))]; small[unsigned(i)] != isRegular)
      (isRegular ? holes : more).push_back(i);
  Words words;
  std::string symbol = name.str(), period = std::to_string(remainders.size()), list = listSizes(rests);
  bool isFinite = rests.empty(), isAll = remainders.size() == 1 && !isFinite;
  if ((!isFinite && list.empty()) || (!more.empty() && listSizes(more).empty()) || (!holes.empty() && listSizes(holes).empty()))
    return {};
  if (isFinite && more.empty())
    return {"has no size that the model can run with", "no " + symbol + " fits"};
  if (isFinite)
    return {"must be " + listSizes(more), symbol + (more.size() == 1 ? " == " : " is ") + listSizes(more)};
  if (rests.size() == 1 && !isAll)
    words = {rests[0] ? "must be " + list + " more than a multiple of " + period : "must be a multiple of " + period, symbol + " % " + period + " == " + list};
  else if (!isAll)
    words = {"must be " + list + " modulo " + period, symbol + " % " + period + " is " + list};
  if (int64_t multiple = getMultiple(least, most); multiple && rests.size() > 1)
    words.demand += ", as multiples of " + std::to_string(multiple) + " are";
  if (!more.empty())
    words = {words.demand + ", or " + listSizes(more), words.text + " or " + symbol + " is " + listSizes(more)};
  if (!holes.empty())
    words = {words.demand + (isAll ? "must not be " : ", but not ") + listSizes(holes), words.text + (isAll ? symbol + " is not " : " and " + symbol + " is not ") +
                                                                                           listSizes(holes)};
  return words;
}

int64_t SizeSet::getMultiple(int64_t least, int64_t most) const {
  if (remainders.size() == 1)
    return 0;
  for (unsigned multiple = 2; multiple <= remainders.size(); ++multiple) {
    if (remainders.size() % multiple)
      continue;
    bool areIn = true;
    for (unsigned i = 0; areIn && i < remainders.size(); i += multiple)
      areIn = remainders[i];
    for (int64_t i = 0; areIn && i < int64_t(small.size()) && i <= most; i += multiple)
      areIn = i < least || small[unsigned(i)];
    if (areIn)
      return multiple;
  }
  return 0;
}

} // namespace kiln
