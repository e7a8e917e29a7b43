//===- Rounding.cpp - Numbers that are rounded because the user asks for it -===//
#include "dialects/nn/Rounding.h"
#include "dialects/nn/OperationAttributeNames.h"

using namespace mlir;

namespace kiln::nn {

void addRoundingLine(ModuleOp module, const Twine &line) {
  auto lines = module->getAttrOfType<ArrayAttr>(roundingAttrName);
  SmallVector<Attribute> all = lines ? SmallVector<Attribute>(lines.getValue()) : SmallVector<Attribute>();
  all.push_back(StringAttr::get(module.getContext(), line));
  module->setAttr(roundingAttrName, ArrayAttr::get(module.getContext(), all));
}

std::vector<std::string> listRounding(ModuleOp module) {
  std::vector<std::string> lines;
  if (auto list = module->getAttrOfType<ArrayAttr>(roundingAttrName))
    for (auto line : list.getAsRange<StringAttr>())
      lines.push_back(line.str());
  return lines;
}

StringRef getRounding(Operation *op) {
  auto text = op->getAttrOfType<StringAttr>(roundingAttrName);
  return text ? text.getValue() : StringRef();
}

static constexpr llvm::StringLiteral roundedFactors = "factors rounded to ";

void setRoundedFactors(Operation *op, StringRef type, StringRef bound) { setRounding(op, roundedFactors + type + ", " + bound + "; sums of f32"); }

StringRef getRoundedFactors(Operation *op) {
  StringRef text = getRounding(op);
  return text.consume_front(roundedFactors) ? text.split(',').first : StringRef();
}

void setRounding(Operation *op, const Twine &text) { op->setAttr(roundingAttrName, StringAttr::get(op->getContext(), text)); }

} // namespace kiln::nn
