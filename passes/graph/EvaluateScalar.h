//===- EvaluateScalar.h - Element-wise operations at compile time ----------===//
#ifndef KILN_PASSES_GRAPH_EVALUATESCALAR_H
#define KILN_PASSES_GRAPH_EVALUATESCALAR_H

#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"

namespace kiln {

/// A number as an element of a floating-point type holds it.
double roundTo(mlir::Type type, double number);

/// Writes a number as an element of this type, rounded or wrapped to it.
void storeNumber(char *to, mlir::Type elementType, double number);
void storeNumber(char *to, mlir::Type elementType, int64_t number);

/// The result of an element-wise operation, by interpreting its `buildScalar` for each element. Fails for operations that the interpreter does not know
/// and for integer divisions by zero. Each floating-point operation is rounded to the kernel's compute type.
mlir::FailureOr<std::vector<char>> evaluateScalarBody(nn::ScalarBody op, llvm::ArrayRef<nn::ConstantData> operands);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_EVALUATESCALAR_H
