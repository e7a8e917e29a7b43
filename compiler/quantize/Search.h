//===- Search.h - Which layers stay in f32 ---------------------------------===//
#ifndef KILN_COMPILER_QUANTIZE_SEARCH_H
#define KILN_COMPILER_QUANTIZE_SEARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <limits>
#include <vector>

namespace kiln::quantize {

/// How far a model's outputs are from those of the f32 model.
struct Quality {
  /// The largest of the outputs' rms errors, relative to the rms of the output.
  double error = 0;
  /// The smallest of the outputs' shares of positions with the same largest element along the last axis; 1 if no output has such an axis.
  double agreement = 1;
};

struct Budget {
  double maxError = std::numeric_limits<double>::infinity();
  double minAgreement = 0;

  bool isMet(const Quality &quality) const { return quality.error <= maxError && quality.agreement >= minAgreement; }
};

/// The result of a search over layers 0 to n - 1.
struct SearchResult {
  /// The layers that stay in f32.
  std::vector<bool> left;
  /// With each layer quantised alone.
  std::vector<Quality> alone;
  Quality quality;
  /// False if even one quantised layer exceeds the budget.
  bool isMet = false;
};

/// Measures a model in which these layers, and no others, are quantised.
using Measure = llvm::function_ref<llvm::Expected<Quality>(const std::vector<bool> &quantized)>;

/// Measures each layer quantised by itself.
llvm::Expected<std::vector<Quality>> measureAlone(size_t layers, Measure measure);

/// Leaves the layers that cause the largest errors by themselves, as few as a bisection finds to suffice, and then quantises those again, the least harmful
/// first, with which the budget is still met. Every decision is a measurement of the whole model.
llvm::Expected<SearchResult> searchLayers(size_t layers, const Budget &budget, Measure measure);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_SEARCH_H
