//===- SharedCode.cpp - Ranks with the same code ----------------------------===//
#include "compiler/pipeline/SharedCode.h"
#include "dialects/nn/ConstantPart.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"

using namespace mlir;

namespace kiln {

/// Whether the constants are equal, or the same parts of the same one.
static bool areAlike(ElementsAttr one, ElementsAttr other) {
  if (one == other)
    return true;
  std::shared_ptr<nn::ConstantPart> a = nn::findPart(one), b = nn::findPart(other);
  return a && b && a->getSource() == b->getSource() && a->getCut() == b->getCut() && one.getType() == other.getType();
}

/// The attributes that the code of an operation rests on.
static DictionaryAttr listCodeAttributes(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (nn::isCollective(op)) {
    ArrayRef<int32_t> ranks = nn::getCollectiveRanks(op);
    attributes.set("ranks", DenseI32ArrayAttr::get(op->getContext(), {static_cast<int32_t>(ranks.size()), ranks[1] - ranks[0]}));
    attributes.erase("index");
  }
  if (isa<nn::ConstantOp>(op))
    attributes.erase("value");
  return attributes.getDictionary(op->getContext());
}

bool haveSameCode(ModuleOp one, ModuleOp other) {
  SmallVector<Operation *> list, others;
  one.walk<WalkOrder::PreOrder>([&](Operation *op) { list.push_back(op); });
  other.walk<WalkOrder::PreOrder>([&](Operation *op) { others.push_back(op); });
  if (list.size() != others.size())
    return false;
  DenseMap<Value, Value> twins;
  auto pair = [&](ValueRange values, ValueRange theirs) {
    bool isSame = values.getTypes() == theirs.getTypes();
    for (auto [value, twin] : llvm::zip(values, theirs))
      twins[value] = twin;
    return isSame;
  };
  for (auto [op, twin] : llvm::zip(list, others)) {
    auto constant = dyn_cast<nn::ConstantOp>(op), theirs = dyn_cast<nn::ConstantOp>(twin);
    bool isSame = op->getName() == twin->getName() && listCodeAttributes(op) == listCodeAttributes(twin) && op->getNumRegions() == twin->getNumRegions() &&
                  llvm::equal(op->getOperands(), twin->getOperands(), [&](Value a, Value b) { return twins.lookup(a) == b; }) &&
                  (!constant || areAlike(constant.getValue(), theirs.getValue())) && pair(op->getResults(), twin->getResults());
    for (auto [region, their] : llvm::zip(op->getRegions(), twin->getRegions())) {
      isSame = isSame && region.getBlocks().size() == their.getBlocks().size();
      for (auto [block, theirBlock] : llvm::zip(region, their))
        isSame = isSame && pair(block.getArguments(), theirBlock.getArguments());
    }
    if (!isSame)
      return false;
  }
  return true;
}

} // namespace kiln
