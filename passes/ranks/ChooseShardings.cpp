//===- ChooseShardings.cpp - Which part of each tensor each rank has --------===//
//
// For one axis of the grid after the other, every operation gets the cheapest way to be cut along it, or none. The cost of a choice is what the ranks' parts
// of the work take, what it takes to exchange values that are cut in another way where they come from, and what it takes to combine the parts of sums.
//
// Operations are visited in their order. A state is a way to cut the values that later operations read, with the least cost of everything up to there; two
// states that cut these values in the same way need no more than the cheaper one. Few values live at any place of most networks, so this finds the best
// choice; where there are more, the `mostStates` cheapest states are kept. The body of a loop is searched by itself, with values that come and go whole.
//
// Weights have a price, so that a rank has about its part of them. Where it has more than `spareShare` beyond that, the search starts anew with a higher price.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/ranks/BodyLoops.h"
#include "passes/ranks/CutOptions.h"
#include "passes/ranks/DescribeSharding.h"
#include "passes/ranks/RecurrentGates.h"
#include "passes/ranks/ShardLoops.h"
#include "passes/ranks/SinkViews.h"
#include "passes/ranks/SplitProducts.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/ModelAttributeNames.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CHOOSESHARDINGS
#include "passes/Passes.h.inc"

using namespace nn;

namespace {

/// A way to cut the values that are live between two operations.
struct State {
  double seconds = 0;
  /// In the order of the live values.
  SmallVector<int8_t> cuts;
  /// The state before the operation, and the operation's option.
  int parent = -1, option = -1;
};

/// What a live value at `place` takes to be as an option wants it, for each way in which it may be cut, with `whole` first.
struct Change {
  unsigned place;
  SmallVector<double> seconds;
};

/// The choice along one axis, for the operations of a block that runs so many times.
class AxisChoice {
public:
  AxisChoice(Block &block, const AxisCuts &axis, double times) : block(block), axis(axis), times(times) {}

  /// Finds the option of each operation, also in the bodies of loops. Returns the seconds that they take.
  double run(ArrayRef<int> arguments, OptionMap &options);

private:
  bool livesOn(Value value, Operation *op) const;
  std::vector<Change> listChanges(Operation *op, const CutOption &option, const DenseMap<Value, unsigned> &places) const;
  void step(Operation *op, OptionMap &options);

  Block &block;
  const AxisCuts &axis;
  double times;
  std::vector<Value> live;
  std::vector<std::vector<State>> history;
  DenseMap<Operation *, std::vector<CutOption>> all;
};

/// States that are kept between two operations.
constexpr size_t mostStates = 512;

/// A rank may have so much of the weights beyond its equal part, and their price is doubled so often to have it so.
constexpr double spareShare = 0.05;
constexpr int mostPrices = 9;

} // namespace

//===- The search ------------------------------------------------------------===//

/// Whether an operation behind `op` reads the value. Constants need no place.
bool AxisChoice::livesOn(Value value, Operation *op) const {
  return !isAnyPart(value) && llvm::any_of(value.getUsers(), [&](Operation *user) { return op->isBeforeInBlock(user); });
}

std::vector<Change> AxisChoice::listChanges(Operation *op, const CutOption &option, const DenseMap<Value, unsigned> &places) const {
  std::vector<Change> changes;
  for (OpOperand &operand : op->getOpOperands())
    if (auto place = places.find(operand.get()); place != places.end()) {
      changes.push_back({place->second, {}});
      for (int from = whole; from < cast<RankedTensorType>(operand.get().getType()).getRank(); ++from)
        changes.back().seconds.push_back(times * axis.exchange(operand, from, option));
    }
  return changes;
}

void AxisChoice::step(Operation *op, OptionMap &chosen) {
  std::vector<CutOption> options = axis.listOptions(op).list;
  if (auto loop = dyn_cast<LoopOp>(op)) {
    double steps = estimateSize(loop.getStepCount(), op->getParentOfType<ModuleOp>());
    SmallVector<int> arguments(op->getNumOperands(), whole);
    options.front().seconds = AxisChoice(loop.getBody().front(), axis, times * steps).run(arguments, chosen) / times;
  }
  DenseMap<Value, unsigned> places;
  for (auto [i, value] : llvm::enumerate(live))
    places[value] = i;
  std::vector<Value> next;
  SmallVector<unsigned> kept, made;
  for (auto [i, value] : llvm::enumerate(live))
    if (livesOn(value, op)) {
      next.push_back(value);
      kept.push_back(i);
    }
  for (OpResult result : op->getResults())
    if (livesOn(result, op)) {
      next.push_back(result);
      made.push_back(result.getResultNumber());
    }
  llvm::StringMap<unsigned> known;
  std::vector<State> states;
  for (auto [number, option] : llvm::enumerate(options)) {
    double own = times * option.seconds + axis.keptSeconds(op, option);
    std::vector<Change> changes = listChanges(op, option, places);
    for (auto [index, state] : llvm::enumerate(history.back())) {
      State after = {state.seconds + own, {}, static_cast<int>(index), static_cast<int>(number)};
      for (const Change &change : changes)
        after.seconds += change.seconds[state.cuts[change.place] - whole];
      for (unsigned place : kept)
        after.cuts.push_back(state.cuts[place]);
      for (unsigned result : made)
        after.cuts.push_back(static_cast<int8_t>(option.results[result]));
      StringRef key(reinterpret_cast<const char *>(after.cuts.data()), after.cuts.size());
      auto [entry, isNew] = known.try_emplace(key, states.size());
      if (isNew)
        states.push_back(std::move(after));
      else if (after.seconds < states[entry->second].seconds)
        states[entry->second] = std::move(after);
    }
  }
  if (states.size() > mostStates) {
    // Equal costs keep their order, so that the same model gives the same choice.
    llvm::sort(states, [](const State &a, const State &b) { return std::tie(a.seconds, a.option, a.parent) < std::tie(b.seconds, b.option, b.parent); });
    states.resize(mostStates);
  }
  history.push_back(std::move(states));
  live = std::move(next);
  all[op] = std::move(options);
}

double AxisChoice::run(ArrayRef<int> arguments, OptionMap &options) {
  State first;
  for (auto [argument, cut] : llvm::zip_equal(block.getArguments(), arguments)) {
    live.push_back(argument);
    first.cuts.push_back(static_cast<int8_t>(cut));
  }
  history.push_back({first});
  SmallVector<Operation *> ops;
  for (Operation &op : block) {
    ops.push_back(&op);
    step(&op, options);
  }
  const std::vector<State> &last = history.back();
  auto best = llvm::min_element(last, [](const State &a, const State &b) { return a.seconds < b.seconds; });
  double seconds = best->seconds;
  int state = static_cast<int>(best - last.begin());
  for (size_t i = ops.size(); i-- > 0;) {
    const State &chosen = history[i + 1][state];
    CutOption &option = options[ops[i]] = all[ops[i]][chosen.option];
    seconds -= axis.keptSeconds(ops[i], option);
    state = chosen.parent;
  }
  return seconds;
}

//===- The pass --------------------------------------------------------------===//

namespace {

class ChooseShardings : public impl::ChooseShardingsBase<ChooseShardings> {
public:
  using ChooseShardingsBase::ChooseShardingsBase;
  void getDependentDialects(DialectRegistry &registry) const override { registerShardLoops(registry); }
  void runOnOperation() override;

private:
  ShardingChoice choose(func::FuncOp function, const Grid &grid, const RankWishes &wishes, const RankMachine &machine);
  ShardingChoice chooseForWeights(func::FuncOp function, const Grid &grid, const RankWishes &wishes, const RankMachine &machine);
};

} // namespace

/// Annotates the operations of a block, and of the bodies in it.
static void annotate(Block &block, const CutsSoFar &cuts) {
  SmallVector<Operation *> ops;
  // The uses are listed first: annotations are users, too.
  SmallVector<OpOperand *> operands;
  for (Operation &op : block) {
    ops.push_back(&op);
    for (OpOperand &operand : op.getOpOperands())
      operands.push_back(&operand);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  DenseMap<Value, Value> annotated;
  auto mark = [&](Value value) { annotated[value] = makeShard(builder, value, cuts.values.lookup(value), /*forUser=*/false); };
  for (BlockArgument argument : block.getArguments())
    mark(argument);
  for (Operation *op : ops) {
    if (auto loop = dyn_cast<LoopOp>(op))
      annotate(loop.getBody().front(), cuts);
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      mark(result);
  }
  for (OpOperand *operand : operands) {
    builder.setInsertionPoint(operand->getOwner());
    operand->set(makeShard(builder, annotated.at(operand->get()), cuts.uses.lookup(operand), /*forUser=*/true));
  }
}

ShardingChoice ChooseShardings::choose(func::FuncOp function, const Grid &grid, const RankWishes &wishes, const RankMachine &machine) {
  ShardingChoice choice;
  choice.cuts.add(function, grid);
  for (unsigned axis = 0; axis < grid.shape.size(); ++axis) {
    SmallVector<int> arguments;
    for (BlockArgument argument : function.getArguments())
      choice.cuts.values[argument][axis] = arguments.emplace_back(wishes.cutOfArgument(argument.getArgNumber(), axis));
    OptionMap &options = choice.axes.emplace_back();
    choice.seconds = AxisChoice(function.front(), AxisCuts(grid, axis, machine, wishes, choice.cuts), 1).run(arguments, options);
    choice.cuts.take(options, axis);
  }
  choice.countWeights(function, grid);
  return choice;
}

/// The choice whose weights are few enough, at the lowest price that gives one; or else one that has hardly more than the least.
ShardingChoice ChooseShardings::chooseForWeights(func::FuncOp function, const Grid &grid, const RankWishes &wishes, const RankMachine &machine) {
  std::vector<ShardingChoice> choices;
  double enough = 1.0 / static_cast<double>(grid.countRanks()) + spareShare, unbound = 0;
  RankMachine priced = machine;
  for (int i = 0; i < mostPrices; ++i, priced.secondsPerKeptByte *= 2) {
    ShardingChoice &choice = choices.emplace_back(choose(function, grid, wishes, priced));
    unbound = choices.front().seconds;
    if (choice.share() <= enough)
      break;
  }
  constexpr double hardly = 0.005;
  double least = llvm::min_element(choices, [](const ShardingChoice &a, const ShardingChoice &b) { return a.share() < b.share(); })->share();
  auto found = llvm::find_if(choices, [&](const ShardingChoice &choice) { return choice.share() <= std::max(enough, least + hardly); });
  found->unboundSeconds = unbound;
  found->mostShare = enough;
  return std::move(*found);
}

/// The columns of layers that are cut by units lie as the ranks need them.
static void orderAllGates(func::FuncOp function, const Grid &grid, const CutsSoFar &cuts) {
  function.walk([&](Operation *op) {
    if (std::optional<GatedLayer> layer = matchGatedLayer(op))
      for (auto [dim, parts] : llvm::zip(cuts.uses.find(&op->getOpOperand(Recurrence))->second, grid.shape))
        if (dim == unitDim)
          orderGates(*layer, parts);
  });
}

void ChooseShardings::runOnOperation() {
  ModuleOp module = getOperation();
  auto function = module.lookupSymbol<func::FuncOp>("main");
  std::optional<Grid> grid = parseGrid(gridText);
  if (!grid) {
    module.emitError() << "'" << gridText << "' is not a grid of up to " << maxRanks << " ranks and three axes, such as 4 or 2x4";
    return signalPassFailure();
  }
  function.walk([](CompositeOp composite) { joinConstants(composite); });
  splitProducts(function);
  sinkViews(function);
  FailureOr<RankWishes> wishes = RankWishes::read(function, *grid, wishList);
  if (failed(wishes))
    return signalPassFailure();
  RankMachine machine = RankMachine::of(kernel::getTarget(module));
  ShardingChoice choice = chooseForWeights(function, *grid, *wishes, machine);
  module->setAttr(shardingAttrName, describeSharding(function, *grid, machine, *wishes, choice));
  orderAllGates(function, *grid, choice.cuts);
  OpBuilder builder(function);
  shard::GridOp::create(builder, function.getLoc(), builder.getStringAttr(gridName), builder.getDenseI64ArrayAttr(grid->shape));
  annotate(function.front(), choice.cuts);
}

} // namespace kiln
