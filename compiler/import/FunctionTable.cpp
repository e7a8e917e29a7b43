//===- FunctionTable.cpp - The functions of a model -------------------------===//
#include "compiler/import/FunctionTable.h"
#include "compiler/import/ModelCheck.h"
#include "compiler/import/onnx.pb.h"

namespace kiln::import {

FunctionTable::FunctionTable(const onnx::ModelProto &model, const Limits &limits) : limits(limits) {
  for (const onnx::FunctionProto &function : model.functions())
    functions[functionKey(function.domain(), function.name(), function.overload())] = &function;
}

const onnx::FunctionProto *FunctionTable::find(const onnx::NodeProto &node) const {
  return functions.lookup(functionKey(canonicalDomain(node.domain()), node.op_type(), node.overload()));
}

/// A limit for counts, whose sums then do not overflow.
static constexpr int64_t farTooMany = int64_t(1) << 60;

int64_t FunctionTable::countNodes(const onnx::FunctionProto &function, int64_t depth) {
  auto [known, isNew] = nodeCounts.try_emplace(&function, 0);
  // A recursive function counts once; it is refused for its depth.
  if (!isNew || depth >= limits.depth)
    return known->second;
  int64_t count = 0;
  for (const auto &node : function.node()) {
    const onnx::FunctionProto *callee = find(node);
    count = std::min(count + 1 + (callee ? countNodes(*callee, depth + 1) : 0), farTooMany);
  }
  return nodeCounts[&function] = count;
}

} // namespace kiln::import
