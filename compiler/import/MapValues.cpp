//===- MapValues.cpp - Maps at the interface ----------------------------------===//
//
// An input that is a map becomes two inputs, NAME_keys and NAME_values, of as many elements as it has entries: the symbol NAME_entries.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/MapValues.h"
#include "compiler/import/SignatureReader.h"
#include "compiler/import/SymbolicSizes.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/onnx.pb.h"

using namespace mlir;

namespace kiln::import {

Value makeMap(OpBuilder &builder, Location loc, MapValue map) {
  // A tuple within a tuple: no sequence.
  Type pair = TupleType::get(builder.getContext(), {map.keys.getType(), map.values.getType()});
  return UnrealizedConversionCastOp::create(builder, loc, TupleType::get(builder.getContext(), {pair}), ValueRange{map.keys, map.values}).getResult(0);
}

std::optional<MapValue> getMap(Value value) {
  auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
  auto type = dyn_cast<TupleType>(value.getType());
  if (!cast || !type || type.size() != 1 || !isa<TupleType>(type.getType(0)))
    return std::nullopt;
  return MapValue{cast.getOperand(0), cast.getOperand(1)};
}

LogicalResult SignatureReader::addMap(Scope &scope, const onnx::ValueInfoProto &input) {
  const onnx::TypeProto::Map &map = input.type().map_type();
  std::string where = "input '" + printable(input.name()) + "': ", entries = elementName(input.name(), "entries");
  using Tensor = onnx::TensorProto;
  int value = map.value_type().has_tensor_type() ? map.value_type().tensor_type().elem_type() : 0;
  bool isKey = map.key_type() == Tensor::INT64 || map.key_type() == Tensor::STRING;
  if (!isKey || !llvm::is_contained({Tensor::INT64, Tensor::STRING, Tensor::FLOAT, Tensor::DOUBLE}, value))
    return diagnostics.error(where + "it is a map from " + getDataTypeName(map.key_type()) + " to " + (value ? getDataTypeName(value) : "no scalars") +
                             ", only maps from int64 or strings to int64, float, double or strings are supported");
  if (options.shapes.count(input.name()))
    return diagnostics.error("--shape: input '" + printable(input.name()) + "' is a map; give the number of its entries with --dim " +
                             printable(entries) + "=...");
  AffineExpr count = sizes.get(entries);
  auto add = [&](StringRef suffix, int type) {
    return addArgument(elementName(input.name(), suffix), nn::makeTensorType({count}, getStorageType(type, &context)));
  };
  Value keys = add("keys", map.key_type()), values = add("values", value);
  scope.values[input.name()] = makeMap(builder, function.getLoc(), {keys, values});
  return success();
}

} // namespace kiln::import
