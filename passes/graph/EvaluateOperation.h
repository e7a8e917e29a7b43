//===- EvaluateOperation.h - Operations on constants at compile time -------===//
#ifndef KILN_PASSES_GRAPH_EVALUATEOPERATION_H
#define KILN_PASSES_GRAPH_EVALUATEOPERATION_H

#include "dialects/nn/ConstantData.h"

namespace kiln {

/// The bytes of the one result of an operation, whose type is static: element-wise operations and integer reductions with the rounding and wrapping of the
/// kernels, floating-point reductions with sums in f64, operations that move data. Fails for all others and where a kernel would end the run.
mlir::FailureOr<std::vector<char>> evaluateOperation(mlir::Operation *op, llvm::ArrayRef<nn::ConstantData> operands);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_EVALUATEOPERATION_H
