//===- Compare.h - Comparison of tensors ---------------------------===//
#ifndef KILN_COMPILER_RUN_COMPARE_H
#define KILN_COMPILER_RUN_COMPARE_H

#include "compiler/run/Tensor.h"
#include <limits>

namespace kiln {

/// The result of a comparison; `reason` is empty when the tensors agree.
struct Comparison {
  std::string reason;
  int64_t elements = 0;
  int64_t wrong = 0;
  double maxAbsolute = 0;
  /// The index of the element with that error, one number for each dimension; empty where all are equal, and for scalars.
  std::vector<int64_t> worstAt = {};
  double maxRelative = 0;
  /// In units in the last place of the expected value's type; 0 for integers.
  double maxUlp = 0;
  /// The largest absolute error relative to the largest finite expected value, which stays small where the terms of a sum cancel.
  double scaledError = 0;
  /// The largest difference in steps of the quantisation and how many elements differ by a step or more, for tensors that are compared so.
  double maxSteps = 0;
  int64_t stepped = 0;
  /// The root of the mean square of the differences in steps.
  double rmsSteps = 0;
  bool inSteps = false;
  bool agrees() const { return reason.empty(); }
};

/// How a quantised tensor may differ.
struct StepBounds {
  /// The scale of a step, or one for each index of `axis`. The integers of a quantised tensor differ in whole steps; its scales are not needed.
  std::vector<float> scales;
  int64_t axis = -1;
  /// The largest difference of an element, how many of the elements may differ by a step (one may in any case), and the largest root mean square.
  double most = 1, share = 1e-4, rms = std::numeric_limits<double>::infinity();
};

/// The index of an element by its position: [0, 3, 17], one number for each dimension.
std::vector<int64_t> locateElement(const Tensor &tensor, int64_t position);
std::string formatIndex(llvm::ArrayRef<int64_t> index);

/// The largest finite magnitude; 0 for integers.
double getLargest(const Tensor &tensor);

/// Types and dimensions must be equal, NaN and infinities in the same places, integers the same,
/// and |actual - expected| <= atol + rtol * |expected| elsewhere.
Comparison compare(const Tensor &actual, const Tensor &expected, double rtol, double atol);

/// The same for a quantised tensor of integers, or for dequantised floats: what compare() would refuse counts in steps, within these bounds. NaN, infinities,
/// types and dimensions as there.
Comparison compareInSteps(const Tensor &actual, const Tensor &expected, double rtol, double atol, const StepBounds &bounds);

} // namespace kiln

#endif // KILN_COMPILER_RUN_COMPARE_H
