//===- SymbolCounts.cpp - Groups that compute symbols, and who needs them ---===//
#include "passes/lowering/entry/SymbolCounts.h"
#include "dialects/nn/Constraints.h"
#include "passes/target/choice/KernelTable.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace kiln {

using namespace nn;

std::optional<SymbolCount> getSymbolCount(GroupOp group) {
  auto sized = dyn_cast_or_null<DataSized>(getAnchor(group));
  if (!sized)
    return std::nullopt;
  // A group yields all results of an anchor with several.
  for (auto [i, value] : llvm::enumerate(group.getTerminator()->getOperands()))
    if (value == sized.getCountResult())
      return SymbolCount{sized.getCountedSymbol(), group.getResult(i)};
  return std::nullopt;
}

SmallVector<unsigned> getComputedSymbols(Operation *op, const ComputedDims &dims) {
  SmallVector<unsigned> symbols;
  if (dims.empty())
    return symbols;
  auto collect = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      dims.collect(expr, symbols);
  };
  AttrTypeWalker walker;
  walker.addWalk([&](DimsAttr attr) { collect(attr.getMap()); });
  walker.addWalk([&](AffineMapAttr attr) { collect(attr.getValue()); });
  op->walk([&](Operation *part) {
    if (isa<ConstantOp>(part))
      return;
    walker.walk(part->getAttrDictionary());
    for (Type type : part->getOperandTypes())
      walker.walk(type);
    for (Type type : part->getResultTypes())
      walker.walk(type);
  });
  return symbols;
}

SymbolCounts::SymbolCounts(Block &block) : dims(block.getParentOp()->getParentOfType<ModuleOp>()) {
  for (auto group : block.getOps<GroupOp>())
    if (auto count = getSymbolCount(group))
      counts[count->symbol] = count->count;
  for (const Constraint &constraint : getConstraints(block.getParentOp()->getParentOfType<ModuleOp>()))
    dims.collect(constraint.mustBeZero, checked);
}

bool SymbolCounts::isChecked(Operation *op) const {
  auto group = dyn_cast<GroupOp>(op);
  std::optional<SymbolCount> count = group ? getSymbolCount(group) : std::nullopt;
  return count && llvm::is_contained(checked, count->symbol);
}

SmallVector<Value> SymbolCounts::getCounts(Operation *op) const {
  SmallVector<Value> needed;
  if (counts.empty())
    return needed;
  for (unsigned symbol : getComputedSymbols(op, dims))
    if (Value count = counts.lookup(symbol); count && count.getDefiningOp() != op)
      needed.push_back(count);
  return needed;
}

bool SymbolCounts::sort(Block &block) const {
  llvm::DenseMap<Operation *, bool> placed;
  SmallVector<Operation *> order;
  std::function<bool(Operation *)> place = [&](Operation *op) {
    if (auto [it, isNew] = placed.try_emplace(op, false); !isNew)
      return it->second;
    SmallVector<Value> needs(op->getOperands());
    llvm::append_range(needs, getCounts(op));
    for (Value value : needs)
      if (Operation *def = value.getDefiningOp(); def && !place(def))
        return false;
    order.push_back(op);
    return placed[op] = true;
  };
  for (Operation &op : block.without_terminator())
    if (!place(&op))
      return false;
  for (Operation *op : order)
    op->moveBefore(block.getTerminator());
  return true;
}

} // namespace kiln
