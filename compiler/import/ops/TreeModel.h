//===- TreeModel.h - The trees of a node's attributes -------------------------===//
#ifndef KILN_COMPILER_IMPORT_OPS_TREEMODEL_H
#define KILN_COMPILER_IMPORT_OPS_TREEMODEL_H

#include "compiler/import/Node.h"
#include "dialects/nn/TreeTables.h"

namespace kiln::import {

/// Numbers of an attribute: a list of floats, or the tensor NAME_as_tensor (ai.onnx.ml 3); none if the node has neither.
llvm::SmallVector<double> readNumbers(Node &node, llvm::StringRef name);

/// The trees of TreeEnsembleClassifier (`stem` "class") and TreeEnsembleRegressor (`stem` "target") of ai.onnx.ml 1 and 3: lists over nodes that ids of trees
/// and nodes name, and lists over what leaves give the `targets`. The root of a tree is the first of its nodes. nullopt after an error, which names the node.
std::optional<nn::Forest> readListedTrees(Node &node, llvm::StringRef stem, int64_t targets);

/// The trees of TreeEnsemble (ai.onnx.ml 5), with nodes and leaves in lists of their own. nullopt after an error.
std::optional<nn::Forest> readTrees(Node &node, int64_t targets);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_OPS_TREEMODEL_H
