//===- PartitionRanks.cpp - The module of one rank --------------------------===//
//
// The shard dialect has a pass of this kind. It drops the encoding of tensor types, where this compiler has the symbolic dimensions; it makes one module
// for all ranks, with operations of the tensor dialect around its collectives; and a rank's constants are not only its part of a value.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/ranks/BodyLoops.h"
#include "passes/ranks/Layouts.h"
#include "passes/ranks/RecurrentGates.h"
#include "passes/ranks/Resharding.h"
#include "passes/ranks/ShardLoops.h"
#include "passes/ranks/SliceConstant.h"
#include "passes/ranks/Windows.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_PARTITIONRANKS
#include "passes/Passes.h.inc"

using namespace nn;

namespace {

/// Makes the body of @main for one rank.
class Partition {
public:
  Partition(func::FuncOp function, const Grid &grid, int64_t rank) : function(function), grid(grid), rank(rank), builder(function) {}
  void run();

private:
  void partitionShard(shard::ShardOp op);
  Value change(shard::ShardOp source, const Cut &wanted);
  void partition(Operation *op);
  void partitionBody(Block &block);
  bool partitionGates(Operation *op);
  SmallVector<int64_t> countPartsOfLoops(Operation *op);
  Value partitionConstant(ConstantOp op, const Cut &cut);
  Value scale(Value value, double factor);
  /// The axes along which images are cut into strips, and how.
  SmallVector<std::pair<unsigned, WindowCut>> findStrips(Operation *op);
  bool hasAllRows(shard::ShardOp use, unsigned axis);
  Cut cutToHave(shard::ShardOp use);
  /// The axes along which a sum of the operation is cut, and how its parts are combined.
  SmallVector<std::pair<unsigned, ReduceKind>> findSums(Operation *op);
  Cut cutOfUse(OpOperand &operand) { return getCut(operand.get().getDefiningOp<shard::ShardOp>(), grid); }
  Cut cutOfResult(Value result) { return getCut(cast<shard::ShardOp>(*result.getUsers().begin()), grid); }

  func::FuncOp function;
  const Grid &grid;
  int64_t rank;
  OpBuilder builder;
  IRMapping parts;
  /// The collectives so far, which are the same for each rank.
  int64_t collectives = 0;
  /// What has been made of values for uses that want other parts: several uses may want the same.
  DenseMap<Value, SmallVector<std::pair<Cut, Value>>> changed;
  DenseMap<Attribute, SmallVector<std::pair<Cut, ElementsAttr>>> constants;
};

class PartitionRanks : public impl::PartitionRanksBase<PartitionRanks> {
public:
  using PartitionRanksBase::PartitionRanksBase;
  void getDependentDialects(DialectRegistry &registry) const override { registerShardLoops(registry); }
  void runOnOperation() override;
};

} // namespace

static ReduceKind kindOf(shard::ReductionKind kind) {
  switch (kind) {
  case shard::ReductionKind::Max:
    return ReduceKind::Max;
  case shard::ReductionKind::Min:
    return ReduceKind::Min;
  case shard::ReductionKind::Product:
    return ReduceKind::Prod;
  default:
    return ReduceKind::Sum;
  }
}

SmallVector<std::pair<unsigned, ReduceKind>> Partition::findSums(Operation *op) {
  SmallVector<std::pair<unsigned, ReduceKind>> sums;
  auto interface = dyn_cast<shard::ShardingInterface>(op);
  if (!interface)
    return sums;
  SmallVector<utils::IteratorType> types = interface.getLoopIteratorTypes();
  SmallVector<shard::ReductionKind> kinds = interface.getReductionLoopIteratorKinds();
  SmallVector<AffineMap> maps = interface.getIndexingMaps();
  if (types.empty())
    return sums;
  for (OpOperand &operand : op->getOpOperands())
    for (auto [axis, dim] : llvm::enumerate(cutOfUse(operand))) {
      if (dim == whole)
        continue;
      // Where no loop cuts the dimension, windows do.
      auto cuts = dyn_cast<AffineDimExpr>(maps[operand.getOperandNumber()].getResult(dim));
      if (!cuts)
        continue;
      unsigned loop = cuts.getPosition();
      bool isKnown = llvm::any_of(sums, [axis = axis](auto &sum) { return sum.first == axis; });
      if (types[loop] == utils::IteratorType::reduction && !isKnown)
        sums.emplace_back(axis, kindOf(kinds[llvm::count(ArrayRef(types).take_front(loop), utils::IteratorType::reduction)]));
    }
  return sums;
}

/// The parts into which the axes cut each loop of an operation.
SmallVector<int64_t> Partition::countPartsOfLoops(Operation *op) {
  auto interface = cast<shard::ShardingInterface>(op);
  SmallVector<AffineMap> maps = interface.getIndexingMaps();
  SmallVector<int64_t> parts(interface.getLoopIteratorTypes().size(), 1);
  if (parts.empty())
    return parts;
  for (unsigned axis = 0; axis < grid.shape.size(); ++axis) {
    llvm::SmallSetVector<unsigned, 1> cuts;
    auto add = [&](AffineMap map, const Cut &cut) {
      if (cut[axis] != whole)
        cuts.insert(cast<AffineDimExpr>(map.getResult(cut[axis])).getPosition());
    };
    for (OpOperand &operand : op->getOpOperands())
      add(maps[operand.getOperandNumber()], cutOfUse(operand));
    for (OpResult result : op->getResults())
      add(maps[op->getNumOperands() + result.getResultNumber()], cutOfResult(result));
    for (unsigned loop : cuts)
      parts[loop] *= grid.shape[axis];
  }
  return parts;
}

/// The value times a number.
Value Partition::scale(Value value, double factor) {
  auto type = cast<RankedTensorType>(value.getType());
  Value factors = SplatOp::create(builder, value.getLoc(), type, builder.getFloatAttr(type.getElementType(), factor));
  return MulOp::create(builder, value.getLoc(), type, value, factors);
}

SmallVector<std::pair<unsigned, WindowCut>> Partition::findStrips(Operation *op) {
  SmallVector<std::pair<unsigned, WindowCut>> strips;
  if (!hasWindows(op))
    return strips;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType()), result = cast<RankedTensorType>(op->getResult(0).getType());
  Cut cut = cutOfUse(op->getOpOperand(0)), made = cutOfResult(op->getResult(0));
  for (auto [axis, dim] : llvm::enumerate(cut))
    if (dim != whole)
      if (auto strip = findWindowCut(op, dim, sizeOfPart(type, dim, cut, grid, axis), sizeOfPart(result, dim, made, grid, axis), grid.shape[axis]))
        strips.emplace_back(axis, *strip);
  return strips;
}

/// Whether each rank has what a use reads without a cut along the axis.
bool Partition::hasAllRows(shard::ShardOp use, unsigned axis) {
  auto source = use.getSrc().getDefiningOp<shard::ShardOp>();
  return source.getSrc().getDefiningOp<ConstantOp>() || getCut(source, grid)[axis] == whole;
}

/// What is made of a value for a use. Windows take their rows and those of their neighbours from all rows, where the rank has these.
Cut Partition::cutToHave(shard::ShardOp use) {
  Cut cut = getCut(use, grid);
  OpOperand &operand = *use->use_begin();
  if (operand.getOperandNumber() == 0)
    for (auto &[axis, strip] : findStrips(operand.getOwner()))
      if (hasAllRows(use, axis))
        cut[axis] = whole;
  return cut;
}

Value Partition::change(shard::ShardOp source, const Cut &wanted) {
  auto &known = changed[source.getResult()];
  for (auto &[cut, value] : known)
    if (cut == wanted)
      return value;
  Value part = Resharding(builder, source.getLoc(), grid, rank, collectives).change(parts.lookup(source.getResult()), getCut(source, grid), wanted);
  known.emplace_back(wanted, part);
  return part;
}

void Partition::partitionShard(shard::ShardOp op) {
  Value part = parts.lookup(op.getSrc());
  if (op.getAnnotateForUsers()) {
    auto source = op.getSrc().getDefiningOp<shard::ShardOp>();
    Cut cut = cutToHave(op);
    // Any part of a constant can be had without the others.
    if (auto constant = source.getSrc().getDefiningOp<ConstantOp>())
      part = partitionConstant(constant, cut);
    else
      part = change(source, cut);
  }
  parts.map(op.getResult(), part);
}

Value Partition::partitionConstant(ConstantOp op, const Cut &cut) {
  builder.setInsertionPoint(op);
  ElementsAttr value = op.getValue();
  if (llvm::any_of(cut, [](int dim) { return dim != whole; })) {
    // Equal parts are one attribute, so that equal constants are found.
    auto &known = constants[value];
    auto *found = llvm::find_if(known, [&](auto &part) { return part.first == cut; });
    if (found == known.end()) {
      known.emplace_back(cut, sliceConstant(value, cut, grid, rank));
      found = &known.back();
    }
    value = found->second;
  }
  return ConstantOp::create(builder, op.getLoc(), value);
}

/// Makes the loop of a recurrent layer that is cut by units. Whether it is.
bool Partition::partitionGates(Operation *op) {
  std::optional<GatedLayer> layer = matchGatedLayer(op);
  if (!layer)
    return false;
  Cut cut = cutOfUse(op->getOpOperand(Recurrence));
  auto axis = llvm::find(cut, unitDim);
  if (axis == cut.end())
    return false;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(parts.lookup(operand));
  for (auto [result, value] : llvm::zip_equal(op->getResults(), buildGateLoop(builder, *layer, operands, grid, axis - cut.begin(), rank, collectives)))
    parts.map(result, value);
  return true;
}

/// The second of two directions alone runs in reverse.
static void cutDirections(Operation *clone, const Cut &cut, const Grid &grid, int64_t rank) {
  for (auto [axis, dim] : llvm::enumerate(cut))
    if (dim == directionDim && grid.coordinate(rank, axis) == 1)
      setReverse(clone);
}

/// Whole groups are cut: those that are left have as many channels each as before.
template <typename Conv> static void cutGroups(Conv conv) {
  if (conv.getGroups() == 1)
    return;
  RankedTensorType input = conv.getInput().getType();
  int64_t channels = input.getDimSize(conv.getLayout() == Layout::ChannelsFirst ? 1 : input.getRank() - 1);
  conv.setGroups(channels / conv.getWeight().getType().getDimSize(1));
}

void Partition::partition(Operation *op) {
  builder.setInsertionPoint(op);
  if (partitionGates(op))
    return;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    parts.map(constant.getResult(), constant.getResult());
    return;
  }
  SmallVector<std::pair<unsigned, ReduceKind>> sums = findSums(op);
  IRMapping operands(parts);
  SmallVector<std::pair<unsigned, WindowCut>> strips = findStrips(op);
  for (auto &[axis, cut] : strips) {
    Value rows = operands.lookup(op->getOperand(0));
    rows = hasAllRows(op->getOperand(0).getDefiningOp<shard::ShardOp>(), axis)
               ? takeRows(builder, op->getLoc(), rows, cut, grid.shape[axis], grid.coordinate(rank, axis))
               : addNeighbours(builder, op->getLoc(), rows, cut, grid, axis, rank, collectives);
    operands.map(op->getOperand(0), rows);
    // Each rank has all rows of the zero points.
    if (auto conv = dyn_cast<QuantizedConvOp>(op)) {
      Value zero = operands.lookup(conv.getInputZero());
      operands.map(conv.getInputZero(), takeRows(builder, op->getLoc(), zero, cut, grid.shape[axis], grid.coordinate(rank, axis)));
    }
  }
  Operation *clone = builder.clone(*op, operands);
  if (auto loop = dyn_cast<LoopOp>(clone))
    partitionBody(loop.getBody().front());
  if (auto composite = dyn_cast<CompositeOp>(clone))
    cutBody(composite, countPartsOfLoops(op));
  if (matchGatedLayer(op))
    cutDirections(clone, cutOfUse(op->getOpOperand(Recurrence)), grid, rank);
  for (auto &[axis, cut] : strips)
    cutPadding(clone, cut, grid.shape[axis], grid.coordinate(rank, axis));
  for (auto [result, made] : llvm::zip(op->getResults(), clone->getResults())) {
    // Parts of a sum have the size of the sum along the axis, until they are combined.
    Cut cut = cutOfResult(result), partial = cut;
    for (auto [axis, kind] : sums)
      partial[axis] = whole;
    made.setType(typeOfPart(cast<RankedTensorType>(result.getType()), partial, grid));
    Value value = made;
    for (auto [axis, kind] : sums)
      value = Resharding(builder, op->getLoc(), grid, rank, collectives).combine(value, axis, cut[axis], kind);
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getKind() == ReduceKind::Mean)
      for (auto [axis, kind] : sums)
        value = scale(value, 1.0 / static_cast<double>(grid.shape[axis]));
    parts.map(result, value);
  }
  llvm::TypeSwitch<Operation *>(clone).Case<ConvOp, QuantizedConvOp>([](auto conv) { cutGroups(conv); });
}

/// Replaces the operations of a block.
void Partition::partitionBody(Block &block) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Operation *> before;
  for (Operation &op : block)
    before.push_back(&op);
  // Exchanges are made of what their operands are. The whole types stay those of the annotations.
  for (BlockArgument argument : block.getArguments()) {
    argument.setType(typeOfPart(cast<RankedTensorType>(argument.getType()), cutOfResult(argument), grid));
    parts.map(argument, argument);
  }
  for (Operation *op : before) {
    builder.setInsertionPoint(op);
    if (auto shardOp = dyn_cast<shard::ShardOp>(op))
      partitionShard(shardOp);
    else if (!isa<shard::ShardingOp>(op))
      partition(op);
  }
  // What was there before goes, the last first. Other values may then have its place in memory.
  for (Operation *op : llvm::reverse(before)) {
    for (Value result : op->getResults())
      changed.erase(result);
    op->erase();
  }
}

void Partition::run() {
  Block &block = function.front();
  partitionBody(block);
  function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
}

void PartitionRanks::runOnOperation() {
  ModuleOp module = getOperation();
  std::optional<Grid> grid = getGrid(module);
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!grid || !function) {
    module.emitError("expected @main with the annotations of --nn-choose-shardings");
    return signalPassFailure();
  }
  if (rank < 0 || rank >= grid->countRanks()) {
    module.emitError() << "the grid has no rank " << static_cast<int64_t>(rank);
    return signalPassFailure();
  }
  Partition(function, *grid, rank).run();
  SymbolTable::lookupSymbolIn(module, gridName)->erase();
}

} // namespace kiln
