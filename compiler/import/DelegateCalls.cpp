//===- DelegateCalls.cpp - Calls of the program's functions for groups -------===//
#include "compiler/import/BodyImporter.h"
#include "compiler/import/Delegates.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NNCallOps.h"

using namespace mlir;

namespace kiln::import {

/// Why a value cannot cross a border; empty if it can. `narrow` is its data type if that is a narrow one.
static std::string findFault(Value value, int64_t narrow) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || nn::isString(type.getElementType()))
    return "is no tensor of numbers";
  return narrow ? "has type " + getDataTypeName(narrow) + ", which is not kept as a file has it" : "";
}

/// Why a function that gets the dimensions of its results cannot compute this one; empty if it can.
static std::string findFaultInSizes(Value result, ValueRange operands, const nn::ComputedDims &computed) {
  SmallVector<unsigned> known, used;
  for (Value operand : operands)
    for (AffineExpr dim : nn::getDims(operand.getType()))
      computed.collect(dim, known);
  for (AffineExpr dim : nn::getDims(result.getType()))
    computed.collect(dim, used);
  return llvm::all_of(used, [&](unsigned symbol) { return llvm::is_contained(known, symbol); }) ? "" : "has a size that its data decide";
}

LogicalResult BodyImporter::importDelegate(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function,
                                           const DelegateGroup &group) {
  size_t observed = nodeValues.size();
  if (failed(inlineFunction(scope, node, call, function)))
    return failure();
  if (node.unsupportedNode)
    return success();
  // What is inside of the group is nobody else's to see.
  nodeValues.resize(observed);
  ArrayRef<Value> operands = ArrayRef(node.inputs).take_front(group.operands);
  auto refuse = [&](StringRef name, const std::string &fault) {
    return node.error("'" + printable(name) + "', which crosses the border of a delegate, " + fault);
  };
  for (auto [i, operand] : llvm::enumerate(operands))
    if (std::string fault = findFault(operand, NamedValues::narrowType(scope, call.input(i))); !fault.empty())
      return refuse(call.input(i), fault);
  for (auto [i, output] : llvm::enumerate(node.outputs)) {
    std::string fault = findFault(output, NamedValues::narrowType(scope, call.output(i)));
    if (fault.empty())
      fault = findFaultInSizes(output, operands, sizes.computed());
    if (!fault.empty())
      return refuse(call.output(i), fault);
  }
  SmallVector<Location> locations;
  for (auto [i, inner] : llvm::enumerate(function.node()))
    if (inner.op_type() != "Constant")
      locations.push_back(nodeLocation(context, inner, i, ""));
  auto made = nn::ExternCallOp::create(builder, FusedLoc::get(&context, locations), ValueRange(node.outputs).getTypes(), operands, function.name());
  node.outputs.assign(made.result_begin(), made.result_end());
  return success();
}

} // namespace kiln::import
