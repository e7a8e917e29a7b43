//===- Interval.cpp - Where the elements of a tensor lie -------------------===//
#include "passes/analysis/Interval.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace mlir;

namespace kiln {

Interval Interval::join(const Interval &x, const Interval &y) {
  return {std::min(x.low, y.low), std::max(x.high, y.high), x.nan || y.nan};
}

void Interval::print(llvm::raw_ostream &os) const {
  if (low <= high)
    os << "[" << llvm::format("%.10g", low) << ", " << llvm::format("%.10g", high) << "]" << (nan ? " or NaN" : "");
  else
    os << (nan ? "NaN" : "nothing");
}

std::string Interval::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

Interval getFullRange(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer)
    return {-infinity, infinity, true};
  unsigned width = integer.getWidth();
  if (integer.isUnsigned() || width == 1)
    return {0, std::ldexp(1.0, width) - (width < 53 ? 1 : 0)};
  return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - (width < 53 ? 1 : 0)};
}

static double roundToward(double number, FloatType type, llvm::RoundingMode mode) {
  llvm::APFloat value(number);
  bool lost;
  value.convert(type.getFloatSemantics(), mode, &lost);
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

Interval roundOutward(Interval range, Type elementType) {
  if (!(range.low <= range.high))
    return range;
  if (auto type = dyn_cast<FloatType>(elementType))
    return {roundToward(range.low, type, llvm::RoundingMode::TowardNegative), roundToward(range.high, type, llvm::RoundingMode::TowardPositive), range.nan};
  range.low = std::ceil(range.low);
  range.high = std::floor(range.high);
  Interval full = getFullRange(elementType);
  return full.contains(range.low) && full.contains(range.high) ? Interval(range.low, range.high) : full;
}

Interval widen(Interval range, double relative, double absolute) {
  if (!(range.low <= range.high))
    return range;
  // Infinity times a relative error of zero is NaN.
  auto error = [&](double end) { return std::isinf(end) ? 0 : std::fabs(end) * relative + absolute; };
  return {range.low - error(range.low), range.high + error(range.high), range.nan};
}

double unitRoundoff(Type floatType) { return std::ldexp(1.0, -static_cast<int>(cast<FloatType>(floatType).getFPMantissaWidth())); }

int getMinExponent(Type floatType) { return llvm::APFloat::semanticsMinExponent(cast<FloatType>(floatType).getFloatSemantics()); }

namespace {
/// A number computed in double, and whether it is the exact result.
struct Corner {
  double value;
  bool exact;
};
} // namespace

/// The range between the least and the largest corner, each moved outward by what double precision may have lost.
static Interval span(std::initializer_list<Corner> corners, bool nan) {
  Interval range;
  range.nan = nan;
  for (Corner corner : corners) {
    if (std::isnan(corner.value))
      return {-infinity, infinity, true};
    range.low = std::min(range.low, corner.exact ? corner.value : std::nextafter(corner.value, -infinity));
    range.high = std::max(range.high, corner.exact ? corner.value : std::nextafter(corner.value, infinity));
  }
  return range;
}

static Corner sumOf(double a, double b) {
  double sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back) == 0 || std::isinf(a) || std::isinf(b)};
}

/// Zero times infinity is NaN; the numbers beside it give zero and infinity, which other corners have.
static Corner productOf(double a, double b) {
  if (a == 0 || b == 0)
    return {0, true};
  double product = a * b;
  return {product, std::isinf(a) || std::isinf(b) || (std::fabs(product) > 1e-290 && std::fma(a, b, -product) == 0)};
}

static Corner quotientOf(double a, double b) {
  if (std::isinf(b) || a == 0)
    return {0, true};
  double quotient = a / b;
  return {quotient, std::isinf(a) || (std::fabs(a) > 1e-290 && std::fma(quotient, b, -a) == 0)};
}

Interval add(Interval x, Interval y) {
  if (!(x.low <= x.high) || !(y.low <= y.high))
    return {infinity, -infinity, x.nan || y.nan};
  bool meet = (x.high == infinity && y.low == -infinity) || (x.low == -infinity && y.high == infinity);
  return span({sumOf(x.low, y.low), sumOf(x.high, y.high)}, x.nan || y.nan || meet);
}

Interval negate(Interval x) { return {-x.high, -x.low, x.nan}; }

Interval multiply(Interval x, Interval y) {
  if (!(x.low <= x.high) || !(y.low <= y.high))
    return {infinity, -infinity, x.nan || y.nan};
  bool undefined = (x.contains(0) && !y.isBounded()) || (y.contains(0) && !x.isBounded());
  return span({productOf(x.low, y.low), productOf(x.low, y.high), productOf(x.high, y.low), productOf(x.high, y.high)}, x.nan || y.nan || undefined);
}

Interval divide(Interval x, Interval y) {
  if (!(x.low <= x.high) || !(y.low <= y.high))
    return {infinity, -infinity, x.nan || y.nan};
  bool undefined = (x.contains(0) && y.contains(0)) || (!x.isBounded() && !y.isBounded());
  if (y.contains(0))
    return {-infinity, infinity, x.nan || y.nan || undefined};
  return span({quotientOf(x.low, y.low), quotientOf(x.low, y.high), quotientOf(x.high, y.low), quotientOf(x.high, y.high)}, x.nan || y.nan || undefined);
}

} // namespace kiln
