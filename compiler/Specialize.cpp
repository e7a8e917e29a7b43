//===- Specialize.cpp - Versions of a model for listed sizes ---------------===//
//
//   nn.symbols = ["seq"], tensor<?x8xf32, #nn.dims<()[s0] -> (s0, 8)>>
// becomes, for seq=128,
//   nn.symbols = ["seq"], nn.symbol_bounds = [[128, 128]], nn.special_sizes = [128], tensor<128x8xf32>
//
// The symbols stay, so that all versions have the arguments that programs pass; nothing but the entry's check mentions them.
//
//===----------------------------------------------------------------------===//
#include "compiler/Specialize.h"
#include "compiler/emit/Signature.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NN.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {

/// Each version costs as much as the model does to compile.
static constexpr size_t maxVersions = 16;

static std::vector<std::string> listSymbols(ModuleOp module) {
  std::vector<std::string> symbols;
  if (auto names = module->getAttrOfType<ArrayAttr>(nn::symbolsAttrName))
    for (auto name : names.getAsRange<StringAttr>())
      symbols.push_back(name.str());
  return symbols;
}

static std::string explainUnknown(const CompileOptions &options, const std::string &name, ArrayRef<std::string> given) {
  std::string text = "--specialize: the model has no dynamic dimension '" + name + "', it has ";
  if (auto fixed = options.dims.find(name); fixed != options.dims.end())
    return "--specialize: '" + name + "' is static, --dim makes it " + std::to_string(fixed->second);
  return text + (given.empty() ? "none" : "'" + llvm::join(given, "', '") + "'");
}

bool listVersions(const CompileOptions &options, ModuleOp module, std::vector<SpecialSizes> &versions, std::vector<std::string> &errors) {
  std::vector<std::string> symbols = listSymbols(module), given = symbols;
  // What the model computes no program passes.
  given.resize(nn::ComputedDims(module).given());
  size_t count = 1;
  for (auto &[name, sizes] : options.specialize) {
    if (!llvm::is_contained(given, name)) {
      errors.push_back(explainUnknown(options, name, given));
      return false;
    }
    auto bound = options.dimBounds.find(name);
    auto [low, high] = bound == options.dimBounds.end() ? std::make_pair(defaultSymbolMin, defaultSymbolMax) : bound->second;
    for (int64_t size : sizes)
      if (size < low || size > high) {
        errors.push_back("--specialize: " + name + "=" + std::to_string(size) + " is outside " + std::to_string(low) + " to " + std::to_string(high));
        return false;
      }
    count *= sizes.size();
    if (count > maxVersions) {
      errors.push_back("--specialize: more than " + std::to_string(maxVersions) + " combinations of sizes");
      return false;
    }
  }
  if (options.specialize.empty())
    return true;
  versions = {SpecialSizes(symbols.size(), -1)};
  for (auto &[name, sizes] : options.specialize) {
    size_t position = llvm::find(symbols, name) - symbols.begin();
    for (const SpecialSizes &version : std::exchange(versions, {}))
      for (int64_t size : sizes) {
        versions.push_back(version);
        versions.back()[position] = size;
      }
  }
  return true;
}

SpecialSizes getSpecialSizes(ModuleOp module) {
  auto sizes = module->getAttrOfType<DenseI64ArrayAttr>(specialSizesAttrName);
  return sizes ? SpecialSizes(sizes.asArrayRef()) : SpecialSizes();
}

std::string describeSizes(ModuleOp module, const SpecialSizes &sizes) {
  std::vector<std::string> parts;
  for (auto [name, size] : llvm::zip(listSymbols(module), sizes))
    if (size >= 0)
      parts.push_back(name + "=" + std::to_string(size));
  return llvm::join(parts, " ");
}

/// Puts the sizes in place of the symbols in all types and maps.
static void replaceSymbols(ModuleOp module, const SpecialSizes &sizes) {
  SmallVector<AffineExpr> values;
  for (auto [i, size] : llvm::enumerate(sizes))
    values.push_back(size < 0 ? getAffineSymbolExpr(i, module.getContext()) : getAffineConstantExpr(size, module.getContext()));
  auto replaceAll = [&](ArrayRef<AffineExpr> exprs) {
    return llvm::map_to_vector(exprs, [&](AffineExpr expr) { return nn::simplifyDim(expr.replaceSymbols(values)); });
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<std::pair<Type, WalkResult>> {
    if (type.hasStaticShape())
      return std::nullopt;
    return std::make_pair(Type(nn::makeTensorType(replaceAll(nn::getDims(type)), type.getElementType())), WalkResult::skip());
  });
  replacer.addReplacement([&](AffineMapAttr attr) -> Attribute {
    AffineMap map = attr.getValue();
    return AffineMapAttr::get(AffineMap::get(map.getNumDims(), map.getNumSymbols(), replaceAll(map.getResults()), map.getContext()));
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

/// Takes out the constraints that always hold; false when one never does.
static bool settleConstraints(ModuleOp module) {
  auto attr = module->getAttrOfType<AffineMapAttr>(nn::constraintsAttrName);
  if (!attr)
    return true;
  SmallVector<AffineExpr> open;
  for (AffineExpr constraint : attr.getValue().getResults()) {
    auto value = nn::getConstantDim(constraint);
    if (value && *value != 0)
      return false;
    if (!value)
      open.push_back(constraint);
  }
  module->setAttr(nn::constraintsAttrName, AffineMapAttr::get(AffineMap::get(0, attr.getValue().getNumSymbols(), open, module.getContext())));
  if (open.empty())
    module->removeAttr(nn::constraintsAttrName);
  return true;
}

OwningOpRef<ModuleOp> makeVersion(ModuleOp module, const SpecialSizes &sizes, std::vector<std::string> &errors) {
  OwningOpRef<ModuleOp> version = cast<ModuleOp>(module->clone());
  replaceSymbols(*version, sizes);
  if (!settleConstraints(*version)) {
    errors.push_back("--specialize: the model cannot run with " + describeSizes(module, sizes) + ": its dimensions do not fit each other then");
    return {};
  }
  auto known = module->getAttrOfType<ArrayAttr>(nn::symbolBoundsAttrName);
  SmallVector<Attribute> bounds;
  for (unsigned i = 0; i < nn::ComputedDims(module).given(); ++i) {
    Attribute own = known && i < known.size() ? known[i] : DenseI64ArrayAttr::get(module.getContext(), {});
    bounds.push_back(sizes[i] < 0 ? own : DenseI64ArrayAttr::get(module.getContext(), {sizes[i], sizes[i]}));
  }
  (*version)->setAttr(nn::symbolBoundsAttrName, ArrayAttr::get(module.getContext(), bounds));
  (*version)->setAttr(specialSizesAttrName, DenseI64ArrayAttr::get(module.getContext(), sizes));
  return version;
}

} // namespace kiln
