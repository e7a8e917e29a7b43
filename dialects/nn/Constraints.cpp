//===- Constraints.cpp - What a run checks of its dimensions ----------------===//
#include "dialects/nn/Constraints.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/SymbolAttributeNames.h"

using namespace mlir;

namespace kiln::nn {

/// Text `i` of a list of the module; empty if there is none.
static std::string textOf(ArrayAttr list, size_t i) {
  auto text = list && i < list.size() ? dyn_cast<StringAttr>(list[i]) : StringAttr();
  return text ? text.str() : "";
}

std::vector<Constraint> getConstraints(ModuleOp module) {
  std::vector<Constraint> constraints;
  auto map = module->getAttrOfType<AffineMapAttr>(constraintsAttrName);
  auto nodes = module->getAttrOfType<ArrayAttr>(constraintNodesAttrName);
  for (auto [i, expr] : llvm::enumerate(map ? map.getValue().getResults() : ArrayRef<AffineExpr>()))
    constraints.push_back({expr, textOf(nodes, i)});
  return constraints;
}

void setConstraints(ModuleOp module, ArrayRef<Constraint> constraints) {
  module->removeAttr(constraintsAttrName);
  module->removeAttr(constraintNodesAttrName);
  if (constraints.empty())
    return;
  auto symbols = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
  SmallVector<AffineExpr> exprs;
  SmallVector<StringRef> nodes;
  for (const Constraint &constraint : constraints) {
    exprs.push_back(constraint.mustBeZero);
    nodes.push_back(constraint.node);
  }
  Builder b(module.getContext());
  module->setAttr(constraintsAttrName, AffineMapAttr::get(AffineMap::get(0, symbols ? symbols.size() : 0, exprs, module.getContext())));
  if (llvm::any_of(nodes, [](StringRef node) { return !node.empty(); }))
    module->setAttr(constraintNodesAttrName, b.getStrArrayAttr(nodes));
}

AffineExpr matchNotNegative(AffineExpr mustBeZero) {
  auto division = dyn_cast<AffineBinaryOpExpr>(mustBeZero);
  // Upstream divides what is below and above by what both have in common.
  bool isHuge = division && mustBeZero.getKind() == AffineExprKind::FloorDiv && getConstantDim(division.getRHS()).value_or(0) >= int64_t(1) << 33;
  return isHuge && !matchSign(mustBeZero) ? division.getLHS() : AffineExpr();
}

AffineExpr makeNotNegative(AffineExpr number) { return number.floorDiv(int64_t(1) << 40); }

std::vector<std::pair<std::string, std::string>> getMetadata(ModuleOp module) {
  std::vector<std::pair<std::string, std::string>> metadata;
  auto list = module->getAttrOfType<ArrayAttr>(metadataAttrName);
  for (size_t i = 0; list && i + 1 < list.size(); i += 2)
    metadata.push_back({textOf(list, i), textOf(list, i + 1)});
  return metadata;
}

void removeMetadata(ModuleOp module, StringRef prefix) {
  std::vector<std::pair<std::string, std::string>> metadata = getMetadata(module);
  llvm::erase_if(metadata, [&](const auto &entry) { return StringRef(entry.first).starts_with(prefix); });
  module->removeAttr(metadataAttrName);
  setMetadata(module, metadata);
}

void setMetadata(ModuleOp module, ArrayRef<std::pair<std::string, std::string>> metadata) {
  SmallVector<StringRef> texts;
  for (auto &[key, value] : metadata)
    texts.append({key, value});
  if (!texts.empty())
    module->setAttr(metadataAttrName, Builder(module.getContext()).getStrArrayAttr(texts));
}

} // namespace kiln::nn
