//===- GraphRows.cpp - The ONNX graph, as a report has it --------------------===//
#include "compiler/report/GraphRows.h"
#include "compiler/Decisions.h"
#include "compiler/emit/Signature.h"
#include "compiler/files/Printable.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "passes/analysis/ValueRangeAnalysis.h"

using namespace mlir;

namespace kiln {

std::string describeType(Type type, ArrayAttr symbols) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !nn::hasDims(type))
    return "";
  std::string text;
  for (AffineExpr dim : nn::getDims(type))
    text += (text.empty() ? "" : ",") + nn::formatDim(dim, symbols);
  return elementName(tensor.getElementType()) + "[" + text + "]";
}

int64_t GraphRows::add(StringRef name, StringRef kind) {
  Row row{name.str(), kind.str(), "", ""};
  // A node is called `name(Operator)`.
  if (size_t open = name.rfind('('); kind == "node" && open != StringRef::npos && name.ends_with(")"))
    row.op = name.slice(open + 1, name.size() - 1).str();
  rows.push_back(std::move(row));
  return static_cast<int64_t>(rows.size()) - 1;
}

int64_t GraphRows::find(StringRef node) {
  auto [known, isNew] = numbers.try_emplace(node, static_cast<int64_t>(rows.size()));
  return isNew ? add(node, "node") : known->second;
}

llvm::json::Array GraphRows::find(Location location) {
  llvm::json::Array list;
  for (StringRef node : listNodes(location))
    if (node.ends_with(")")) // others are names of tensors
      list.push_back(find(node));
  return list;
}

llvm::json::Array GraphRows::find(ArrayAttr names) {
  llvm::json::Array list;
  for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>())
    if (auto text = dyn_cast<StringAttr>(name); text && text.getValue().ends_with(")"))
      list.push_back(find(text.getValue()));
  return list;
}

/// The value that stands for an argument or a result of a composite outside or inside of it; itself for all others.
static Value lookThrough(Value value) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto composite = dyn_cast<nn::CompositeOp>(argument.getOwner()->getParentOp());
      if (!composite || argument.getArgNumber() >= composite->getNumOperands())
        return value;
      value = composite->getOperand(argument.getArgNumber());
      continue;
    }
    auto result = cast<OpResult>(value);
    auto composite = dyn_cast<nn::CompositeOp>(result.getOwner());
    if (!composite)
      return value;
    value = composite->getRegion(0).front().getTerminator()->getOperand(result.getResultNumber());
  }
}

int64_t GraphRows::findSource(Value value) {
  value = lookThrough(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return inputs[argument.getArgNumber()];
    auto nodes = listNodes(parent->getLoc());
    return nodes.empty() ? -1 : find(nodes.back());
  }
  Operation *op = value.getDefiningOp();
  if (isa<nn::ConstantOp>(op))
    return -1;
  auto nodes = listNodes(op->getLoc());
  return nodes.empty() || !nodes.back().ends_with(")") ? -1 : find(nodes.back());
}

static int64_t countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements() * std::max<int64_t>(0, nn::elementBytes(tensor.getElementType())) : 0;
}

void GraphRows::connect(Operation *op, int64_t row) {
  for (Value operand : op->getOperands()) {
    if (Value source = lookThrough(operand); source.getDefiningOp<nn::ConstantOp>())
      rows[row].weightBytes += countBytes(source.getType());
    else if (int64_t from = findSource(source); from >= 0 && from != row)
      edges.try_emplace({from, row}, describeType(source.getType(), symbols));
  }
}

void GraphRows::read(ModuleOp module) {
  symbols = module->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return;
  auto addNamed = [&](Attribute name, unsigned i, StringRef kind) {
    auto text = dyn_cast_or_null<StringAttr>(name);
    return add(text ? text.str() : kind.str() + std::to_string(i), kind);
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    Attribute name = main.getArgAttr(i, nn::nameAttrName);
    inputs.push_back(addNamed(name, i, "input"));
    rows.back().type = describeType(main.getArgument(i).getType(), symbols);
  }
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == main || isa<nn::ConstantOp, nn::CompositeOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
      return;
    auto nodes = listNodes(op->getLoc());
    if (nodes.empty() || !nodes.back().ends_with(")"))
      return;
    int64_t row = find(nodes.back());
    if (op->getNumResults())
      rows[row].type = describeType(op->getResult(0).getType(), symbols);
    connect(op, row);
  });
  Operation *end = main.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(end->getOperands())) {
    Attribute name = main.getResultAttr(i, nn::nameAttrName);
    int64_t row = addNamed(name, i, "output");
    rows[row].type = describeType(result.getType(), symbols);
    if (int64_t from = findSource(result); from >= 0)
      edges.try_emplace({from, row}, rows[row].type);
  }
}

llvm::json::Object GraphRows::toJson() const {
  llvm::json::Array nodes, list;
  for (const Row &row : rows) {
    llvm::json::Object object{{"name", jsonText(row.name)}, {"kind", row.kind}, {"op", jsonText(row.op)}, {"type", jsonText(row.type)}};
    if (row.weightBytes)
      object["weight_bytes"] = row.weightBytes;
    nodes.push_back(std::move(object));
  }
  for (const auto &[ends, type] : edges)
    list.push_back(llvm::json::Array{ends.first, ends.second, jsonText(type)});
  return llvm::json::Object{{"nodes", std::move(nodes)}, {"edges", std::move(list)}};
}

llvm::json::Array listRanges(ModuleOp module, GraphRows &graph) {
  llvm::json::Array list;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return list;
  auto symbols = module->getAttrOfType<ArrayAttr>(nn::symbolsAttrName);
  ValueRanges ranges(module);
  auto end = [](double number) { return std::isfinite(number) ? llvm::json::Value(number) : llvm::json::Value(nullptr); };
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // What is computed of constants alone is as good as a constant.
    auto isConstant = [](Value operand) { return operand.getDefiningOp<nn::ConstantOp>() != nullptr; };
    if (op == main || isa<nn::ConstantOp>(op) || (op->getNumOperands() && llvm::all_of(op->getOperands(), isConstant)))
      return;
    for (Value result : op->getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      Interval range = ranges.get(result);
      if (range == getFullRange(getElementTypeOrSelf(result.getType())))
        continue;
      llvm::json::Object row{{"nodes", graph.find(op->getLoc())}, {"op", op->getName().stripDialect().str()},
                             {"type", jsonText(describeType(result.getType(), symbols))}, {"low", end(range.low)}, {"high", end(range.high)}};
      if (range.nan)
        row["nan"] = true;
      list.push_back(std::move(row));
    }
  });
  return list;
}

} // namespace kiln
