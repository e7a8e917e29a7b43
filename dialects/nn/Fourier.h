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
  /// A number with a large prime factor is the length of a convolution with a chirp (Bluestein), which is two transforms of `padded` points; otherwise 0.
  int64_t padded;
  /// The radices of the stages.
  llvm::SmallVector<int32_t> factors;

  FourierPlan(int64_t length, bool packs);
  /// The plan for rows of numbers of one part or two; `toReal`: results are of one.
  static FourierPlan of(int64_t length, bool isReal, bool isInverse, bool toReal);
  static FourierPlan of(FourierOp op);

  int64_t points() const { return packs ? length / 2 : length; }
  /// The points of the stages.
  int64_t staged() const { return padded ? padded : points(); }
  /// An estimate of the operations of a row.
  int64_t flops() const;
  /// The largest radix among the stages without a specialised function, or 0.
  int64_t largestUnusual() const;
  /// Elements of the table, and the table: when it packs, powers 0 to length / 2 of exp(-2 pi i / length); when it is padded, the chirp and the transform
  /// of its conjugate, real parts before imaginary ones; then for each stage the factors of points 1 to radix - 1, real parts before imaginary ones, and
  /// for an unusual radix its roots of unity.
  int64_t tableSize() const;
  llvm::SmallVector<double> table() const;
};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_FOURIER_H
