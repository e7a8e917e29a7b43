//===- ChooseShardings.cpp - Which part of each tensor each rank has --------===//
//
// For one axis of the grid after the other, every operation gets the cheapest way to be cut along it, or none. The cost of a choice is what the ranks' parts
// of the work take, what it takes to exchange values that are cut in another way where they come from, and what it takes to combine the parts of sums.
//
// Operations are visited in their order. A state is a way to cut the values that later operations read, with the least cost of everything up to there; two
// states that cut these values in the same way need no more than the cheaper one. Few values live at any place of most networks, so this finds the best
// choice; where there are more, the `mostStates` cheapest states are kept.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/ranks/Costs.h"
#include "passes/ranks/Layouts.h"
#include "passes/ranks/ShardLoops.h"
#include "passes/ranks/SinkViews.h"
#include "passes/ranks/SplitProducts.h"
#include "passes/ranks/Windows.h"
#include "passes/ranks/Wishes.h"
#include "dialects/nn/Dims.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CHOOSESHARDINGS
#include "passes/Passes.h.inc"

using namespace nn;

namespace {

/// A way to cut one operation along one axis: the dimension of each operand and result, or `whole`.
struct CutOption {
  SmallVector<int> operands, results;
  /// Of the operation, and of combining its results.
  double seconds = 0;
};

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

/// The choice along one axis.
class AxisChoice {
public:
  AxisChoice(func::FuncOp function, const Grid &grid, unsigned axis, const RankMachine &machine, const RankWishes &wishes,
             const DenseMap<Value, Cut> &values, const DenseMap<OpOperand *, Cut> &uses)
      : function(function), grid(grid), axis(axis), parts(grid.shape[axis]), machine(machine), wishes(wishes), values(values), uses(uses) {}

  /// The chosen option of each operation, and how each argument is cut.
  void run(DenseMap<Operation *, CutOption> &options, SmallVectorImpl<int> &arguments);

private:
  std::vector<CutOption> listOptions(Operation *op);
  void addLoopOptions(Operation *op, std::vector<CutOption> &options);
  void addReshapeOptions(Operation *op, std::vector<CutOption> &options);
  void addWindowOptions(Operation *op, std::vector<CutOption> &options);
  /// A value of this type, cut so far as `cut` says, can be cut at `dim` in equal parts.
  bool splits(Value value, const Cut &cut, int dim) const {
    int64_t size = sizeOfPart(cast<RankedTensorType>(value.getType()), dim, cut, grid, axis);
    return size > 0 && size % parts == 0;
  }
  /// Seconds to have a value as `to` says.
  double exchange(Value value, int from, int to) const;
  bool livesOn(Value value, Operation *op) const;
  double ownSeconds(Operation *op, const CutOption &option) const;
  std::vector<Change> listChanges(Operation *op, const CutOption &option, const DenseMap<Value, unsigned> &places) const;
  void step(Operation *op);
  void beginArguments();

  func::FuncOp function;
  const Grid &grid;
  unsigned axis;
  int64_t parts;
  const RankMachine &machine;
  const RankWishes &wishes;
  /// What the axes before this one have cut.
  const DenseMap<Value, Cut> &values;
  const DenseMap<OpOperand *, Cut> &uses;
  std::vector<Value> live;
  std::vector<std::vector<State>> history;
  DenseMap<Operation *, std::vector<CutOption>> all;
};

/// States that are kept between two operations.
constexpr size_t mostStates = 512;

} // namespace

//===- Options ---------------------------------------------------------------===//

static shard::ReductionKind kindOf(shard::ShardingInterface op, unsigned loop) {
  unsigned reductions = llvm::count(ArrayRef(op.getLoopIteratorTypes()).take_front(loop), utils::IteratorType::reduction);
  return op.getReductionLoopIteratorKinds()[reductions];
}

void AxisChoice::addLoopOptions(Operation *op, std::vector<CutOption> &options) {
  auto interface = dyn_cast<shard::ShardingInterface>(op);
  if (!interface)
    return;
  SmallVector<utils::IteratorType> types = interface.getLoopIteratorTypes();
  SmallVector<AffineMap> maps = interface.getIndexingMaps();
  double seconds = options.front().seconds;
  for (unsigned loop = 0; loop < types.size(); ++loop) {
    CutOption option;
    bool fits = true, cuts = false;
    auto find = [&](Value value, const Cut &cut, AffineMap map) {
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (auto position = dyn_cast<AffineDimExpr>(expr); position && position.getPosition() == loop) {
          cuts = true;
          fits = fits && splits(value, cut, static_cast<int>(dim));
          return static_cast<int>(dim);
        }
      return whole;
    };
    for (OpOperand &operand : op->getOpOperands())
      option.operands.push_back(find(operand.get(), uses.lookup(&operand), maps[operand.getOperandNumber()]));
    for (OpResult result : op->getResults())
      option.results.push_back(find(result, values.lookup(result), maps[op->getNumOperands() + result.getResultNumber()]));
    if (!fits || !cuts)
      continue;
    option.seconds = seconds / static_cast<double>(parts);
    if (types[loop] == utils::IteratorType::parallel) {
      options.push_back(std::move(option));
      continue;
    }
    // Parts of 16 bits would be rounded before they are added.
    if (auto halves = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())); halves && halves.getWidth() < 32)
      continue;
    // The parts of a sum: every rank has the whole sum afterwards, or the slice of it that it goes on with.
    Value result = op->getResult(0);
    double bytes = estimateBytes(result), partial = option.seconds;
    option.seconds = partial + machine.allReduce(bytes, parts);
    options.push_back(option);
    if (kindOf(interface, loop) != shard::ReductionKind::Sum)
      continue;
    option.seconds = partial + machine.reduceScatter(bytes, parts);
    for (int dim = 0; dim < cast<RankedTensorType>(result.getType()).getRank(); ++dim)
      if (splits(result, values.lookup(result), dim)) {
        option.results[0] = dim;
        options.push_back(option);
      }
  }
}

void AxisChoice::addReshapeOptions(Operation *op, std::vector<CutOption> &options) {
  OpOperand &operand = op->getOpOperand(0);
  auto sizes = [&](Value value, const Cut &cut) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> list;
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      list.push_back(sizeOfPart(type, dim, cut, grid, axis));
    return list;
  };
  OpResult result = op->getResult(0);
  for (auto [from, to] : matchReshapedDims(op, sizes(operand.get(), uses.lookup(&operand)), sizes(result, values.lookup(result)), parts))
    options.push_back({{static_cast<int>(from)}, {static_cast<int>(to)}, 0});
}

/// Images in strips. A strip needs rows of its neighbours'.
void AxisChoice::addWindowOptions(Operation *op, std::vector<CutOption> &options) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType()), result = cast<RankedTensorType>(op->getResult(0).getType());
  const Cut &used = uses.find(&op->getOpOperand(0))->second, &made = values.find(op->getResult(0))->second;
  // One axis cuts the images: the rows at the corners of a grid would come from a third rank.
  for (unsigned earlier = 0; earlier < axis; ++earlier)
    if (used[earlier] != whole && findWindowCut(op, used[earlier], type.getDimSize(used[earlier]), result.getDimSize(used[earlier]), grid.shape[earlier]))
      return;
  for (unsigned dim = 1; dim < static_cast<unsigned>(type.getRank()); ++dim) {
    int64_t size = sizeOfPart(type, dim, used, grid, axis);
    auto cut = findWindowCut(op, dim, size, sizeOfPart(result, dim, made, grid, axis), parts);
    if (!cut)
      continue;
    CutOption option = options.front();
    option.operands[0] = option.results[0] = static_cast<int>(dim);
    double rowBytes = estimateBytes(op->getOperand(0)) / static_cast<double>(type.getDimSize(dim));
    option.seconds /= static_cast<double>(parts);
    for (int64_t rows : {cut->before, cut->after})
      option.seconds += rows ? machine.latency + static_cast<double>(rows) * rowBytes / machine.networkBytesPerSecond : 0;
    options.push_back(option);
  }
}

std::vector<CutOption> AxisChoice::listOptions(Operation *op) {
  CutOption same;
  same.operands.assign(op->getNumOperands(), whole);
  same.results.assign(op->getNumResults(), whole);
  same.seconds = estimateSeconds(op, machine);
  if (isa<func::ReturnOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      same.operands[operand.getOperandNumber()] = wishes.cutOfResult(operand.getOperandNumber(), axis);
    return {same};
  }
  std::vector<CutOption> options = {same};
  isa<ReshapeOp>(op) ? addReshapeOptions(op, options) : addLoopOptions(op, options);
  if (isa<Windowed>(op))
    addWindowOptions(op, options);
  // Where a wish cannot be kept by the operation itself, its result is cut behind it.
  if (llvm::any_of(options, [&](const CutOption &option) { return wishes.allow(op, axis, option.results); }))
    llvm::erase_if(options, [&](const CutOption &option) { return !wishes.allow(op, axis, option.results); });
  return options;
}

//===- The search ------------------------------------------------------------===//

double AxisChoice::exchange(Value value, int from, int to) const {
  if (from == to)
    return 0;
  double bytes = estimateBytes(value);
  if (from == whole)
    return bytes / static_cast<double>(parts) / machine.bytesPerSecond;
  return to == whole ? machine.allGather(bytes, parts) : machine.allToAll(bytes, parts);
}

/// A value of which each rank can have any part without work.
static bool isConstant(Value value) { return isa_and_nonnull<ConstantOp, SplatOp, IotaOp>(value.getDefiningOp()); }

void AxisChoice::beginArguments() {
  State first;
  for (BlockArgument argument : function.getArguments()) {
    live.push_back(argument);
    first.cuts.push_back(static_cast<int8_t>(wishes.cutOfArgument(argument.getArgNumber(), axis)));
  }
  history.push_back({first});
}

/// Whether an operation behind `op` reads the value. Constants need no place.
bool AxisChoice::livesOn(Value value, Operation *op) const {
  return !isConstant(value) && llvm::any_of(value.getUsers(), [&](Operation *user) {
    return op->isBeforeInBlock(function->getRegion(0).front().findAncestorOpInBlock(*user));
  });
}

/// What an option costs in any state.
double AxisChoice::ownSeconds(Operation *op, const CutOption &option) const {
  double seconds = option.seconds;
  for (auto [operand, cut] : llvm::zip(op->getOperands(), option.operands))
    if (isa_and_nonnull<ConstantOp>(operand.getDefiningOp()))
      seconds += estimateBytes(operand) / static_cast<double>(cut == whole ? 1 : parts) * machine.secondsPerKeptByte;
  return seconds;
}

std::vector<Change> AxisChoice::listChanges(Operation *op, const CutOption &option, const DenseMap<Value, unsigned> &places) const {
  std::vector<Change> changes;
  for (auto [operand, cut] : llvm::zip(op->getOperands(), option.operands))
    if (auto place = places.find(operand); place != places.end()) {
      changes.push_back({place->second, {}});
      for (int from = whole; from < cast<RankedTensorType>(operand.getType()).getRank(); ++from)
        changes.back().seconds.push_back(exchange(operand, from, cut));
    }
  return changes;
}

void AxisChoice::step(Operation *op) {
  std::vector<CutOption> options = listOptions(op);
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
    double own = ownSeconds(op, option);
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

void AxisChoice::run(DenseMap<Operation *, CutOption> &options, SmallVectorImpl<int> &arguments) {
  beginArguments();
  SmallVector<Operation *> ops;
  for (Operation &op : function.front()) {
    ops.push_back(&op);
    step(&op);
  }
  const std::vector<State> &last = history.back();
  auto best = llvm::min_element(last, [](const State &a, const State &b) { return a.seconds < b.seconds; });
  int state = static_cast<int>(best - last.begin());
  for (size_t i = ops.size(); i-- > 0;) {
    const State &chosen = history[i + 1][state];
    options[ops[i]] = all[ops[i]][chosen.option];
    state = chosen.parent;
  }
  for (int8_t cut : history.front().front().cuts)
    arguments.push_back(cut);
}

//===- The pass --------------------------------------------------------------===//

namespace {

class ChooseShardings : public impl::ChooseShardingsBase<ChooseShardings> {
public:
  using ChooseShardingsBase::ChooseShardingsBase;
  void getDependentDialects(DialectRegistry &registry) const override { registerShardLoops(registry); }
  void runOnOperation() override;

private:
  void annotate(func::FuncOp function, const Grid &grid, const DenseMap<Value, Cut> &values, const DenseMap<OpOperand *, Cut> &uses);
};

} // namespace

void ChooseShardings::annotate(func::FuncOp function, const Grid &grid, const DenseMap<Value, Cut> &values, const DenseMap<OpOperand *, Cut> &uses) {
  OpBuilder builder(function->getParentOp());
  builder.setInsertionPoint(function);
  shard::GridOp::create(builder, function.getLoc(), builder.getStringAttr(gridName), builder.getDenseI64ArrayAttr(grid.shape));
  // The uses are listed first: annotations are users, too.
  SmallVector<OpOperand *> operands;
  for (Operation &op : function.front())
    for (OpOperand &operand : op.getOpOperands())
      operands.push_back(&operand);
  DenseMap<Value, Value> annotated;
  auto mark = [&](Value value) { annotated[value] = makeShard(builder, value, values.lookup(value), /*forUser=*/false); };
  builder.setInsertionPointToStart(&function.front());
  for (BlockArgument argument : function.getArguments())
    mark(argument);
  SmallVector<Operation *> ops;
  for (Operation &op : function.front())
    if (!isa<shard::ShardOp, shard::ShardingOp>(op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      mark(result);
  }
  for (OpOperand *operand : operands) {
    builder.setInsertionPoint(operand->getOwner());
    operand->set(makeShard(builder, annotated.at(operand->get()), uses.lookup(operand), /*forUser=*/true));
  }
}

void ChooseShardings::runOnOperation() {
  ModuleOp module = getOperation();
  auto function = module.lookupSymbol<func::FuncOp>("main");
  std::optional<Grid> grid = parseGrid(gridText);
  if (!grid) {
    module.emitError() << "'" << gridText << "' is not a grid of up to " << maxRanks << " ranks and three axes, such as 4 or 2x4";
    return signalPassFailure();
  }
  splitProducts(function);
  sinkViews(function);
  FailureOr<RankWishes> wishes = RankWishes::read(function, *grid, wishList);
  if (failed(wishes))
    return signalPassFailure();
  RankMachine machine = RankMachine::of(kernel::getTarget(module));
  DenseMap<Value, Cut> values;
  DenseMap<OpOperand *, Cut> uses;
  for (BlockArgument argument : function.getArguments())
    values[argument] = Cut(grid->shape.size(), whole);
  for (Operation &op : function.front()) {
    for (Value result : op.getResults())
      values[result] = Cut(grid->shape.size(), whole);
    for (OpOperand &operand : op.getOpOperands())
      uses[&operand] = Cut(grid->shape.size(), whole);
  }
  for (unsigned axis = 0; axis < grid->shape.size(); ++axis) {
    DenseMap<Operation *, CutOption> options;
    SmallVector<int> arguments;
    AxisChoice(function, *grid, axis, machine, *wishes, values, uses).run(options, arguments);
    for (auto [argument, cut] : llvm::zip(function.getArguments(), arguments))
      values[argument][axis] = cut;
    for (Operation &op : function.front()) {
      const CutOption &option = options[&op];
      for (auto [result, cut] : llvm::zip(op.getResults(), option.results))
        values[result][axis] = cut;
      for (auto [operand, cut] : llvm::zip(op.getOpOperands(), option.operands))
        uses[&operand][axis] = cut;
    }
  }
  annotate(function, *grid, values, uses);
}

} // namespace kiln
