//===- SpecializeSizes.cpp - A version of a model for listed sizes ---------===//
//
//   nn.symbols = ["seq"], tensor<?x8xf32, #nn.dims<()[s0] -> (s0, 8)>>
// becomes, for seq=128,
//   nn.symbols = ["seq"], nn.symbol_bounds = [[128, 128]], nn.special_sizes = [128], tensor<128x8xf32>
//
// The symbols stay, so that all versions have the arguments that programs pass; nothing but the entry's check mentions them.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/SpecializeSizes.h"
#include "dialects/kernel/Refusal.h"
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/Constraints.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/SymbolAttributeNames.h"
#include "dialects/nn/SymbolBounds.h"
#include "passes/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_SPECIALIZESIZES
#include "passes/Passes.h.inc"

std::string describeSizes(ModuleOp module, ArrayRef<int64_t> sizes) {
  std::vector<std::string> parts;
  for (auto [name, size] : llvm::zip(nn::listSymbols(module), sizes))
    if (size >= 0)
      parts.push_back(name + "=" + std::to_string(size));
  return llvm::join(parts, " ");
}

/// Puts the sizes in place of the symbols in all types and maps.
static void replaceSymbols(ModuleOp module, ArrayRef<int64_t> sizes) {
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

/// Removes the constraints that always hold. Returns false if one never holds.
static bool settleConstraints(ModuleOp module) {
  std::vector<nn::Constraint> open;
  for (const nn::Constraint &constraint : nn::getConstraints(module)) {
    auto value = nn::getConstantDim(constraint.mustBeZero);
    if (value && *value != 0)
      return false;
    if (!value)
      open.push_back(constraint);
  }
  nn::setConstraints(module, open);
  return true;
}

namespace {
struct SpecializeSizes : impl::SpecializeSizesBase<SpecializeSizes> {
  using SpecializeSizesBase::SpecializeSizesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<int64_t> chosen(sizes.begin(), sizes.end());
    unsigned given = nn::ComputedDims(module).given();
    if (size_t symbols = nn::listSymbols(module).size(); chosen.size() != symbols) {
      kernel::emitRefusal(module) << "expected a size for each of the " << symbols << " symbols, got " << chosen.size();
      return signalPassFailure();
    }
    std::string description = describeSizes(module, chosen);
    replaceSymbols(module, chosen);
    if (!settleConstraints(module)) {
      kernel::emitRefusal(UnknownLoc::get(&getContext()))
          << "--specialize: the model cannot run with " << description << ": its dimensions do not fit each other then";
      return signalPassFailure();
    }
    Builder b(&getContext());
    auto known = module->getAttrOfType<ArrayAttr>(nn::symbolBoundsAttrName);
    SmallVector<Attribute> bounds;
    for (unsigned i = 0; i < given; ++i) {
      Attribute own = known && i < known.size() ? known[i] : b.getDenseI64ArrayAttr({});
      bounds.push_back(chosen[i] < 0 ? own : b.getDenseI64ArrayAttr({chosen[i], chosen[i]}));
    }
    module->setAttr(nn::symbolBoundsAttrName, b.getArrayAttr(bounds));
    module->setAttr(nn::specialSizesAttrName, b.getDenseI64ArrayAttr(chosen));
  }
};
} // namespace

} // namespace kiln
