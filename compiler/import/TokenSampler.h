//===- TokenSampler.h - The next token of a search by chance -----------------===//
#ifndef KILN_COMPILER_IMPORT_TOKENSAMPLER_H
#define KILN_COMPILER_IMPORT_TOKENSAMPLER_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// Sampling of domain com.microsoft: tokens are drawn from the likeliest ones, whose probabilities are `top_p` together. The random numbers are those of
/// ONNX Runtime on Linux (std::minstd_rand0 of libstdc++), so that equal seeds give equal tokens.
class TokenSampler {
public:
  explicit TokenSampler(Node &node);

  /// The state of the random numbers before the first step [1] (i64).
  Value start();
  /// The scores [rows, vocabulary] (f32) as they are drawn from: others than the likeliest ones have attribute 'filter_value'.
  Value filter(Value scores);
  /// A token of each row [rows, 1] (i64) by its scores. The state becomes the next one.
  Value draw(Value scores, Value &state);

private:
  Value findUnlikely(Value scores);
  Value drawNumbers(AffineExpr rows, Value &state);

  Node &node;
  double topP, temperature, filterValue;
  int64_t leastKept;
  bool isCustom;
  Value seed;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_TOKENSAMPLER_H
