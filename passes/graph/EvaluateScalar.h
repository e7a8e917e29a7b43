//===- EvaluateScalar.h - Element-wise operations at compile time ----------===//
#ifndef KILN_PASSES_GRAPH_EVALUATESCALAR_H
#define KILN_PASSES_GRAPH_EVALUATESCALAR_H

#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NN.h"

namespace kiln {

/// Writes a number as an element of this type, rounded or wrapped to it.
void storeNumber(char *to, mlir::Type elementType, double number);
void storeNumber(char *to, mlir::Type elementType, int64_t number);

/// The operation's elements, by interpreting its `buildScalar` on each element of the operands. Fails on what the interpreter does not know and on
/// integer divisions by zero. Floating-point operations are rounded to the kernel's compute type one by one.
mlir::FailureOr<std::vector<char>> evaluateScalarBody(nn::ScalarBody op, llvm::ArrayRef<nn::ConstantData> operands);

} // namespace kiln

#endif // KILN_PASSES_GRAPH_EVALUATESCALAR_H
