//===- NodeOrder.h - Nodes in the order of their values -----------------------===//
#ifndef KILN_COMPILER_IMPORT_NODEORDER_H
#define KILN_COMPILER_IMPORT_NODEORDER_H

#include <string>

namespace kiln::onnx {
class ModelProto;
} // namespace kiln::onnx

namespace kiln::import {

/// Sorts the nodes of all graphs and functions so that each comes after those whose outputs it reads, as ONNX demands and some exporters do not write; others
/// keep their order. Leaves a graph with a cycle as it is. Returns a warning that names the first node that came too early, or an empty text.
std::string sortNodes(onnx::ModelProto &model);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_NODEORDER_H
