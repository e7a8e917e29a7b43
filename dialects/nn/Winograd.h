//===- Winograd.h - The matrices of Winograd's minimal filtering -----------===//
#ifndef KILN_DIALECTS_NN_WINOGRAD_H
#define KILN_DIALECTS_NN_WINOGRAD_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace kiln::nn {

/// Row-major.
struct Matrix {
  unsigned rows = 0, columns = 0;
  std::vector<double> values;
  double at(unsigned row, unsigned column) const { return values[row * columns + column]; }
  llvm::ArrayRef<double> row(unsigned r) const { return llvm::ArrayRef(values).slice(r * columns, columns); }
};

/// F(tile x tile, 3x3): result = inverse ((filter g filter') * (input d input')) inverse', where * is element by element, d is a patch of
/// side tile + 2 and g the 3x3 filter; a prime transposes (Lavin and Gray, arXiv:1509.09308).
///
/// The matrices are Toom-Cook's for the points 0, 1, -1 (tile 2) or 0, +-sqrt(1/2), +-sqrt(2) (tile 4), and infinity. docs/measurements/CostModel.md
/// has the errors of these points and of the customary ones.
struct WinogradMatrices {
  /// side x side, side x 3, tile x side.
  Matrix input, filter, inverse;
};
WinogradMatrices getWinogradMatrices(unsigned tile);

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_WINOGRAD_H
