//===- Window.h - The sliding window of convolutions and pools ---------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_WINDOW_H
#define KILN_COMPILER_IMPORT_OPS_WINDOW_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// The attributes that convolutions and pools share, checked and filled with defaults.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  bool isCeil = false;

  size_t rank() const { return kernel.size(); }
  /// Elements from the first to the last that a window covers.
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  int64_t begin(size_t i) const { return pads[i]; }
  int64_t end(size_t i) const { return pads[rank() + i]; }
  /// The result's spatial dimensions.
  DimExprs outputDims(Node &node, llvm::ArrayRef<AffineExpr> input) const;
};

/// Reads kernel_shape (checked against `kernel` when that is given), strides, dilations, pads and auto_pad for an input [N, C, spatial...].
std::optional<Window> readWindow(Node &node, Value input, std::optional<llvm::SmallVector<int64_t>> kernel);

/// The convolution of the node's attributes, without a bias; null after an error.
Value buildConvolution(Node &node, Value x, Value weight);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_WINDOW_H
