//===- OperandCheck.cpp - Whether a node's inputs have types of its operator -===//
//
// Before an operator's importer runs, its inputs are compared with the row of Schemas.def: element types, inputs that must have the same one,
// ranks, and lists where tensors belong.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Graph.h"
#include "compiler/import/Lists.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

using namespace mlir;

namespace kiln::import {

/// The data types that a value may have: several share one type in the IR, and only for some values it is known which it is.
static DataTypes listDataTypes(Value value, int64_t known) {
  if (!isa<RankedTensorType>(value.getType()))
    return isAbsent(value) ? optionalType : sequenceType;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (known > 0 && getStorageType(static_cast<int>(known), value.getContext()) == element)
    return DataTypes(1) << known;
  DataTypes types = 0;
  for (int id = 1; id <= onnx::TensorProto::INT2; ++id)
    if (getStorageType(id, value.getContext()) == element)
      types |= DataTypes(1) << id;
  return types;
}

LogicalResult GraphImporter::checkOperands(Scope &scope, Node &node, const Schema &schema) {
  llvm::StringMap<std::pair<unsigned, DataTypes>> bound;
  for (auto [i, value] : llvm::enumerate(node.inputs)) {
    const ParameterFact *fact = value ? schema.input(i) : nullptr;
    if (!fact)
      continue;
    const std::string &name = node.proto.input(i);
    DataTypes types = listDataTypes(value, narrowType(scope, name));
    // An optional with a value stands for it.
    bool isOptional = scope.optionals.contains(name) && (fact->types & optionalType);
    std::string what = ("input " + Twine(i) + " (" + fact->name + ")").str();
    if (!(types & fact->types) && !isOptional)
      return node.error(what + " has type " + describeTypes(types & -types) + ", expected " + describeTypes(fact->types));
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (tensor && (tensor.getRank() < fact->leastRank || tensor.getRank() > fact->mostRank))
      return node.error(what + " has rank " + Twine(tensor.getRank()) + ", expected " + Twine(fact->leastRank) +
                        (fact->leastRank == fact->mostRank ? "" : " to " + Twine(fact->mostRank)));
    if (fact->variable.empty() || fact->kind == ParameterFact::Heterogeneous)
      continue;
    auto [first, isNew] = bound.try_emplace(fact->variable, i, types);
    if (!isNew && !(first->second.second & types))
      return node.error(what + " has type " + describeTypes(types & -types) + ", but input " + Twine(first->second.first) + " has " +
                        describeTypes(first->second.second & -first->second.second) + ", and the operator takes one type for both");
  }
  return success();
}

} // namespace kiln::import
