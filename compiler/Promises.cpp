//===- Promises.cpp - What the user promises about a model -----------------===//
#include "compiler/Promises.h"
#include "compiler/files/Suggestion.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/OperationAttributeNames.h"
#include "dialects/nn/Rounding.h"
#include "dialects/nn/SignatureAttributeNames.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "dialects/nn/SymbolBounds.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

static std::string quoteAll(ArrayRef<std::string> names) {
  return names.empty() ? "has none" : "has " + llvm::join(llvm::map_range(names, [](const std::string &name) { return "'" + name + "'"; }), ", ");
}

static bool recordRanges(const CompileOptions &options, ModuleOp module, std::vector<std::string> &errors) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<std::string> names;
  for (unsigned i = 0; main && i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, nn::nameAttrName))
      names.push_back(name.str());
  for (auto &[input, range] : options.inputRanges) {
    auto found = llvm::find(names, input);
    if (found == names.end()) {
      errors.push_back("--input-range: the model has no input '" + input + "', it " + quoteAll(names));
      return false;
    }
    main.setArgAttr(found - names.begin(), nn::rangeAttrName, DenseF64ArrayAttr::get(module.getContext(), {range.first, range.second}));
  }
  return true;
}

/// Sizes are computed in 64 bits, which the size of a tensor with three dynamic dimensions must not exceed.
static bool fitTogether(const CompileOptions &options, ArrayRef<std::string> symbols) {
  std::vector<uint64_t> largest;
  for (const std::string &symbol : symbols) {
    auto bound = options.dimBounds.find(symbol);
    largest.push_back(bound == options.dimBounds.end() ? defaultSymbolMax : bound->second.second);
  }
  llvm::sort(largest, std::greater<uint64_t>());
  uint64_t product = 1;
  for (uint64_t size : ArrayRef(largest).take_front(3))
    product = llvm::SaturatingMultiply(product, std::max<uint64_t>(size, 1));
  return product <= uint64_t(1) << 60;
}

static bool recordBounds(const CompileOptions &options, ModuleOp module, std::vector<std::string> &errors) {
  if (options.dimBounds.empty())
    return true;
  std::vector<std::string> symbols = nn::listSymbols(module);
  // The user cannot bound computed dimensions.
  symbols.resize(nn::ComputedDims(module).given());
  for (auto &entry : options.dimBounds)
    if (!llvm::is_contained(symbols, entry.first)) {
      errors.push_back("--dim: the model has no dynamic dimension '" + entry.first + "'" + suggest(entry.first, symbols) + ", it " + quoteAll(symbols));
      return false;
    }
  if (!fitTogether(options, symbols)) {
    errors.push_back("--dim: the largest sizes of the dynamic dimensions multiply to more than 2^60 (those without bounds count as " +
                     std::to_string(defaultSymbolMax) + "): give closer ones");
    return false;
  }
  SmallVector<Attribute> bounds;
  for (const std::string &symbol : symbols) {
    auto bound = options.dimBounds.find(symbol);
    bool given = bound != options.dimBounds.end();
    bounds.push_back(DenseI64ArrayAttr::get(module.getContext(), given ? ArrayRef{bound->second.first, bound->second.second} : ArrayRef<int64_t>{}));
  }
  module->setAttr(nn::symbolBoundsAttrName, ArrayAttr::get(module.getContext(), bounds));
  return true;
}

bool recordPromises(const CompileOptions &options, ModuleOp module, std::vector<std::string> &errors) {
  if (options.accuracy != Accuracy::Default)
    module->setAttr(nn::accuracyAttrName, StringAttr::get(module.getContext(), options.accuracy == Accuracy::Strict ? "strict" : "fast"));
  if (options.flushSubnormals && !module->hasAttr(nn::flushSubnormalsAttrName)) {
    module->setAttr(nn::flushSubnormalsAttrName, UnitAttr::get(module.getContext()));
    nn::addRoundingLine(module, "kernels take subnormal numbers for zero, as operands and as results");
  }
  return recordRanges(options, module, errors) && recordBounds(options, module, errors);
}

bool checkIROptions(const CompileOptions &options, std::vector<std::string> &errors) {
  const char *option = !options.dims.empty() ? "--dim NAME=SIZE" : !options.shapes.empty() ? "--shape" : !options.bindings.empty() ? "--bind"
                       : !options.sequences.empty()                                        ? "--sequence"
                       : !options.absent.empty()                                           ? "--absent"
                       : !options.renames.empty()                                          ? "--rename"
                       : options.observation.any()                                         ? "comparing nodes"
                                                                                           : nullptr;
  if (option)
    errors.push_back(std::string(option) + " needs an ONNX model: " + options.model + " is IR, which has its shapes already");
  return !option;
}

} // namespace kiln
