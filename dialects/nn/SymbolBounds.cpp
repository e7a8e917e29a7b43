//===- SymbolBounds.cpp - What the caller may give as a dimension ----------===//
#include "dialects/nn/SymbolBounds.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SymbolAttributeNames.h"

using namespace mlir;

namespace kiln::nn {

std::vector<std::string> listSymbols(ModuleOp module) {
  std::vector<std::string> symbols;
  if (auto names = module->getAttrOfType<ArrayAttr>(symbolsAttrName))
    for (auto name : names.getAsRange<StringAttr>())
      symbols.push_back(name.str());
  return symbols;
}

std::pair<int64_t, int64_t> getSymbolBounds(ModuleOp module, unsigned position) {
  auto bounds = module->getAttrOfType<ArrayAttr>(symbolBoundsAttrName);
  if (bounds && position < bounds.size())
    if (auto range = dyn_cast<DenseI64ArrayAttr>(bounds[position]); range && range.size() == 2)
      return {range[0], range[1]};
  return {defaultSymbolMin, defaultSymbolMax};
}

} // namespace kiln::nn
