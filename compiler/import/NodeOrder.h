//===- NodeOrder.h - Nodes in the order of their values -----------------------===//
#ifndef KILN_COMPILER_IMPORT_NODEORDER_H
#define KILN_COMPILER_IMPORT_NODEORDER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln::onnx {
class ModelProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln::import {

/// Sorts the nodes of all graphs and functions so that each comes after those whose outputs it reads, as ONNX demands and some exporters do not write; others
/// keep their order. Leaves a graph with a cycle as it is. Returns a warning that names the first node that came too early, or an empty text.
std::string sortNodes(onnx::ModelProto &model);

/// Calls `use` for each name that a node takes from the graph around it, also in its bodies.
void forEachUse(const onnx::NodeProto &node, llvm::function_ref<void(llvm::StringRef)> use);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_NODEORDER_H
