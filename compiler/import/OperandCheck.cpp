//===- OperandCheck.cpp - Whether a node's inputs have types of its operator -===//
//
// Before an operator's importer runs, its inputs are compared with the row of Schemas.def: element types, inputs that must have the same type,
// ranks, and lists in the place of tensors.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/BodyImporter.h"
#include "compiler/import/MapValues.h"
#include "compiler/import/SequenceValues.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

using namespace mlir;

namespace kiln::import {

DataTypes BodyImporter::listDataTypes(Value value, int64_t known) {
  if (!isa<RankedTensorType>(value.getType()))
    return isAbsent(value) ? optionalType : getMap(value) ? mapType : sequenceType;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (known > 0 && getStorageType(static_cast<int>(known), &context) == element)
    return DataTypes(1) << known;
  auto [types, isNew] = dataTypes.try_emplace(element, 0);
  for (int id = 1; isNew && id <= onnx::TensorProto::INT2; ++id)
    if (getStorageType(id, &context) == element)
      types->second |= DataTypes(1) << id;
  return types->second;
}

/// Whether the name is that of an optional, in the scope that gives it a value.
static bool isOptionalName(const Scope *scope, StringRef name) {
  while (scope->parent && !scope->values.contains(name) && !scope->optionals.contains(name))
    scope = scope->parent;
  return scope->optionals.contains(name);
}

LogicalResult BodyImporter::checkOperands(Scope &scope, Node &node, const Schema &schema) {
  /// The type variables that have been bound, with the position of the input that bound each, and its types.
  SmallVector<std::tuple<StringRef, unsigned, DataTypes>, 4> bound;
  for (auto [i, value] : llvm::enumerate(node.inputs)) {
    const ParameterFact *fact = value ? schema.input(i) : nullptr;
    if (!fact)
      continue;
    const std::string &name = node.proto.input(i);
    DataTypes types = listDataTypes(value, NamedValues::narrowType(scope, name));
    // An optional with a value is treated as the value.
    bool isOptional = (fact->types & optionalType) && isOptionalName(&scope, name);
    auto what = [&, at = i] { return ("input " + Twine(at) + " (" + fact->name + ")").str(); };
    if (DataTypes lists = fact->types & (sequenceType | mapType); !(types & fact->types) && !isOptional && !isa<RankedTensorType>(value.getType()))
      return node.error(what() + " is " + describeTypes(types) + ", expected " + (lists ? describeTypes(lists) : "a tensor"));
    if (!(types & fact->types) && !isOptional)
      return node.error(what() + " has type " + describeTypes(types & -types) + ", expected " + describeTypes(fact->types));
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (tensor && (tensor.getRank() < fact->leastRank || tensor.getRank() > fact->mostRank))
      return node.error(what() + " has rank " + Twine(tensor.getRank()) + ", expected " + Twine(fact->leastRank) +
                        (fact->leastRank == fact->mostRank ? "" : " to " + Twine(fact->mostRank)));
    if (fact->variable.empty() || fact->kind == ParameterFact::Heterogeneous)
      continue;
    auto *first = llvm::find_if(bound, [&](const auto &entry) { return std::get<0>(entry) == fact->variable; });
    if (first == bound.end()) {
      bound.emplace_back(fact->variable, i, types);
      continue;
    }
    auto [variable, place, others] = *first;
    if (!(others & types))
      return node.error(what() + " has type " + describeTypes(types & -types) + ", but input " + Twine(place) + " has " +
                        describeTypes(others & -others) + ", and the operator takes one type for both");
  }
  return success();
}

} // namespace kiln::import
