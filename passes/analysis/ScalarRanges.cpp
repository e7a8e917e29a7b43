//===- ScalarRanges.cpp - Ranges through element-wise formulas -------------===//
//
// nn.sigmoid of [-inf, inf] is 1 / (exp(-x) + 1): exp gives [0, inf], the sum [1, inf], the quotient [0, 1].
//
// A formula forgets that two of its terms depend on one x, so a range may be wider than it must be; x * x is known as a square.
//
//===----------------------------------------------------------------------===//
#include "passes/analysis/ScalarRanges.h"
#include "dialects/nn/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// More than the relative error of any variant of a transcendental function, those for half precision included.
static constexpr double functionError = 0x1p-8;
namespace {
struct RangeInterpreter {
  Block &body;
  llvm::DenseMap<Value, Interval> ranges;

  explicit RangeInterpreter(Block &body) : body(body) {}

  Interval operand(Operation *op, unsigned i) { return ranges[op->getOperand(i)]; }
  void run() {
    for (Operation &op : body)
      ranges[op.getResult(0)] = roundOutward(infer(&op), op.getResult(0).getType());
  }
  Interval infer(Operation *op);
  std::optional<Interval> inferNumber(Operation *op);
  std::optional<Interval> inferFunction(Operation *op);
  std::optional<Interval> inferInteger(Operation *op);
  std::optional<Interval> inferConversion(Operation *op);
};
} // namespace

/// A growing function, computed at both ends; `lowest` and `highest` are its limits.
template <typename Function> static Interval growing(Interval x, Function function, double error, double lowest, double highest) {
  if (!(x.low <= x.high))
    return x;
  Interval range = widen({function(x.low), function(x.high), x.nan}, error);
  return {std::max(range.low, lowest), std::min(range.high, highest), range.nan};
}

/// The cheaper forms of exp give 0 where its value is below 2^-125.
static double exponential(double x) {
  double value = std::exp(x);
  return value < 0x1p-124 ? 0 : value;
}

static Interval absolute(Interval x) {
  if (!(x.low <= x.high))
    return x;
  return {x.contains(0) ? 0 : std::min(std::fabs(x.low), std::fabs(x.high)), x.magnitude(), x.nan};
}

static Interval square(Interval x) {
  Interval size = absolute(x);
  Interval low = multiply({size.low, size.low}, {size.low, size.low}), high = multiply({size.high, size.high}, {size.high, size.high});
  return x.low <= x.high ? Interval(std::max(low.low, 0.0), high.high, x.nan) : x;
}

static Interval largest(Interval x, Interval y) { return {std::max(x.low, y.low), std::max(x.high, y.high), x.nan || y.nan}; }
static Interval smallest(Interval x, Interval y) { return {std::min(x.low, y.low), std::min(x.high, y.high), x.nan || y.nan}; }

/// Powers with a base that is not negative, where they grow or fall in each argument; others may be anything.
static Interval power(Interval x, Interval y) {
  if (y == Interval(2, 2))
    return widen(square(x), functionError);
  if (!x.isBounded() || !y.isBounded() || !(x.low >= 0) || (x.low == 0 && y.low < 0))
    return {-infinity, infinity, true};
  auto [low, high] = std::minmax({std::pow(x.low, y.low), std::pow(x.low, y.high), std::pow(x.high, y.low), std::pow(x.high, y.high)});
  Interval range = widen({low, high, x.nan || y.nan}, functionError);
  return {std::max(range.low, 0.0), range.high, range.nan};
}

std::optional<Interval> RangeInterpreter::inferNumber(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<arith::ConstantOp>([&](auto constant) -> std::optional<Interval> {
        double number = 0;
        if (auto attr = dyn_cast<FloatAttr>(constant.getValue()))
          number = attr.getValueAsDouble();
        else if (auto attr = dyn_cast<IntegerAttr>(constant.getValue()))
          number = attr.getType().isInteger(1) ? attr.getValue().getZExtValue() : static_cast<double>(attr.getValue().getSExtValue());
        return std::isnan(number) ? Interval(infinity, -infinity, true) : Interval(number, number);
      })
      .Case<arith::AddFOp>([&](auto) { return add(operand(op, 0), operand(op, 1)); })
      .Case<arith::SubFOp>([&](auto) { return add(operand(op, 0), negate(operand(op, 1))); })
      .Case<arith::MulFOp>([&](auto) { return op->getOperand(0) == op->getOperand(1) ? square(operand(op, 0)) : multiply(operand(op, 0), operand(op, 1)); })
      .Case<arith::DivFOp>([&](auto) { return divide(operand(op, 0), operand(op, 1)); })
      .Case<arith::NegFOp>([&](auto) { return negate(operand(op, 0)); })
      .Case<arith::MaximumFOp>([&](auto) { return largest(operand(op, 0), operand(op, 1)); })
      .Case<arith::MinimumFOp>([&](auto) { return smallest(operand(op, 0), operand(op, 1)); })
      .Case<math::AbsFOp>([&](auto) { return absolute(operand(op, 0)); })
      .Case<math::PowFOp>([&](auto) { return power(operand(op, 0), operand(op, 1)); })
      .Case<arith::CmpFOp, arith::CmpIOp>([&](auto) { return Interval(0, 1); })
      .Case<arith::SelectOp>([&](auto) {
        Interval condition = operand(op, 0);
        if (condition.low == condition.high)
          return operand(op, condition.low != 0 ? 1 : 2);
        return Interval::join(operand(op, 1), operand(op, 2));
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Interval> RangeInterpreter::inferFunction(Operation *op) {
  if (op->getNumOperands() != 1)
    return std::nullopt;
  Interval x = operand(op, 0);
  auto exact = [&](double (*function)(double)) { return growing(x, function, 0, -infinity, infinity); };
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<math::ExpOp>([&](auto) { return growing(x, exponential, functionError, 0, infinity); })
      .Case<math::ExpM1Op>([&](auto) { return growing(x, [](double v) { return std::expm1(v); }, functionError, -1, infinity); })
      .Case<math::TanhOp>([&](auto) { return growing(x, [](double v) { return std::tanh(v); }, functionError, -infinity, infinity); })
      .Case<math::ErfOp>([&](auto) { return growing(x, [](double v) { return std::erf(v); }, functionError, -infinity, infinity); })
      .Case<math::ErfcOp>([&](auto) { return growing(negate(x), [](double v) { return std::erfc(-v); }, functionError, 0, infinity); })
      .Case<math::AtanOp>([&](auto) { return growing(x, [](double v) { return std::atan(v); }, functionError, -infinity, infinity); })
      .Case<math::SqrtOp>([&](auto) {
        Interval root = growing({std::max(x.low, 0.0), std::max(x.high, 0.0), x.nan || x.low < 0}, [](double v) { return std::sqrt(v); }, 0x1p-50, 0, infinity);
        return x.low <= x.high ? root : x;
      })
      .Case<math::LogOp>([&](auto) {
        Interval positive(std::max(x.low, 0.0), std::max(x.high, 0.0), x.nan || x.low < 0);
        Interval result = growing(positive, [](double v) { return std::log(v); }, functionError, -infinity, infinity);
        return x.low <= x.high ? widen(result, 0, functionError) : x;
      })
      .Case<math::Log1pOp>([&](auto) {
        Interval inside(std::max(x.low, -1.0), std::max(x.high, -1.0), x.nan || x.low < -1);
        return x.low <= x.high ? growing(inside, [](double v) { return std::log1p(v); }, functionError, -infinity, infinity) : x;
      })
      .Case<math::SinOp, math::CosOp>([&](auto) { return widen({-1, 1, x.nan || !x.isBounded()}, functionError); })
      .Case<math::FloorOp>([&](auto) { return exact([](double v) { return std::floor(v); }); })
      .Case<math::CeilOp>([&](auto) { return exact([](double v) { return std::ceil(v); }); })
      .Case<math::RoundEvenOp>([&](auto) { return exact([](double v) { return std::nearbyint(v); }); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Integers of the body are signless: a negative signed number may be a large unsigned one, so only operations whose result
/// does not depend on the sign are followed, and a result that does not fit the type is not known.
std::optional<Interval> RangeInterpreter::inferInteger(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<arith::AddIOp>([&](auto) { return add(operand(op, 0), operand(op, 1)); })
      .Case<arith::SubIOp>([&](auto) { return add(operand(op, 0), negate(operand(op, 1))); })
      .Case<arith::MulIOp>([&](auto) { return multiply(operand(op, 0), operand(op, 1)); })
      .Case<arith::MaxSIOp>([&](auto) { return largest(operand(op, 0), operand(op, 1)); })
      .Case<arith::MinSIOp>([&](auto) { return smallest(operand(op, 0), operand(op, 1)); })
      .Case<math::AbsIOp>([&](auto) { return absolute(operand(op, 0)); })
      .Default([](Operation *) { return std::nullopt; });
}

static Interval unsignedRange(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return {0, std::ldexp(1.0, width) - (width < 53 ? 1 : 0)};
}

std::optional<Interval> RangeInterpreter::inferConversion(Operation *op) {
  if (op->getNumOperands() != 1)
    return std::nullopt;
  Interval x = operand(op, 0);
  auto within = [&](Interval to) -> std::optional<Interval> {
    return x.low >= to.low && x.high <= to.high ? std::optional<Interval>(x) : std::nullopt;
  };
  Type to = op->getResult(0).getType();
  unsigned width = to.getIntOrFloatBitWidth();
  return TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<arith::TruncFOp, arith::ExtFOp, arith::SIToFPOp, arith::ExtSIOp>([&](auto) { return x; })
      // Read as unsigned: the same number when it is not negative.
      .Case<arith::UIToFPOp, arith::ExtUIOp>([&](auto) {
        return x.low >= 0 ? x : unsignedRange(op->getOperand(0).getType());
      })
      .Case<arith::TruncIOp>([&](auto) { return within({-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1}); })
      .Case<arith::FPToSIOp>([&](auto) -> std::optional<Interval> {
        if (x.nan || width > 32 || !within({-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1}))
          return std::nullopt;
        return Interval(std::trunc(x.low), std::trunc(x.high));
      })
      .Default([](Operation *) { return std::nullopt; });
}

Interval RangeInterpreter::infer(Operation *op) {
  for (auto rule : {&RangeInterpreter::inferNumber, &RangeInterpreter::inferFunction, &RangeInterpreter::inferInteger, &RangeInterpreter::inferConversion})
    if (std::optional<Interval> range = (this->*rule)(op))
      return *range;
  return getFullRange(op->getResult(0).getType());
}

/// A range of the tensor's element type as a range of the body's signless type, and back: numbers beyond the signed ones have another name there.
static Interval rename(Interval range, Type to) {
  Interval full = getFullRange(to);
  return isa<FloatType>(to) || (range.low >= full.low && range.high <= full.high) ? range : full;
}

Interval kiln::inferScalarRange(ScalarBody op, ArrayRef<Interval> operands) {
  Block body;
  RangeInterpreter interpreter(body);
  // An operand that comes twice is one argument: the formula then knows a square.
  llvm::DenseMap<Value, Value> arguments;
  SmallVector<Value> values;
  for (auto [operand, range] : llvm::zip_equal(op->getOperands(), operands)) {
    Value &argument = arguments[operand];
    if (!argument)
      argument = body.addArgument(computeType(getElementTypeOrSelf(operand)), op.getLoc());
    interpreter.ranges[argument] = rename(range, argument.getType());
    values.push_back(argument);
  }
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&body);
  Value result = op.buildScalar(builder, op.getLoc(), values);
  interpreter.run();
  Type element = getElementTypeOrSelf(op->getResult(0));
  return roundOutward(rename(interpreter.ranges[result], element), element);
}
