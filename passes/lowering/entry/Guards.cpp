//===- Guards.cpp - What runs only under a condition -----------------------===//
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"
#include "passes/lowering/entry/Guards.h"
#include "passes/target/groups/Views.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// With more ways than this to be needed, an operation runs whenever what all of them have in common holds.
static constexpr size_t mostPaths = 8;

static bool contains(const Path &path, const Literal &literal) { return llvm::is_contained(path, literal); }

/// Whether `path` is true whenever `other` is.
static bool covers(const Path &path, const Path &other) {
  return llvm::all_of(path, [&](const Literal &literal) { return contains(other, literal); });
}

/// The literal of `path` whose opposite is the one difference of `other`.
static const Literal *findOpposite(const Path &path, const Path &other) {
  const Literal *opposite = nullptr;
  if (path.size() != other.size())
    return nullptr;
  for (const Literal &literal : path) {
    if (contains(other, literal))
      continue;
    if (opposite || !contains(other, {literal.condition, !literal.holds}))
      return nullptr;
    opposite = &literal;
  }
  return opposite;
}

void Guards::add(Guard &guard, Path path) {
  if (llvm::any_of(guard, [&](const Path &known) { return covers(known, path); }))
    return;
  for (Path &known : guard)
    if (const Literal *opposite = findOpposite(known, path)) {
      Path common = known;
      llvm::erase(common, *opposite);
      guard.erase(&known);
      return add(guard, common);
    }
  llvm::erase_if(guard, [&](const Path &known) { return covers(path, known); });
  guard.push_back(path);
  if (guard.size() <= mostPaths)
    return;
  Path common = guard.front();
  llvm::erase_if(common, [&](const Literal &literal) { return !llvm::all_of(guard, [&](const Path &one) { return contains(one, literal); }); });
  guard.assign(1, common);
}

void Guards::require(Value value, const Guard &guard, Value condition, bool holds) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  Guard &need = needs[op];
  for (Path path : guard) {
    if (condition && contains(path, {condition, !holds}))
      continue;
    if (condition && !contains(path, {condition, holds}))
      path.push_back({condition, holds});
    llvm::erase_if(path, [&](const Literal &literal) { return barred.contains({op, literal.condition}); });
    add(need, path);
  }
}

/// Operands, and counts that shapes need.
SmallVector<Value> Guards::getNeeds(Operation *op) const {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, counts->getCounts(op));
  return values;
}

bool Guards::schedule(Operation *op) {
  if (auto [it, isNew] = placed.try_emplace(op, false); !isNew)
    return it->second;
  auto place = [&](Value value) { return !value.getDefiningOp() || schedule(value.getDefiningOp()); };
  // The condition first: it may decide whether the rest is needed.
  for (const Path &path : isa<GroupOp, LoopOp>(op) ? needs[op] : Guard())
    for (const Literal &literal : path)
      if (!place(literal.condition)) {
        cyclic = cyclic ? cyclic : std::pair(op, literal.condition);
        return false;
      }
  if (!llvm::all_of(getNeeds(op), place))
    return false;
  order.push_back(op);
  return placed[op] = true;
}

void Guards::orderLiterals() {
  llvm::DenseMap<Operation *, size_t> positions;
  for (auto [i, op] : llvm::enumerate(order))
    positions[op] = i + 1;
  for (auto &[op, guard] : needs)
    for (Path &path : guard) {
      SmallVector<std::pair<size_t, size_t>> places;
      for (auto [i, literal] : llvm::enumerate(path))
        places.push_back({positions.lookup(literal.condition.getDefiningOp()), i});
      llvm::sort(places);
      path = llvm::map_to_vector<2>(places, [&](auto place) { return path[place.second]; });
    }
}

void Guards::computeNeeds(Block &block) {
  needs.clear();
  for (Operation &op : block)
    needs[&op];
  // Other ranks wait for a collective, whatever becomes of its result here.
  for (Operation &op : block)
    if (getCollectiveNumber(&op))
      needs[&op] = {Path()};
  // A run checks what constraints say of a count, whatever else needs it.
  for (Operation &op : block)
    if (counts->isChecked(&op))
      needs[&op] = {Path()};
  needs[block.getTerminator()] = {Path()};
  for (Operation &op : llvm::reverse(block)) {
    Guard guard = needs[&op];
    auto choose = dyn_cast<ChooseOp>(op);
    for (Value operand : choose ? counts->getCounts(&op) : getNeeds(&op))
      require(operand, guard);
    if (!choose)
      continue;
    Value condition = seeThroughReshapes(choose.getCondition());
    require(choose.getCondition(), guard);
    require(choose.getThen(), guard, condition, true);
    require(choose.getOtherwise(), guard, condition, false);
  }
}

/// What is needed under a condition is placed by the one that needs it, so that branches are in one piece.
bool Guards::scheduleAll(Block &block) {
  placed.clear();
  order.clear();
  cyclic.reset();
  const Guard always = {Path()};
  // A run checks constraints before anything that may rely on them.
  for (Operation &op : block.without_terminator())
    if (counts->isChecked(&op) && !schedule(&op))
      return false;
  for (bool isAlways : {true, false})
    for (Operation &op : block.without_terminator())
      if ((!isAlways || needs[&op] == always) && !schedule(&op))
        return false;
  return true;
}

LogicalResult Guards::compute(Block &block) {
  Operation *terminator = block.getTerminator();
  counts.emplace(block);
  if (!counts->empty() && !counts->sort(block))
    return terminator->emitOpError("internal error: a size is needed before it is computed");
  computeNeeds(block);
  if (block.getOps<ChooseOp>().empty())
    return success();
  while (!scheduleAll(block)) {
    if (!cyclic || !barred.insert(*cyclic).second)
      return terminator->emitOpError("internal error: needs itself by way of a condition");
    computeNeeds(block);
  }
  for (Operation *op : order)
    op->moveBefore(terminator);
  orderCollectives(block);
  orderLiterals();
  return success();
}

} // namespace kiln
