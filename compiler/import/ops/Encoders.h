//===- Encoders.h - What prepares features, and linear classifiers ------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_ENCODERS_H
#define KILN_COMPILER_IMPORT_OPS_ENCODERS_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// @name Operators of ai.onnx.ml 1
/// @{
llvm::LogicalResult featureVectorizer(Node &node);
llvm::LogicalResult imputer(Node &node);
llvm::LogicalResult linearClassifier(Node &node);
llvm::LogicalResult oneHotEncoder(Node &node);
llvm::LogicalResult zipMap(Node &node);
/// @}

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_ENCODERS_H
