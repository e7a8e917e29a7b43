//===- SupportVectors.h - Support vector machines -----------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_SUPPORTVECTORS_H
#define KILN_COMPILER_IMPORT_OPS_SUPPORTVECTORS_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// SVMClassifier and SVMRegressor of ai.onnx.ml 1.
llvm::LogicalResult svmClassifier(Node &node);
llvm::LogicalResult svmRegressor(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_SUPPORTVECTORS_H
