//===- FunctionCalls.cpp - Calls of functions as composites ------------------===//
//
//   %s = nn.sigmoid %x                    %r = nn.composite "com.acme.Gate" version 1(%x) {
//   %r = nn.mul %x, %s            =>      ^bb0(%a):
//                                           %s = nn.sigmoid %a
//                                           nn.yield (nn.mul %a, %s) }
//
// A call stays inlined if its operations use a value of the graph that is not one of its inputs, if others use an inner value that is not an output, if it
// computes a size that depends on the data, or if an input or output is not a tensor of numbers.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/FunctionCalls.h"
#include "compiler/import/onnx.pb.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln::import {

/// The attribute; null for a tensor, a graph or a type.
static mlir::Attribute readParameter(Builder b, const onnx::AttributeProto &attribute) {
  switch (attribute.type()) {
  case onnx::AttributeProto::INT:
    return b.getI64IntegerAttr(attribute.i());
  case onnx::AttributeProto::FLOAT:
    return b.getF64FloatAttr(attribute.f());
  case onnx::AttributeProto::STRING:
    return b.getStringAttr(attribute.s());
  case onnx::AttributeProto::INTS:
    return b.getDenseI64ArrayAttr(SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  case onnx::AttributeProto::FLOATS:
    return b.getDenseF64ArrayAttr(SmallVector<double>(attribute.floats().begin(), attribute.floats().end()));
  case onnx::AttributeProto::STRINGS:
    return b.getStrArrayAttr(SmallVector<StringRef>(attribute.strings().begin(), attribute.strings().end()));
  default:
    return {};
  }
}

DictionaryAttr readParameters(MLIRContext *context, const llvm::StringMap<const onnx::AttributeProto *> &attributes) {
  SmallVector<NamedAttribute> read;
  for (const auto &entry : attributes) {
    mlir::Attribute value = entry.second && !entry.first().empty() ? readParameter(Builder(context), *entry.second) : mlir::Attribute();
    if (!value)
      return {};
    read.emplace_back(StringAttr::get(context, entry.first()), value);
  }
  return DictionaryAttr::get(context, read);
}

void Calls::enter(Call call) {
  call.parent = current;
  current = calls.size();
  calls.push_back(std::move(call));
}

//===- Borders ---------------------------------------------------------------===//

/// Whether an operation may be cloned to the other side of a border.
static bool isKnown(Operation *op) { return isa_and_nonnull<nn::ConstantOp, nn::SplatOp, nn::DimValuesOp>(op); }

Value Calls::resolve(Value value) const {
  for (auto found = replaced.find(value); found != replaced.end(); found = replaced.find(value))
    value = found->second;
  return value;
}

/// Whether the call can be one operation; see the beginning of this file.
bool Calls::hasBorder(const Call &call, const Operations &operations) const {
  // Only tensors of numbers can cross a border, so a call that uses or computes other values has none.
  auto isTensor = [](Value value) {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    return type && type.getElementType().isIntOrFloat() && type.getElementTypeBitWidth() <= 64;
  };
  if (!call.parameters || call.outputs.empty() || !llvm::all_of(call.inputs, isTensor) || !llvm::all_of(call.outputs, isTensor))
    return false;
  auto isInside = [&](Value value) { return operations.contains(value.getDefiningOp()); };
  auto isMade = [&](Value value) { return isInside(value) && !isKnown(value.getDefiningOp()); };
  auto isGiven = [&](Value value) { return isInside(value) || llvm::is_contained(call.inputs, value) || isKnown(value.getDefiningOp()); };
  if (!llvm::any_of(call.outputs, isMade) || !llvm::all_of(call.outputs, isGiven))
    return false;
  for (Operation *op : operations) {
    if (!isPure(op) || isa<nn::DataSized>(op) || !llvm::all_of(op->getOperands(), isGiven) || !llvm::all_of(op->getResults(), isTensor))
      return false;
    for (Value result : op->getResults())
      if (!llvm::is_contained(call.outputs, result) && !llvm::all_of(result.getUsers(), [&](Operation *user) { return operations.contains(user); }))
        return false;
  }
  return true;
}

nn::CompositeOp Calls::makeComposite(Call &call, const Operations &operations) {
  OpBuilder b(operations.front());
  DictionaryAttr parameters = call.parameters.empty() ? DictionaryAttr() : call.parameters;
  auto composite = nn::CompositeOp::create(b, call.loc, ValueRange(call.outputs).getTypes(), call.name, call.version, call.inputs, parameters);
  Block &body = composite.getBody().emplaceBlock();
  llvm::DenseMap<Value, Value> inside;
  for (Value input : call.inputs)
    inside.try_emplace(input, body.addArgument(input.getType(), input.getLoc()));
  b.setInsertionPointToStart(&body);
  auto enterValue = [&](Value value) {
    if (operations.contains(value.getDefiningOp()))
      return value;
    auto [entry, isNew] = inside.try_emplace(value);
    if (isNew)
      entry->second = b.clone(*value.getDefiningOp())->getResult(0);
    return entry->second;
  };
  for (Operation *op : operations)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(enterValue(operand.get()));
  SmallVector<Value> yielded = llvm::map_to_vector(call.outputs, enterValue);
  for (Operation *op : operations)
    op->moveBefore(&body, body.end());
  b.setInsertionPointToEnd(&body);
  nn::YieldOp::create(b, call.loc, yielded);
  for (auto [output, result] : llvm::zip_equal(call.outputs, composite.getResults())) {
    if (!operations.contains(output.getDefiningOp()) || replaced.contains(output))
      continue;
    output.replaceUsesWithIf(result, [&](OpOperand &use) { return use.getOwner()->getBlock() != &body; });
    replaced[output] = result;
  }
  return composite;
}

//===- All calls -------------------------------------------------------------===//

/// The call's own operations, the composites of the calls inside it, and the operations of those that have none.
Calls::Operations Calls::takeOperations(size_t call) {
  Operations operations;
  std::vector<Item> flat;
  for (const Item &item : items[call]) {
    if (item.op)
      flat.push_back(item);
    else if (nn::CompositeOp composite = composites[item.call])
      flat.push_back({composite, -1});
    else
      llvm::append_range(flat, items[item.call]);
  }
  for (const Item &item : flat)
    operations.insert(item.op);
  items[call] = std::move(flat);
  return operations;
}

llvm::DenseSet<Value> Calls::listBorders() const {
  llvm::DenseSet<Value> borders;
  for (const Call &call : calls)
    for (Value value : llvm::concat<const Value>(call.inputs, call.outputs))
      borders.insert(value);
  borders.erase(Value());
  return borders;
}

void Calls::makeComposites(Block &block) {
  items.resize(calls.size());
  composites.resize(calls.size());
  for (Operation &op : block) {
    auto found = callOf.find(&op);
    Item item{&op, -1};
    for (int64_t call = found == callOf.end() ? -1 : found->second; call >= 0; call = calls[call].parent) {
      bool isFirst = items[call].empty();
      items[call].push_back(item);
      // The enclosing call is made when its first operation is reached.
      if (!isFirst)
        break;
      item = {nullptr, call};
    }
  }
  // Inner calls have larger numbers than the calls around them.
  for (size_t call = calls.size(); call-- > 0;) {
    Operations operations = takeOperations(call);
    for (Value &output : calls[call].outputs)
      output = output ? resolve(output) : output;
    if (!operations.empty() && hasBorder(calls[call], operations))
      composites[call] = makeComposite(calls[call], operations);
  }
}

} // namespace kiln::import
