//===- Trees.h - Ensembles of decision trees ----------------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_TREES_H
#define KILN_COMPILER_IMPORT_OPS_TREES_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// TreeEnsemble of ai.onnx.ml 5, and TreeEnsembleRegressor and -Classifier of versions 1 and 3.
llvm::LogicalResult treeEnsemble(Node &node);
llvm::LogicalResult treeEnsembleRegressor(Node &node);
llvm::LogicalResult treeEnsembleClassifier(Node &node);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_TREES_H
