//===- Fourier.h - The stages of a Fourier transform ----------------------===//
#ifndef KILN_DIALECTS_NN_FOURIER_H
#define KILN_DIALECTS_NN_FOURIER_H

#include "dialects/nn/NNCallOps.h"

namespace kiln::nn {

/// The plan by which runtime/include/kiln/fourier.h computes a transform.
struct FourierPlan {
  int64_t length;
  /// Real numbers of an even length are transformed as half as many complex ones.
  bool packs;
  /// The radices of the stages.
  llvm::SmallVector<int32_t> factors;

  FourierPlan(int64_t length, bool packs);
  /// The plan for rows of numbers of one part or two; `toReal`: results are of one.
  static FourierPlan of(int64_t length, bool isReal, bool isInverse, bool toReal);
  static FourierPlan of(FourierOp op);

  int64_t points() const { return packs ? length / 2 : length; }
  /// The largest radix among the stages without a specialised function, or 0.
  int64_t largestUnusual() const;
  /// Elements of the table, and the table: when it packs, powers 0 to length / 2 of exp(-2 pi i / length); then for each stage the factors of points
  /// 1 to radix - 1, real parts before imaginary ones, and for an unusual radix its roots of unity.
  int64_t tableSize() const;
  llvm::SmallVector<double> table() const;
};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_FOURIER_H
