//===- SizeSolver.cpp - The sizes for which an expression is zero -----------===//
//
// Sums, quotients, remainders, maxima and signs of one symbol are straight lines from some size on, one for each remainder of the size by some period:
// f(s + period) = f(s) + step(s). So for each remainder f is zero always, never, or once.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/SizeSet.h"
#include "dialects/nn/DimFacts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <vector>

using namespace mlir;

namespace kiln {

static constexpr int64_t mostPeriod = 1 << 12, mostStart = 1 << 14, mostValue = int64_t(1) << 50;

namespace {

/// The values of f at 0, 1, ..., of which the last 2 * period begin at `start`.
struct Lines {
  int64_t start = 0, period = 1;
  std::vector<int64_t> values;

  int64_t stepAt(int64_t rest) const { return values[size_t(start + rest + period)] - values[size_t(start + rest)]; }
  int64_t at(int64_t size) const {
    if (size < int64_t(values.size()))
      return values[size_t(size)];
    int64_t rest = (size - start) % period, times = (size - start) / period;
    return values[size_t(start + rest)] + times * stepAt(rest);
  }
  bool isEven() const {
    for (int64_t rest = 0; rest < period; ++rest)
      if (stepAt(rest) != 0)
        return false;
    return true;
  }
};

using Result = std::optional<Lines>;

class Solver {
public:
  Result get(AffineExpr expr) {
    auto known = results.find(expr);
    if (known != results.end())
      return known->second;
    Result result = compute(expr);
    results[expr] = result;
    return result;
  }

private:
  Result compute(AffineExpr expr);
  llvm::DenseMap<AffineExpr, Result> results;
};

} // namespace

/// The values of a function of which it is known where its lines begin.
static Result sample(int64_t start, int64_t period, llvm::function_ref<int64_t(int64_t)> valueAt) {
  if (period > mostPeriod || start > mostStart)
    return std::nullopt;
  Lines lines{start, period, {}};
  for (int64_t size = 0; size < start + 2 * period; ++size) {
    lines.values.push_back(valueAt(size));
    if (std::abs(lines.values.back()) > mostValue)
      return std::nullopt;
  }
  return lines;
}

/// Where each line has the sign that it keeps; -1: beyond what is looked at.
static int64_t findConstantSigns(const Lines &lines) {
  int64_t periods = 0;
  for (int64_t rest = 0; rest < lines.period; ++rest) {
    int64_t value = lines.at(lines.start + rest), step = lines.stepAt(rest);
    if ((value < 0 && step > 0) || (value > 0 && step < 0))
      periods = std::max(periods, std::abs(value) / std::abs(step) + 1);
    else if (value == 0 && step != 0)
      periods = std::max<int64_t>(periods, 1);
  }
  return periods > mostStart / lines.period ? -1 : lines.start + periods * lines.period;
}

/// Of a quotient, how many periods of the numerator are one of its own.
static int64_t countPeriods(const Lines &lines, int64_t divisor) {
  int64_t times = 1;
  for (int64_t rest = 0; rest < lines.period && times <= mostPeriod; ++rest)
    times = std::lcm(times, divisor / std::gcd(divisor, lines.stepAt(rest)));
  return times;
}

Result Solver::compute(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return sample(0, 1, [&](int64_t) { return constant.getValue(); });
  if (isa<AffineSymbolExpr>(expr))
    return sample(0, 1, [](int64_t size) { return size; });
  AffineExpr sign = nn::matchSign(expr), part = sign ? AffineExpr() : nn::matchPositivePart(expr);
  if (sign || part) {
    Result inner = get(sign ? sign : part);
    int64_t start = inner ? findConstantSigns(*inner) : -1;
    if (start < 0)
      return std::nullopt;
    return sample(start, inner->period, [&](int64_t size) { return sign ? int64_t(inner->at(size) > 0) : std::max<int64_t>(inner->at(size), 0); });
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Result left = get(binary.getLHS()), right = left ? get(binary.getRHS()) : std::nullopt;
  if (!right)
    return std::nullopt;
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  int64_t start = std::max(left->start, right->start), period = std::lcm(left->period, right->period), divisor = number ? number.getValue() : 0;
  // A sign that simplification has changed: sizes are far below the divisor.
  if (expr.getKind() == AffineExprKind::FloorDiv && divisor >= int64_t(1) << 33) {
    start = findConstantSigns(*left);
    return start < 0 ? std::nullopt : sample(start, period, [&](int64_t size) { return left->at(size) < 0 ? -1 : 0; });
  }
  bool divides = divisor > 0 && divisor <= mostPeriod;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return sample(start, period, [&](int64_t size) { return left->at(size) + right->at(size); });
  case AffineExprKind::Mul: {
    bool fits = number ? std::abs(divisor) < mostValue : left->isEven() || right->isEven();
    return fits ? sample(start, period, [&](int64_t size) { return llvm::MulOverflow(left->at(size), right->at(size), divisor) ? mostValue + 1 : divisor; })
                : std::nullopt;
  }
  case AffineExprKind::FloorDiv:
    return divides ? sample(start, period * countPeriods(*left, divisor), [&](int64_t size) { return llvm::divideFloorSigned(left->at(size), divisor); })
                   : std::nullopt;
  case AffineExprKind::CeilDiv:
    return divides ? sample(start, period * countPeriods(*left, divisor), [&](int64_t size) { return llvm::divideCeilSigned(left->at(size), divisor); })
                   : std::nullopt;
  default:
    return divides ? sample(start, period * countPeriods(*left, divisor), [&](int64_t size) { return llvm::mod(left->at(size), divisor); }) : std::nullopt;
  }
}

//===- Where lines are zero, or not negative -------------------------------===//

static std::optional<SizeSet> collect(const Result &lines, llvm::function_ref<bool(int64_t)> holds) {
  int64_t start = lines ? findConstantSigns(*lines) : -1;
  if (start < 0)
    return std::nullopt;
  llvm::BitVector small{unsigned(start)}, remainders{unsigned(lines->period)};
  for (int64_t size = 0; size < start; ++size)
    small[unsigned(size)] = holds(lines->at(size));
  for (int64_t size = start; size < start + lines->period; ++size)
    remainders[unsigned(size % lines->period)] = holds(lines->at(size));
  return SizeSet(std::move(small), std::move(remainders));
}

/// The factors of a product that is none with a number.
static std::optional<std::pair<AffineExpr, AffineExpr>> splitProduct(AffineExpr expr) {
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || expr.getKind() != AffineExprKind::Mul || isa<AffineConstantExpr>(product.getRHS()) || nn::matchPositivePart(expr))
    return std::nullopt;
  return std::make_pair(product.getLHS(), product.getRHS());
}

/// Equal parts are solved once, but they are walked where they are simplified.
static constexpr unsigned mostParts = 1 << 16;

std::optional<SizeSet> solveZero(AffineExpr expr) {
  if (nn::hasMoreParts(expr, mostParts))
    return std::nullopt;
  if (auto factors = splitProduct(expr)) {
    std::optional<SizeSet> left = solveZero(factors->first), right = left ? solveZero(factors->second) : std::nullopt;
    return right ? SizeSet::combine(*left, *right, /*isUnion=*/true) : std::nullopt;
  }
  return collect(Solver().get(expr), [](int64_t value) { return value == 0; });
}

std::optional<SizeSet> solveNotNegative(AffineExpr expr) {
  if (nn::hasMoreParts(expr, mostParts))
    return std::nullopt;
  if (auto factors = splitProduct(expr)) {
    auto both = [](std::optional<SizeSet> left, std::optional<SizeSet> right, bool isUnion) {
      return left && right ? SizeSet::combine(*left, *right, isUnion) : std::nullopt;
    };
    auto [left, right] = *factors;
    return both(both(solveNotNegative(left), solveNotNegative(right), false), both(solveNotNegative(left * -1), solveNotNegative(right * -1), false), true);
  }
  return collect(Solver().get(expr), [](int64_t value) { return value >= 0; });
}

} // namespace kiln
