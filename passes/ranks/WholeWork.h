//===- WholeWork.h - The work that all ranks do -----------------------------===//
#ifndef KILN_PASSES_RANKS_WHOLEWORK_H
#define KILN_PASSES_RANKS_WHOLEWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace kiln {

/// What of a model is not cut.
struct WholeWork {
  /// Of the estimated time of one rank, the share of operations that every rank computes whole.
  double share = 0;
  /// The one that takes longest, "nn.attention 'node' of 1x12x128x64"; empty if there is none.
  std::string operation;
  /// Whether a dimension of its result has as many equal parts as there are ranks. Then, exchanging them would take longer.
  bool hasParts = false;
};

/// Looks at @main with the annotations of ChooseShardings.
WholeWork findWholeWork(mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_PASSES_RANKS_WHOLEWORK_H
