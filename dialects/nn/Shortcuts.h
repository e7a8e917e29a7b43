//===- Shortcuts.h - Computations that a proof makes unnecessary ------------===//
#ifndef KILN_DIALECTS_NN_SHORTCUTS_H
#define KILN_DIALECTS_NN_SHORTCUTS_H

#include "dialects/nn/NN.h"
#include "dialects/nn/NNNormalizationOps.h"

namespace kiln::nn {

/// The constant to subtract in place of each row's maximum, if --nn-prove-shortcuts has found one; only an nn.softmax has it.
inline std::optional<double> getProvenShift(mlir::Operation *op) {
  auto softmax = llvm::dyn_cast<SoftmaxOp>(op);
  return softmax && softmax.getShift() ? std::optional(softmax.getShift()->convertToDouble()) : std::nullopt;
}

/// Why that is safe, in words; null without such a constant.
inline mlir::StringAttr getShiftProof(mlir::Operation *op) {
  auto softmax = llvm::dyn_cast<SoftmaxOp>(op);
  return softmax ? softmax.getProofAttr() : mlir::StringAttr();
}

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SHORTCUTS_H
