//===- FunctionTable.h - The functions of a model ---------------------------===//
#ifndef KILN_COMPILER_IMPORT_FUNCTIONTABLE_H
#define KILN_COMPILER_IMPORT_FUNCTIONTABLE_H

#include "compiler/Limits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
} // namespace kiln::onnx

namespace kiln::import {

class FunctionTable {
public:
  FunctionTable(const onnx::ModelProto &model, const Limits &limits);

  /// The function that a node calls; null when it calls none.
  const onnx::FunctionProto *find(const onnx::NodeProto &node) const;
  /// Counts the nodes of a function at that depth of calls with those that its calls become, without those in branches and loops, down to the depth that
  /// may be inlined.
  int64_t countNodes(const onnx::FunctionProto &function, int64_t depth);

private:
  const Limits &limits;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  /// The least number of nodes that each function becomes.
  llvm::DenseMap<const onnx::FunctionProto *, int64_t> nodeCounts;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_FUNCTIONTABLE_H
