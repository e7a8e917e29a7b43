//===- NumberArithmetic.cpp - Arithmetic on sizes and real numbers ---------===//
#include "compiler/import/NumberArithmetic.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SymbolBounds.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

bool isTooComplex(const Number &number) {
  constexpr unsigned mostParts = 100;
  return number.expr && hasMoreParts(number.expr, mostParts);
}

std::optional<Number> toRational(const Number &number, MLIRContext *context) {
  if (number.expr)
    return number;
  int exponent;
  constexpr int bits = 53, mostExponent = 62;
  double fraction = std::frexp(number.real, &exponent);
  if (!std::isfinite(number.real) || (number.real == 0 && std::signbit(number.real)))
    return std::nullopt;
  auto numerator = static_cast<int64_t>(std::ldexp(fraction, bits));
  int scale = bits - exponent, zeros = numerator == 0 ? scale : llvm::countr_zero(static_cast<uint64_t>(numerator));
  // The numerator becomes odd, unless the number is whole.
  int shift = std::min(zeros, std::max(scale, 0));
  numerator >>= shift;
  scale -= shift;
  if (scale > mostExponent || (scale < 0 && exponent > mostExponent))
    return std::nullopt;
  return Number{getAffineConstantExpr(scale < 0 ? numerator << -scale : numerator, context), 0, scale > 0 ? int64_t(1) << scale : 1};
}

std::optional<int64_t> getMagnitude(AffineExpr expr, const DimFacts &facts) {
  constexpr int64_t huge = int64_t(1) << 61;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == INT64_MIN ? std::nullopt : std::optional(std::abs(constant.getValue()));
  if (isa<AffineSymbolExpr>(expr))
    return facts.getRange(expr).most.value_or(defaultSymbolMax);
  if (DimRange range = facts.getRange(expr); range.least && range.most && *range.least > -huge && *range.most < huge)
    return std::max(std::abs(*range.least), std::abs(*range.most));
  auto parts = dyn_cast<AffineBinaryOpExpr>(expr);
  auto left = parts ? getMagnitude(parts.getLHS(), facts) : std::nullopt, right = left ? getMagnitude(parts.getRHS(), facts) : std::nullopt;
  int64_t result;
  if (!right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return llvm::AddOverflow(*left, *right, result) ? std::nullopt : std::optional(result);
  if (expr.getKind() == AffineExprKind::Mul)
    return llvm::MulOverflow(*left, *right, result) ? std::nullopt : std::optional(result);
  if (expr.getKind() == AffineExprKind::Mod)
    return right;
  // A quotient is at most one more than that of the magnitudes, because it is rounded down or up.
  auto divisor = dyn_cast<AffineConstantExpr>(parts.getRHS());
  int64_t quotient = divisor && divisor.getValue() > 0 ? *left / divisor.getValue() : *left;
  return quotient == INT64_MAX ? std::nullopt : std::optional(quotient + 1);
}

/// Whole numbers up to this one are exact.
static int64_t getPrecision(Type element) { return element.isF64() ? int64_t(1) << 53 : int64_t(1) << 24; }

bool isFaithful(const Number &number, Type element, const DimFacts &facts) {
  auto most = getMagnitude(number.expr, facts);
  if (!most)
    return false;
  // A power of two in the numerator takes no digits.
  int64_t whole = number.expr.getLargestKnownDivisor(), power = whole == 0 ? 1 : whole & -whole;
  if (llvm::isPowerOf2_64(number.divisor))
    return *most / power <= getPrecision(element);
  return *most < getPrecision(element) && number.divisor <= getPrecision(element);
}

std::optional<Number> subtract(const Number &x, const Number &y, Type element, const DimFacts &facts) {
  auto a = toRational(x, element.getContext()), b = toRational(y, element.getContext());
  if (!a || !b || !llvm::isPowerOf2_64(a->divisor) || !llvm::isPowerOf2_64(b->divisor))
    return std::nullopt;
  int64_t common = std::max(a->divisor, b->divisor);
  Number difference{simplifyDim(a->expr * (common / a->divisor) - b->expr * (common / b->divisor)), 0, common};
  return isFaithful(difference, element, facts) ? std::optional(difference) : std::nullopt;
}

namespace {
/// The computation of one element; null contents mean that it is not known.
using Compute = llvm::function_ref<std::optional<Number>(ArrayRef<Number>)>;

/// Arithmetic in the element type of the operands.
class Arithmetic {
public:
  Arithmetic(Operation *op, const DimFacts &facts)
      : op(op), facts(facts), context(op->getContext()), result(getElementTypeOrSelf(op->getResult(0).getType())),
        operand(getElementTypeOrSelf(op->getOperand(0).getType())) {}

  std::optional<Number> compute(ArrayRef<Number> args) const {
    if (llvm::any_of(args, [](const Number &number) { return isTooComplex(number); }))
      return std::nullopt;
    if (isa<SelectOp>(op))
      return select(args);
    if (isa<CastOp>(op))
      return convert(args[0]);
    if (isa<EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp>(op))
      return compare(args[0], args[1]);
    if (llvm::all_of(args, [](const Number &arg) { return arg.expr && isa<AffineConstantExpr>(arg.expr); }))
      return integers(args);
    if (llvm::all_of(args, [](const Number &arg) { return !arg.expr; }))
      return reals(args);
    return isa<FloatType>(result) ? quotients(args) : symbols(args);
  }

private:
  Number number(int64_t value) const { return {getAffineConstantExpr(value, context)}; }
  static int64_t intOf(const Number &n) { return cast<AffineConstantExpr>(n.expr).getValue(); }

  std::optional<Number> select(ArrayRef<Number> args) const {
    if (isa<AffineConstantExpr>(args[0].expr))
      return intOf(args[0]) ? args[1] : args[2];
    auto x = toRational(args[1], context), y = toRational(args[2], context);
    if (!x || !y || !llvm::isPowerOf2_64(x->divisor) || !llvm::isPowerOf2_64(y->divisor))
      return std::nullopt;
    int64_t common = std::max(x->divisor, y->divisor);
    AffineExpr a = x->expr * (common / x->divisor), b = y->expr * (common / y->divisor), chosen = b + args[0].expr * (a - b);
    return isa<FloatType>(result) ? quotient(chosen, common) : Number{simplifyDim(chosen)};
  }

  std::optional<Number> convert(const Number &x) const {
    bool fromReal = isa<FloatType>(operand);
    if (x.expr && !isa<AffineConstantExpr>(x.expr))
      return fromReal ? convertQuotient(x) : convertSymbol(x);
    if (result.isInteger(1))
      return number(x.expr ? intOf(x) != 0 : x.real != 0);
    if (isa<FloatType>(result))
      return rounded(x.expr ? static_cast<double>(intOf(x)) : x.real);
    if (x.expr)
      return number(result.isInteger(32) ? static_cast<int32_t>(intOf(x)) : intOf(x));
    double limit = result.isInteger(32) ? 2147483647.0 : 9.2e18;
    return std::fabs(x.real) <= limit ? std::optional(number(static_cast<int64_t>(x.real))) : std::nullopt;
  }

  std::optional<Number> convertSymbol(const Number &x) const {
    if (isa<FloatType>(result))
      return isFaithful(x, result, facts) ? std::optional(x) : std::nullopt;
    return result.isInteger(1) ? std::nullopt : fitted(x);
  }

  /// Conversions to integers round toward zero.
  std::optional<Number> convertQuotient(const Number &x) const {
    if (isa<FloatType>(result))
      return isFaithful(x, result, facts) && llvm::isPowerOf2_64(x.divisor) ? std::optional(x) : std::nullopt;
    auto least = facts.getRange(x.expr).least;
    bool rounds = x.divisor != 1 && !(least && *least >= 0);
    return rounds || result.isInteger(1) ? std::nullopt : fitted({simplifyDim(x.expr.floorDiv(x.divisor))});
  }

  /// An integer of a symbol, unless it may wrap in 32 bits.
  std::optional<Number> fitted(const Number &x) const {
    auto most = result.isInteger(32) ? getMagnitude(x.expr, facts) : 0;
    return most && *most <= INT32_MAX ? std::optional(x) : std::nullopt;
  }

  std::optional<Number> compare(const Number &x, const Number &y) const {
    if (!x.expr && !y.expr)
      return number(isa<EqualOp>(op)       ? x.real == y.real
                    : isa<LessOp>(op)      ? x.real < y.real
                    : isa<LessEqualOp>(op) ? x.real <= y.real
                    : isa<GreaterOp>(op)   ? x.real > y.real
                                           : x.real >= y.real);
    auto a = toRational(x, context), b = toRational(y, context);
    bool isExact = a && b && llvm::isPowerOf2_64(a->divisor) && llvm::isPowerOf2_64(b->divisor) && std::max(a->divisor, b->divisor) <= int64_t(1) << 24;
    if (!isExact)
      return std::nullopt;
    AffineExpr left = a->expr * b->divisor, right = b->expr * a->divisor;
    bool equal = provablyEqual(left, right), less = facts.isBelow(left, right), greater = facts.isBelow(right, left);
    if (!equal && !less && !greater)
      return compareSymbols(left, right);
    return number(isa<EqualOp>(op)       ? equal
                  : isa<LessOp>(op)      ? less
                  : isa<LessEqualOp>(op) ? less || equal
                  : isa<GreaterOp>(op)   ? greater
                                         : greater || equal);
  }

  /// 1 if the condition holds, otherwise 0.
  std::optional<Number> compareSymbols(AffineExpr x, AffineExpr y) const {
    AffineExpr greater = getSign(x - y), less = getSign(y - x);
    return Number{simplifyDim(isa<EqualOp>(op)       ? (-greater + 1) * (-less + 1)
                              : isa<LessOp>(op)      ? less
                              : isa<LessEqualOp>(op) ? -greater + 1
                              : isa<GreaterOp>(op)   ? greater
                                                     : -less + 1)};
  }

  Number rounded(double value) const { return {{}, result.isF32() ? static_cast<double>(static_cast<float>(value)) : value}; }

  std::optional<Number> reals(ArrayRef<Number> args) const {
    double x = args[0].real, y = args.size() > 1 ? args[1].real : 0;
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](AddOp) { return rounded(x + y); })
        .Case([&](SubOp) { return rounded(x - y); })
        .Case([&](MulOp) { return rounded(x * y); })
        .Case([&](DivOp) { return rounded(x / y); })
        .Case([&](NegOp) { return rounded(-x); })
        .Case([&](FloorOp) { return rounded(std::floor(x)); })
        .Case([&](CeilOp) { return rounded(std::ceil(x)); })
        .Case([&](SqrtOp) { return rounded(std::sqrt(x)); })
        .Case([&](ReluOp) { return rounded(x < 0 ? 0 : x); })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<Number> integers(ArrayRef<Number> args) const {
    int64_t x = intOf(args[0]), y = args.size() > 1 ? intOf(args[1]) : 0;
    auto wrap = [&](uint64_t value) -> std::optional<Number> {
      if (isa<FloatType>(result))
        return rounded(static_cast<double>(static_cast<int64_t>(value)));
      return number(result.isInteger(32) ? static_cast<int32_t>(value) : static_cast<int64_t>(value));
    };
    auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
    bool divides = y != 0 && !(x == INT64_MIN && y == -1);
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](AddOp) { return wrap(ux + uy); })
        .Case([&](SubOp) { return wrap(ux - uy); })
        .Case([&](MulOp) { return wrap(ux * uy); })
        .Case([&](DivOp) { return divides ? wrap(x / y) : std::nullopt; })
        .Case([&](ModOp) { return divides ? wrap(x - y * llvm::divideFloorSigned(x, y)) : std::nullopt; })
        .Case([&](MinimumOp) { return wrap(std::min(x, y)); })
        .Case([&](MaximumOp) { return wrap(std::max(x, y)); })
        .Case([&](NegOp) { return wrap(0 - ux); })
        .Case([&](AbsOp) { return wrap(x < 0 ? 0 - ux : ux); })
        .Case([&](ReluOp) { return wrap(std::max<int64_t>(x, 0)); })
        .Case([&](AndOp) { return wrap(ux & uy); })
        .Case([&](OrOp) { return wrap(ux | uy); })
        .Case([&](NotOp) { return result.isInteger(1) ? wrap(!ux) : wrap(~ux); })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<Number> symbols(ArrayRef<Number> args) const {
    AffineExpr x = args[0].expr, y = args.size() > 1 ? args[1].expr : AffineExpr();
    auto made = [&](AffineExpr expr) { return fitted({simplifyDim(expr)}); };
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](AddOp) { return made(x + y); })
        .Case([&](SubOp) { return made(x - y); })
        .Case([&](MulOp) { return made(x * y); })
        .Case([&](NegOp) { return made(x * -1); })
        .Case([&](DivOp) { return divideTowardZero(x, y); })
        .Case([&](ModOp) -> std::optional<Number> {
          auto divisor = dyn_cast<AffineConstantExpr>(y);
          return divisor && divisor.getValue() > 0 ? made(x % y) : std::nullopt;
        })
        .Case([&](MinimumOp) { return made(facts.getSmaller(x, y)); })
        .Case([&](MaximumOp) { return made(facts.getLarger(x, y)); })
        .Case([&](ReluOp) { return made(facts.getLarger(x, getAffineConstantExpr(0, context))); })
        .Case([&](PowOp) -> std::optional<Number> {
          auto power = raise(args[0], args[1]);
          return power ? made(power->expr) : std::nullopt;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<Number> divideTowardZero(AffineExpr x, AffineExpr y) const {
    auto low = facts.getRange(x).least, divisor = facts.getRange(y).least;
    bool isConstant = isa<AffineConstantExpr>(y);
    if (!divisor || *divisor < (isConstant ? 1 : 0))
      return std::nullopt;
    if (low && *low >= 0)
      return fitted({divideExactly({x}, {y}, context)});
    AffineExpr zero = getAffineConstantExpr(0, context);
    return isConstant ? fitted({simplifyDim(facts.getLarger(x, zero).floorDiv(y) - facts.getLarger(x * -1, zero).floorDiv(y))}) : std::nullopt;
  }

  /// Real arithmetic on sizes, where it is exact or where only a whole part is taken of the one quotient that is rounded.
  std::optional<Number> quotients(ArrayRef<Number> args) const {
    auto x = toRational(args[0], context), y = args.size() > 1 ? toRational(args[1], context) : Number{getAffineConstantExpr(1, context)};
    if (!x || !y)
      return std::nullopt;
    AffineExpr zero = getAffineConstantExpr(0, context);
    // Numerators over a common divisor, where both are exact.
    bool isExact = llvm::isPowerOf2_64(x->divisor) && llvm::isPowerOf2_64(y->divisor);
    int64_t common = std::max(x->divisor, y->divisor);
    AffineExpr a = x->expr * (isExact ? common / x->divisor : 1), b = y->expr * (isExact ? common / y->divisor : 1);
    auto exact = [&](AffineExpr expr, int64_t divisor) { return isExact ? quotient(expr, divisor) : std::nullopt; };
    return TypeSwitch<Operation *, std::optional<Number>>(op)
        .Case([&](FloorOp) { return quotient(x->expr.floorDiv(x->divisor), 1); })
        .Case([&](CeilOp) { return quotient((x->expr + (x->divisor - 1)).floorDiv(x->divisor), 1); })
        .Case([&](AddOp) { return exact(a + b, common); })
        .Case([&](SubOp) { return exact(a - b, common); })
        .Case([&](NegOp) { return exact(a * -1, common); })
        .Case([&](MulOp) -> std::optional<Number> {
          int64_t divisor;
          return llvm::MulOverflow(x->divisor, y->divisor, divisor) ? std::nullopt : exact(x->expr * y->expr, divisor);
        })
        .Case([&](DivOp) { return divide(*x, *y); })
        .Case([&](MinimumOp) { return exact(facts.getSmaller(a, b), common); })
        .Case([&](MaximumOp) { return exact(facts.getLarger(a, b), common); })
        .Case([&](ReluOp) { return exact(facts.getLarger(x->expr, zero), x->divisor); })
        .Case([&](ClampOp clamp) { return isExact ? clampTo(clamp, *x) : std::nullopt; })
        .Case([&](PowOp) -> std::optional<Number> {
          auto power = raise(*x, args[1]);
          return power ? exact(power->expr, power->divisor) : std::nullopt;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<Number> clampTo(ClampOp clamp, const Number &x) const {
    auto low = toRational({{}, clamp.getMin().convertToDouble()}, context), high = toRational({{}, clamp.getMax().convertToDouble()}, context);
    int64_t common = low && high ? std::max({x.divisor, low->divisor, high->divisor}) : 0;
    if (!common)
      return std::nullopt;
    auto over = [&](const Number &number) { return number.expr * (common / number.divisor); };
    return quotient(facts.getSmaller(facts.getLarger(over(x), over(*low)), over(*high)), common);
  }

  /// A power with a small whole exponent.
  std::optional<Number> raise(const Number &x, const Number &exponent) const {
    constexpr double mostExponent = 4;
    auto constant = exponent.expr ? dyn_cast<AffineConstantExpr>(exponent.expr) : AffineConstantExpr();
    double times = constant ? static_cast<double>(constant.getValue()) : exponent.real;
    if ((exponent.expr && !constant) || times < 1 || times > mostExponent || times != std::floor(times))
      return std::nullopt;
    Number power = x;
    for (int i = 1; i < static_cast<int>(times); ++i) {
      power.expr = power.expr * x.expr;
      if (llvm::MulOverflow(power.divisor, x.divisor, power.divisor))
        return std::nullopt;
    }
    return power;
  }

  /// x / (n / d) is x * d / n, for a constant n.
  std::optional<Number> divide(const Number &x, const Number &y) const {
    auto constant = dyn_cast<AffineConstantExpr>(y.expr);
    int64_t divisor;
    if (!constant || constant.getValue() <= 0 || !llvm::isPowerOf2_64(x.divisor) || llvm::MulOverflow(x.divisor, constant.getValue(), divisor))
      return std::nullopt;
    return quotient(x.expr * y.divisor, divisor);
  }

  /// A number of the result's type, its fraction reduced, if it is what the operation gives.
  std::optional<Number> quotient(AffineExpr expr, int64_t divisor) const {
    expr = simplifyDim(expr);
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return rounded(static_cast<double>(constant.getValue()) / static_cast<double>(divisor));
    int64_t shared = std::gcd(expr.getLargestKnownDivisor(), divisor);
    Number reduced{shared > 1 ? simplifyDim(expr.floorDiv(shared)) : expr, 0, divisor / shared};
    return isFaithful(reduced, result, facts) ? std::optional(reduced) : std::nullopt;
  }

  Operation *op;
  const DimFacts &facts;
  MLIRContext *context;
  Type result, operand;
};
} // namespace

std::optional<Number> computeNumber(Operation *op, ArrayRef<Number> arguments, const DimFacts &facts) { return Arithmetic(op, facts).compute(arguments); }

} // namespace kiln::import
