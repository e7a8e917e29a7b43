//===- Contrib.h - The families of com.microsoft and what they share ---------===//
#ifndef KILN_COMPILER_IMPORT_OPS_CONTRIB_H
#define KILN_COMPILER_IMPORT_OPS_CONTRIB_H

#include "compiler/import/Node.h"
#include "compiler/import/Operators.h"

namespace kiln::import {

/// @name The families, each in the file of its name
/// @{
llvm::ArrayRef<Operator> getContribCacheOperators();
llvm::ArrayRef<Operator> getContribExpertOperators();
llvm::ArrayRef<Operator> getContribLayoutOperators();
llvm::ArrayRef<Operator> getContribPaddingOperators();
llvm::ArrayRef<Operator> getContribPagedOperators();
llvm::ArrayRef<Operator> getContribQuantizedOperators();
llvm::ArrayRef<Operator> getContribQuantizedProductOperators();
llvm::ArrayRef<Operator> getContribRequestOperators();
llvm::ArrayRef<Operator> getContribSignalOperators();
llvm::ArrayRef<Operator> getContribSparseOperators();
llvm::ArrayRef<Operator> getContribWeightOperators();
/// @}

// Each gives some value after an error.

/// Adds a vector along the last dimension; null: none.
Value addToRows(Node &node, Value x, Value bias, llvm::StringRef what = "the bias");

/// An activation by name, with numbers in the order of ONNX's attributes; where there are fewer, the operator's defaults stand for the others.
Value buildActivation(Node &node, Value x, llvm::StringRef name, llvm::ArrayRef<double> given);

/// Layer normalization of the last dimension, or with `rms` its root mean square. `bias` may be null.
Value normalizeRows(Node &node, Value x, Value scale, Value bias, double epsilon, bool rms);

/// activation(convolution + bias + Z) by the node's attributes, of x [N, C, spatial...]; biases and Z, of the result's layout, may be null.
Value buildFusedConvolution(Node &node, Value x, Value weight, Value bias, Value z);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_CONTRIB_H
