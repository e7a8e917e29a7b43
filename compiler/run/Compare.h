//===- Compare.h - Comparison of tensors ---------------------------===//
#ifndef KILN_COMPILER_RUN_COMPARE_H
#define KILN_COMPILER_RUN_COMPARE_H

#include "compiler/run/Tensor.h"

namespace kiln {

/// The result of a comparison; `reason` is empty when the tensors agree.
struct Comparison {
  std::string reason;
  int64_t elements = 0;
  int64_t wrong = 0;
  double maxAbsolute = 0;
  double maxRelative = 0;
  /// In units in the last place of the expected value's type; 0 for integers.
  double maxUlp = 0;
  /// The largest absolute error relative to the largest finite expected value, which stays small where the terms of a sum cancel.
  double scaledError = 0;
  bool agrees() const { return reason.empty(); }
};

/// The largest finite magnitude; 0 for integers.
double getLargest(const Tensor &tensor);

/// Types and dimensions must be equal, NaN and infinities in the same places, integers the same,
/// and |actual - expected| <= atol + rtol * |expected| elsewhere.
Comparison compare(const Tensor &actual, const Tensor &expected, double rtol, double atol);

} // namespace kiln

#endif // KILN_COMPILER_RUN_COMPARE_H
