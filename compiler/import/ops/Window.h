//===- Window.h - The sliding window of convolutions and pools ---------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_WINDOW_H
#define KILN_COMPILER_IMPORT_OPS_WINDOW_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// The attributes that convolutions and pools share, checked and filled with defaults.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  bool isCeil = false;
  /// Borders of auto_pad SAME that only run time knows, for each spatial dimension; empty when all are in `pads`.
  DimExprs low, high;

  size_t rank() const { return kernel.size(); }
  /// Elements from the first to the last that a window covers.
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  int64_t begin(size_t i) const { return pads[i]; }
  int64_t end(size_t i) const { return pads[rank() + i]; }
  /// Makes the border at the end so long that the last window of ceil_mode, which may reach over it, lies within.
  void padOverhang();
  /// The result's spatial dimensions.
  DimExprs outputDims(Node &node, llvm::ArrayRef<AffineExpr> input) const;

private:
  /// With ceil_mode, a last window that would start in the border at the end does not count: by so much the room for windows is smaller.
  int64_t cut(size_t i) const;
};

/// The input with the borders that only run time knows, which then are empty. `dims` are the input's, and change as it does.
Value padInput(Node &node, Value input, Window &window, DimExprs &dims, double fill);

/// Reads kernel_shape (checked against `kernel` when that is given), strides, dilations, pads and auto_pad for an input [N, C, spatial...].
/// `pads`: the caller calls padInput; without, borders that only run time knows are not supported. `most`: of spatial dimensions.
std::optional<Window> readWindow(Node &node, Value input, std::optional<llvm::SmallVector<int64_t>> kernel, bool pads = false, int64_t most = 3);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_WINDOW_H
