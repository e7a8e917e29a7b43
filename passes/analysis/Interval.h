//===- Interval.h - Ranges of the elements of a tensor ---------------------===//
#ifndef KILN_PASSES_ANALYSIS_INTERVAL_H
#define KILN_PASSES_ANALYSIS_INTERVAL_H

#include "mlir/IR/Types.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <string>

namespace kiln {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A range of all elements of a value: they are in [low, high], or NaN if `nan` is set. An infinite end is a value that may occur. Zero has no sign. The
/// ends are numbers of the element type, so that rounding to it stays inside.
struct Interval {
  double low = infinity;
  double high = -infinity;
  bool nan = false;

  /// The default is the bottom of the lattice: no element at all.
  Interval() = default;
  Interval(double low, double high, bool nan = false) : low(low), high(high), nan(nan) {}

  bool isEmpty() const { return low > high && !nan; }
  /// Whether every element that is a number has a finite bound.
  bool isBounded() const { return low <= high && low >= -std::numeric_limits<double>::max() && high <= std::numeric_limits<double>::max(); }
  bool contains(double number) const { return low <= number && number <= high; }
  /// The largest absolute value.
  double magnitude() const { return isEmpty() ? 0 : std::max(-low, high); }

  bool operator==(const Interval &other) const { return low == other.low && high == other.high && nan == other.nan; }
  static Interval join(const Interval &x, const Interval &y);
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

/// The range of an element type.
Interval getFullRange(mlir::Type elementType);
/// The smallest range with ends of the type that holds `range`: what remains true after rounding to the type. Integers that do not fit
/// wrap around, so nothing is known then.
Interval roundOutward(Interval range, mlir::Type elementType);
/// `range`, widened by a relative error at both ends.
Interval widen(Interval range, double relative, double absolute = 0);

/// Half the spacing of numbers near 1: the largest relative error of one rounding.
double unitRoundoff(mlir::Type floatType);
/// The exponent e of the type's smallest normal number 2^e.
int getMinExponent(mlir::Type floatType);

/// @{ Arithmetic on ranges before rounding: the exact ends, widened by the rounding errors of double precision.
Interval add(Interval x, Interval y);
Interval negate(Interval x);
Interval multiply(Interval x, Interval y);
Interval divide(Interval x, Interval y);
/// @}

} // namespace kiln

#endif // KILN_PASSES_ANALYSIS_INTERVAL_H
