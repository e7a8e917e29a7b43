//===- DelegateCalls.cpp - Calls of the program's functions for groups -------===//
#include "compiler/import/BodyImporter.h"
#include "compiler/import/Delegates.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/Calls.h"
#include "dialects/nn/ComputedDims.h"

using namespace mlir;

namespace kiln::import {

/// The type of a value as the group's file declares it. Sizes that are neither numbers nor names stay open.
static onnx::ValueInfoProto declareValue(StringRef name, RankedTensorType type, const SymbolicSizes &sizes) {
  onnx::ValueInfoProto info;
  info.set_name(name.str());
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  for (int number = onnx::TensorProto::FLOAT; number <= onnx::TensorProto::INT2; ++number)
    if (getElementType(number, type.getContext()) == type.getElementType())
      tensor.set_elem_type(number);
  auto &shape = *tensor.mutable_shape();
  for (AffineExpr dim : nn::getDims(type)) {
    auto &declared = *shape.add_dim();
    if (std::optional<int64_t> number = nn::getConstantDim(dim))
      declared.set_dim_value(*number);
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(dim))
      declared.set_dim_param(sizes.listNames()[symbol.getPosition()]);
  }
  return info;
}

/// Why a function that gets the dimensions of its results cannot compute this one; empty if it can.
static std::string findFault(Value result, ValueRange operands, const SymbolicSizes &sizes) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || nn::isString(type.getElementType()))
    return "is no tensor of numbers";
  nn::ComputedDims computed = sizes.computed();
  SmallVector<unsigned> known, used;
  for (Value operand : operands)
    for (AffineExpr dim : nn::getDims(operand.getType()))
      computed.collect(dim, known);
  for (AffineExpr dim : nn::getDims(type))
    computed.collect(dim, used);
  return llvm::all_of(used, [&](unsigned symbol) { return llvm::is_contained(known, symbol); }) ? "" : "has a size that its data decide";
}

LogicalResult BodyImporter::importDelegate(Scope &scope, Node &node, const onnx::NodeProto &call, const onnx::FunctionProto &function,
                                           DelegateGroup &group) {
  size_t observed = nodeValues.size();
  if (failed(inlineFunction(scope, node, call, function)))
    return failure();
  if (node.unsupportedNode)
    return success();
  // What is inside of the group is nobody else's to see.
  nodeValues.resize(observed);
  ArrayRef<Value> operands = ArrayRef(node.inputs).take_front(group.operands);
  auto describe = [&](StringRef name) { return "'" + printable(name) + "', which crosses the border of a delegate, "; };
  for (auto [i, operand] : llvm::enumerate(operands))
    if (!isa<RankedTensorType>(operand.getType()) || nn::isString(getElementTypeOrSelf(operand.getType())))
      return node.error(describe(function.input(i)) + "is no tensor of numbers");
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (std::string fault = findFault(output, operands, sizes); !fault.empty())
      return node.error(describe(function.output(i)) + fault);
  SmallVector<Location> locations;
  for (auto [i, inner] : llvm::enumerate(function.node()))
    if (inner.op_type() != "Constant")
      locations.push_back(nodeLocation(context, inner, i, ""));
  auto made = nn::ExternCallOp::create(builder, FusedLoc::get(&context, locations), ValueRange(node.outputs).getTypes(), operands, group.name);
  group.inputs.clear();
  group.outputs.clear();
  for (auto [i, operand] : llvm::enumerate(operands))
    group.inputs.push_back(declareValue(function.input(i), cast<RankedTensorType>(operand.getType()), sizes));
  for (auto [i, output] : llvm::enumerate(node.outputs))
    group.outputs.push_back(declareValue(function.output(i), cast<RankedTensorType>(output.getType()), sizes));
  node.outputs.assign(made.result_begin(), made.result_end());
  return success();
}

} // namespace kiln::import
