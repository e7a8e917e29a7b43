//===- ErrorFeedback.h - Weights rounded with regard to their inputs -------===//
#ifndef KILN_COMPILER_QUANTIZE_ERRORFEEDBACK_H
#define KILN_COMPILER_QUANTIZE_ERRORFEEDBACK_H

#include "compiler/quantize/Scheme.h"

namespace kiln::quantize {

/// The sum of x^T x over the rows x that a product multiplies by its weights: how much an error in one weight matters, and which other weights can make up
/// for it.
class InputProducts {
public:
  explicit InputProducts(size_t columns) : columns(columns), sums(columns * columns) {}

  /// `values` are whole rows.
  void add(llvm::ArrayRef<float> values);
  size_t getColumns() const { return columns; }
  double get(size_t i, size_t j) const { return i <= j ? sums[i * columns + j] : sums[j * columns + i]; }

private:
  size_t columns;
  /// The upper triangle.
  std::vector<double> sums;
};

/// Rounds one column after the other, and corrects the columns that are still to come for the error made (Frantar et al., "GPTQ", 2022). The result has the
/// form of quantizeRows(). Falls back to it if the inputs were all zero.
QuantizedRows quantizeWithFeedback(const WeightRows &weights, const WeightScheme &scheme, const InputProducts &inputs, llvm::ArrayRef<float> least = {});

/// The sum of squares of (weights - rounded) x over all inputs x, from their products.
double getProductError(const WeightRows &weights, const WeightRows &rounded, const InputProducts &inputs);

} // namespace kiln::quantize

#endif // KILN_COMPILER_QUANTIZE_ERRORFEEDBACK_H
