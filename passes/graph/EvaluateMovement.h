//===- EvaluateMovement.h - Data movement at compile time ------------------===//
#ifndef KILN_PASSES_GRAPH_EVALUATEMOVEMENT_H
#define KILN_PASSES_GRAPH_EVALUATEMOVEMENT_H

#include "dialects/nn/ConstantData.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

/// Visits all indices of a shape in row-major order with (number of the index, sum of index * stride).
void forEachOffset(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, llvm::function_ref<void(int64_t, int64_t)> visit);

/// The result of an operation that only moves data. Fails for unknown operations and for indices out of bounds.
mlir::FailureOr<std::vector<char>> evaluateMovement(mlir::Operation *op, llvm::ArrayRef<nn::ConstantData> operands);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_EVALUATEMOVEMENT_H
