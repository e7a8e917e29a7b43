//===- DescribeSharding.cpp - How a model is cut, and what is not -----------===//
//
//   cuts:    {nodes = "second(MatMul)", cut = "the sum, whose parts all ranks combine", sent = 65536, weights = 4194304, kept = 2097152, ns = 65000,
//             other = "dimension 1 of the result", other_ns = 196000}
//   refused: {reason = "a dimension of 12 is not divisible by 8", operations = 24, weights = 0, nodes = ["softmax(Softmax)", ...]}
//
//===----------------------------------------------------------------------===//
#include "passes/ranks/DescribeSharding.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace kiln {

using namespace nn;

//===- Weights ---------------------------------------------------------------===//

static double shareOf(const Cut &cut, const Grid &grid) {
  double share = 1;
  for (auto [dim, parts] : llvm::zip(cut, grid.shape))
    share /= dim == whole ? 1.0 : static_cast<double>(parts);
  return share;
}

void ShardingChoice::countWeights(func::FuncOp function, const Grid &grid) {
  function.walk([&](ConstantOp constant) {
    if (constant->use_empty())
      return;
    double bytes = estimateBytes(constant);
    weights += bytes;
    std::vector<Cut> known;
    for (OpOperand &use : constant->getUses())
      if (const Cut &cut = cuts.uses.find(&use)->second; !llvm::is_contained(known, cut)) {
        known.push_back(cut);
        kept += bytes * shareOf(cut, grid);
      }
  });
}

//===- Texts -----------------------------------------------------------------===//

static std::string nameNodes(Operation *op) {
  llvm::SetVector<StringRef> names;
  op->getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().strref());
    return WalkResult::advance();
  });
  return names.empty() ? op->getName().getStringRef().str() : llvm::join(names, " ");
}

static bool isConstantUse(const OpOperand &operand) { return isa_and_nonnull<ConstantOp>(operand.get().getDefiningOp()); }

/// What only shows or joins other values, and what takes no time.
static bool isWork(Operation *op, const RankMachine &machine) {
  return !isa<IndexMap, ReshapeOp, LoopOp>(op) && !op->hasTrait<OpTrait::IsTerminator>() && estimateSeconds(op, machine) > 0;
}

static bool isUncut(const CutOption &option) {
  auto isWhole = [](int dim) { return dim == whole; };
  return llvm::all_of(option.operands, isWhole) && llvm::all_of(option.results, isWhole);
}

/// Whether an operand's cut makes parts of a sum.
static bool cutsSum(Operation *op, const CutOption &option) {
  auto interface = dyn_cast<shard::ShardingInterface>(op);
  if (!interface || interface.getLoopIteratorTypes().empty())
    return false;
  SmallVector<utils::IteratorType> types = interface.getLoopIteratorTypes();
  SmallVector<AffineMap> maps = interface.getIndexingMaps();
  for (auto [map, dim] : llvm::zip(maps, option.operands))
    if (dim != whole)
      if (auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim)); loop && types[loop.getPosition()] == utils::IteratorType::reduction)
        return true;
  return false;
}

static std::string describeCut(Operation *op, const CutOption &option) {
  int dim = option.results.empty() ? whole : option.results.front();
  if (cutsSum(op, option))
    return dim == whole ? "the sum, whose parts all ranks combine" : "the sum, of which each rank combines its part of dimension " + std::to_string(dim);
  for (auto [i, operand] : llvm::enumerate(option.operands))
    if (dim == whole && operand != whole)
      return "dimension " + std::to_string(operand) + " of operand " + std::to_string(i);
  return "dimension " + std::to_string(dim) + " of the result";
}

//===- What a cut costs ------------------------------------------------------===//

/// How a value is cut where it is made. What is had without work is whole.
static int findCut(const AxisCuts &axis, const OptionMap &chosen, Value value) {
  if (isAnyPart(value))
    return whole;
  if (auto result = dyn_cast<OpResult>(value))
    return chosen.find(result.getOwner())->second.results[result.getResultNumber()];
  auto argument = cast<BlockArgument>(value);
  return isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? axis.wishes.cutOfArgument(argument.getArgNumber(), axis.axis) : whole;
}

/// Seconds of an option among the options that other operations have.
static double costAmong(const AxisCuts &axis, const OptionMap &chosen, Operation *op, const CutOption &option) {
  double seconds = option.seconds;
  for (OpOperand &operand : op->getOpOperands())
    if (!isAnyPart(operand.get()))
      seconds += axis.exchange(operand, findCut(axis, chosen, operand.get()), option);
  for (auto [result, cut] : llvm::zip(op->getResults(), option.results))
    for (OpOperand &use : result.getUses())
      seconds += axis.exchange(result, cut, chosen.lookup(use.getOwner()).operands[use.getOperandNumber()]);
  return seconds;
}

namespace {

/// What the operations send along one axis, and the next best thing that they could do.
class AxisAccount {
public:
  AxisAccount(const AxisCuts &axis, const OptionMap &chosen) : axis(axis), chosen(chosen) {}

  /// Bytes that a rank sends for the operation. A part that several operations want is sent for the first one.
  double countSent(Operation *op);
  void compare(Operation *op, Builder &b, NamedAttrList &list) const;

private:
  const AxisCuts &axis;
  const OptionMap &chosen;
  llvm::DenseSet<std::pair<Value, int>> had;
};

} // namespace

double AxisAccount::countSent(Operation *op) {
  const CutOption &option = chosen.find(op)->second;
  double bytes = option.sentBytes;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    int from = findCut(axis, chosen, operand), cut = option.operands[i];
    if (from == whole)
      continue;
    if (i == 0)
      bytes += option.borderBytes;
    if (had.insert({operand, cut}).second)
      bytes += axis.sentFor(operand, from, cut);
  }
  return bytes;
}

/// The chosen option beside the best one of the others, the one that cuts nothing included.
void AxisAccount::compare(Operation *op, Builder &b, NamedAttrList &list) const {
  const CutOption &now = chosen.find(op)->second;
  CutOptions options = axis.listOptions(op);
  const CutOption *best = nullptr;
  double least = 0;
  for (const CutOption &option : options.list)
    if (option.operands != now.operands || option.results != now.results)
      if (double cost = costAmong(axis, chosen, op, option) + axis.keptSeconds(op, option); !best || cost < least) {
        best = &option;
        least = cost;
      }
  if (!best)
    return;
  auto set = [&](StringRef name, const CutOption &option) {
    list.set(name, b.getI64IntegerAttr(static_cast<int64_t>(costAmong(axis, chosen, op, option) * 1e9)));
  };
  list.set("other", b.getStringAttr(isUncut(*best) ? "none" : describeCut(op, *best)));
  set("other_ns", *best);
  set("ns", now);
}

//===- Refusals --------------------------------------------------------------===//

namespace {

/// What one reason keeps from being cut.
struct Refusal {
  int64_t operations = 0;
  double weights = 0;
  /// Of the operations as they are, and cut in the best way, with the exchange that goes with it.
  double seconds = 0, cutSeconds = 0;
  SmallVector<std::string> nodes;
};

/// The refusals along one axis.
class AxisRefusals {
public:
  AxisRefusals(const AxisCuts &axis, const OptionMap &chosen) : axis(axis), chosen(chosen) {}

  void look(Operation *op);

  /// By whether weights are kept whole, or operations, and by the reason.
  std::map<std::pair<bool, std::string>, Refusal> found;

private:
  void refuse(Operation *op, const CutOptions &options, std::optional<unsigned> weight);

  const AxisCuts &axis;
  const OptionMap &chosen;
};

} // namespace

/// Notes why an operation is computed whole by all ranks, or why it reads this weight whole.
void AxisRefusals::refuse(Operation *op, const CutOptions &options, std::optional<unsigned> weight) {
  const CutOption &now = chosen.find(op)->second;
  double best = -1, own = costAmong(axis, chosen, op, now);
  for (const CutOption &option : options.list)
    if (weight ? option.operands[*weight] != whole : !isUncut(option))
      if (double seconds = costAmong(axis, chosen, op, option); best < 0 || seconds < best)
        best = seconds;
  llvm::SetVector<StringRef> reasons;
  for (const RefusedCut &refused : options.refused)
    if (!weight || refused.operands[*weight])
      reasons.insert(refused.reason);
  std::string reason = best >= 0          ? "cutting would take longer"
                       : !reasons.empty() ? llvm::join(reasons, "; ")
                       : weight           ? "it has no dimension that could be cut with the operation"
                                          : "an operation " + op->getName().getStringRef().str() + " cannot be cut";
  Refusal &refusal = found[{weight.has_value(), reason}];
  ++refusal.operations;
  if (best >= 0) {
    refusal.seconds += own;
    refusal.cutSeconds += best;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (isConstantUse(operand) && (!weight || operand.getOperandNumber() == *weight))
      refusal.weights += estimateBytes(operand.get());
  constexpr size_t mostNodes = 3;
  if (refusal.nodes.size() < mostNodes)
    refusal.nodes.push_back(nameNodes(op));
}

void AxisRefusals::look(Operation *op) {
  const CutOption &now = chosen.find(op)->second;
  if (isWork(op, axis.machine) && isUncut(now))
    return refuse(op, axis.listOptions(op), std::nullopt);
  for (OpOperand &operand : op->getOpOperands())
    if (isConstantUse(operand) && now.operands[operand.getOperandNumber()] == whole && isWork(op, axis.machine))
      refuse(op, axis.listOptions(op), operand.getOperandNumber());
}

//===- The dictionary --------------------------------------------------------===//

static Attribute describe(Builder &b, bool ofWeights, StringRef reason, const Refusal &refusal, std::optional<unsigned> axis) {
  auto number = [&](double value) { return b.getI64IntegerAttr(static_cast<int64_t>(value)); };
  SmallVector<Attribute> nodes;
  for (StringRef node : refusal.nodes)
    nodes.push_back(b.getStringAttr(node));
  NamedAttrList list;
  list.set("of_weights", b.getBoolAttr(ofWeights));
  list.set("reason", b.getStringAttr(reason));
  list.set("operations", b.getI64IntegerAttr(refusal.operations));
  list.set("weights", number(refusal.weights));
  list.set("nodes", b.getArrayAttr(nodes));
  if (axis)
    list.set("axis", b.getI64IntegerAttr(*axis));
  if (refusal.cutSeconds > 0) {
    list.set("ns", number(refusal.seconds * 1e9));
    list.set("cut_ns", number(refusal.cutSeconds * 1e9));
  }
  return list.getDictionary(b.getContext());
}

/// What is done with an operation that gets values from other ranks or, if `listsAll`, that some axis cuts; nothing for others.
static Attribute describe(Builder &b, Operation *op, const ShardingChoice &choice, const Grid &grid, MutableArrayRef<AxisAccount> accounts,
                          bool listsAll) {
  SmallVector<std::string> texts;
  double sent = 0, weights = 0, kept = 0;
  for (auto [axis, options] : llvm::enumerate(choice.axes)) {
    sent += accounts[axis].countSent(op);
    if (const CutOption &option = options.find(op)->second; !isUncut(option) && !isa<func::ReturnOp>(op))
      texts.push_back(describeCut(op, option) + (grid.shape.size() > 1 ? " on axis " + std::to_string(axis) : ""));
  }
  if (sent == 0 && (texts.empty() || !listsAll))
    return {};
  for (OpOperand &operand : op->getOpOperands())
    if (isConstantUse(operand)) {
      weights += estimateBytes(operand.get());
      kept += estimateBytes(operand.get()) * shareOf(choice.cuts.uses.find(&operand)->second, grid);
    }
  NamedAttrList list;
  list.set("nodes", b.getStringAttr(isa<func::ReturnOp>(op) ? "outputs" : nameNodes(op)));
  list.set("cut", b.getStringAttr(texts.empty() ? "none" : llvm::join(texts, ", ")));
  list.set("sent", b.getI64IntegerAttr(static_cast<int64_t>(sent)));
  list.set("weights", b.getI64IntegerAttr(static_cast<int64_t>(weights)));
  list.set("kept", b.getI64IntegerAttr(static_cast<int64_t>(kept)));
  if (grid.shape.size() == 1 && !texts.empty())
    accounts.front().compare(op, b, list);
  return list.getDictionary(b.getContext());
}

DictionaryAttr describeSharding(func::FuncOp function, const Grid &grid, const RankMachine &machine, const RankWishes &wishes, const ShardingChoice &choice) {
  Builder b(function.getContext());
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (choice.axes.front().contains(op))
      ops.push_back(op);
  });
  // Axes see what those before them have cut.
  std::vector<CutsSoFar> before(choice.axes.size());
  std::vector<AxisCuts> axes;
  SmallVector<AxisAccount> accounts;
  axes.reserve(choice.axes.size());
  for (auto [i, options] : llvm::enumerate(choice.axes)) {
    before[i].add(function, grid);
    for (size_t earlier = 0; earlier < i; ++earlier)
      before[i].take(choice.axes[earlier], earlier);
    axes.emplace_back(grid, i, machine, wishes, before[i]);
    accounts.emplace_back(axes.back(), options);
  }
  SmallVector<Attribute> cuts, refused;
  int64_t sent = 0;
  for (Operation *op : ops)
    if (Attribute cut = describe(b, op, choice, grid, accounts, /*listsAll=*/isWork(op, machine) && !isa<ScalarBody>(op))) {
      sent += cast<DictionaryAttr>(cut).getAs<IntegerAttr>("sent").getInt();
      cuts.push_back(cut);
    }
  for (auto [i, options] : llvm::enumerate(choice.axes)) {
    AxisRefusals refusals(axes[i], options);
    for (Operation *op : ops)
      refusals.look(op);
    for (auto &[key, refusal] : refusals.found)
      refused.push_back(describe(b, key.first, key.second, refusal, grid.shape.size() > 1 ? std::optional<unsigned>(i) : std::nullopt));
  }
  NamedAttrList list;
  list.set("cuts", b.getArrayAttr(cuts));
  list.set("refused", b.getArrayAttr(refused));
  list.set("weights", b.getI64IntegerAttr(static_cast<int64_t>(choice.weights)));
  list.set("kept", b.getI64IntegerAttr(static_cast<int64_t>(choice.kept)));
  list.set("sent", b.getI64IntegerAttr(sent));
  list.set("most_share", b.getF64FloatAttr(choice.mostShare));
  // The axes of a grid are chosen one after the other, so there is no estimate of the whole.
  if (grid.shape.size() == 1) {
    list.set("ns", b.getI64IntegerAttr(static_cast<int64_t>(choice.seconds * 1e9)));
    list.set("unbound_ns", b.getI64IntegerAttr(static_cast<int64_t>(choice.unboundSeconds * 1e9)));
  }
  return list.getDictionary(b.getContext());
}

} // namespace kiln
