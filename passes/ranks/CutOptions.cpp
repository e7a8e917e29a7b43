//===- CutOptions.cpp - The ways to cut an operation along one axis ---------===//
#include "passes/ranks/CutOptions.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/ranks/RecurrentGates.h"
#include "passes/ranks/ShardLoops.h"
#include "passes/ranks/Windows.h"

#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool isAnyPart(Value value) { return isa_and_nonnull<ConstantOp, SplatOp, IotaOp>(value.getDefiningOp()); }

void CutsSoFar::add(func::FuncOp function, const Grid &grid) {
  function.walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      values[argument] = Cut(grid.shape.size(), whole);
  });
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      values[result] = Cut(grid.shape.size(), whole);
    for (OpOperand &operand : op->getOpOperands())
      uses[&operand] = Cut(grid.shape.size(), whole);
  });
}

void CutsSoFar::take(const DenseMap<Operation *, CutOption> &options, unsigned axis) {
  for (auto &[op, option] : options) {
    for (auto [result, cut] : llvm::zip(op->getResults(), option.results))
      values[result][axis] = cut;
    for (auto [operand, cut] : llvm::zip(op->getOpOperands(), option.operands))
      uses[&operand][axis] = cut;
  }
}

std::string AxisCuts::findFault(Value value, const Cut &cut, int dim) const {
  int64_t size = sizeOfPart(cast<RankedTensorType>(value.getType()), dim, cut, grid, axis);
  if (size < 0)
    return "the size of a dimension is known only at run time";
  if (size == 0 || size % parts != 0)
    return "a dimension of " + std::to_string(size) + " is not divisible by " + std::to_string(parts);
  return "";
}

//===- Loops -----------------------------------------------------------------===//

static shard::ReductionKind kindOf(shard::ShardingInterface op, unsigned loop) {
  unsigned reductions = llvm::count(ArrayRef(op.getLoopIteratorTypes()).take_front(loop), utils::IteratorType::reduction);
  return op.getReductionLoopIteratorKinds()[reductions];
}

/// The parts of a sum: every rank has the whole sum afterwards, or the slice of it that it goes on with.
void AxisCuts::addSums(Operation *op, unsigned loop, CutOption option, CutOptions &options) const {
  Value result = op->getResult(0);
  double bytes = estimateBytes(result), partial = option.seconds, scattered = bytesSoFar(result) * static_cast<double>(parts - 1) / static_cast<double>(parts);
  option.seconds = partial + machine.allReduce(bytes, parts);
  option.sentBytes = 2 * scattered;
  options.list.push_back(option);
  if (kindOf(cast<shard::ShardingInterface>(op), loop) != shard::ReductionKind::Sum)
    return;
  option.seconds = partial + machine.reduceScatter(bytes, parts);
  option.sentBytes = scattered;
  for (int dim = 0; dim < cast<RankedTensorType>(result.getType()).getRank(); ++dim)
    if (findFault(result, cuts.values.lookup(result), dim).empty()) {
      option.results[0] = dim;
      options.list.push_back(option);
    }
}

std::string AxisCuts::findGroupFault(Operation *op, const CutOption &option) const {
  auto conv = dyn_cast<ConvOp>(op);
  auto quantized = dyn_cast<QuantizedConvOp>(op);
  bool isGrouped = conv ? conv.getGroups() > 1 : quantized && quantized.getGroups() > 1;
  // The batch is dimension 0.
  if (!isGrouped || option.operands[0] < 1)
    return "";
  int64_t channels = sizeOfPart(cast<RankedTensorType>(op->getOperand(0).getType()), option.operands[0], cuts.uses.lookup(&op->getOpOperand(0)), grid, axis);
  int64_t groups = channels / cast<RankedTensorType>(op->getOperand(1).getType()).getDimSize(1);
  return groups % parts == 0 ? "" : std::to_string(groups) + " groups of channels are not divisible by " + std::to_string(parts);
}

std::string AxisCuts::findOrderFault(Operation *op, const CutOption &option) const {
  for (auto [result, dim] : llvm::zip(op->getResults(), option.results))
    for (unsigned earlier = 0; earlier < axis; ++earlier) {
      if (dim == whole || cuts.values.lookup(result)[earlier] != dim)
        continue;
      for (auto [operand, own] : llvm::zip(op->getOpOperands(), option.operands))
        if (own != whole && cuts.uses.lookup(&operand)[earlier] != own)
          return "the parts of a sum along axis " + std::to_string(earlier) + " are combined along this dimension";
    }
  return "";
}

void AxisCuts::addLoop(Operation *op, unsigned loop, CutOptions &options) const {
  auto interface = cast<shard::ShardingInterface>(op);
  SmallVector<AffineMap> maps = interface.getIndexingMaps();
  CutOption option;
  RefusedCut refused = {SmallVector<bool>(op->getNumOperands()), ""};
  bool isCut = false;
  auto find = [&](Value value, const Cut &cut, AffineMap map) {
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto position = dyn_cast<AffineDimExpr>(expr); position && position.getPosition() == loop) {
        isCut = true;
        if (refused.reason.empty())
          refused.reason = findFault(value, cut, static_cast<int>(dim));
        return static_cast<int>(dim);
      }
    return whole;
  };
  for (OpOperand &operand : op->getOpOperands()) {
    option.operands.push_back(find(operand.get(), cuts.uses.lookup(&operand), maps[operand.getOperandNumber()]));
    refused.operands[operand.getOperandNumber()] = option.operands.back() != whole;
  }
  for (OpResult result : op->getResults())
    option.results.push_back(find(result, cuts.values.lookup(result), maps[op->getNumOperands() + result.getResultNumber()]));
  if (refused.reason.empty())
    refused.reason = findGroupFault(op, option);
  if (refused.reason.empty())
    refused.reason = findOrderFault(op, option);
  bool isSum = interface.getLoopIteratorTypes()[loop] == utils::IteratorType::reduction;
  // Parts of 16 bits would be rounded before they are added.
  if (auto halves = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())); isSum && refused.reason.empty() && halves && halves.getWidth() < 32)
    refused.reason = "parts of sums would be rounded to 16 bits before they are added";
  if (!isCut)
    return;
  if (!refused.reason.empty()) {
    options.refused.push_back(std::move(refused));
    return;
  }
  option.seconds = options.list.front().seconds / static_cast<double>(parts);
  if (isSum)
    addSums(op, loop, std::move(option), options);
  else
    options.list.push_back(std::move(option));
}

void AxisCuts::addLoopOptions(Operation *op, CutOptions &options) const {
  if (auto interface = dyn_cast<shard::ShardingInterface>(op))
    for (unsigned loop = 0; loop < interface.getLoopIteratorTypes().size(); ++loop)
      addLoop(op, loop, options);
}

//===- What no affine map says -----------------------------------------------===//

void AxisCuts::addReshapeOptions(Operation *op, CutOptions &options) const {
  OpOperand &operand = op->getOpOperand(0);
  auto sizes = [&](Value value, const Cut &cut) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> list;
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      list.push_back(sizeOfPart(type, dim, cut, grid, axis));
    return list;
  };
  OpResult result = op->getResult(0);
  for (auto [from, to] : matchReshapedDims(op, sizes(operand.get(), cuts.uses.lookup(&operand)), sizes(result, cuts.values.lookup(result)), parts))
    options.list.push_back({{static_cast<int>(from)}, {static_cast<int>(to)}, 0});
}

/// Images in strips. A strip needs rows of its neighbours'.
void AxisCuts::addWindowOptions(Operation *op, CutOptions &options) const {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType()), result = cast<RankedTensorType>(op->getResult(0).getType());
  const Cut &used = cuts.uses.find(&op->getOpOperand(0))->second, &made = cuts.values.find(op->getResult(0))->second;
  // One axis cuts the images: the rows at the corners of a grid would come from a third rank.
  for (unsigned earlier = 0; earlier < axis; ++earlier)
    if (used[earlier] != whole && findWindowCut(op, used[earlier], type.getDimSize(used[earlier]), result.getDimSize(used[earlier]), grid.shape[earlier]))
      return;
  for (unsigned dim = 1; dim < static_cast<unsigned>(type.getRank()); ++dim) {
    int64_t size = sizeOfPart(type, dim, used, grid, axis);
    auto cut = findWindowCut(op, dim, size, sizeOfPart(result, dim, made, grid, axis), parts);
    if (!cut)
      continue;
    CutOption option = options.list.front();
    option.operands[0] = option.results[0] = static_cast<int>(dim);
    double rowBytes = estimateBytes(op->getOperand(0)) / static_cast<double>(type.getDimSize(dim));
    option.borderBytes = bytesSoFar(op->getOperand(0)) / static_cast<double>(size) * static_cast<double>(cut->before + cut->after);
    option.seconds /= static_cast<double>(parts);
    for (int64_t rows : {cut->before, cut->after})
      option.borderSeconds += rows ? machine.latency + static_cast<double>(rows) * rowBytes / machine.networkBytesPerSecond : 0;
    options.list.push_back(option);
  }
}

/// Recurrent layers by units. The ranks exchange states in each step.
void AxisCuts::addGateOptions(Operation *op, CutOptions &options) const {
  std::optional<GatedLayer> layer = matchGatedLayer(op);
  // An axis before this one that cuts the batch or the directions leaves other columns.
  if (!layer || llvm::any_of(cuts.uses.find(&op->getOpOperand(Gates))->second, [](int dim) { return dim != whole; }))
    return;
  CutOption option = options.list.front();
  RefusedCut refused = {SmallVector<bool>(op->getNumOperands()), findGateFault(*layer, parts)};
  for (auto [i, role] : llvm::enumerate(layer->roles)) {
    refused.operands[i] = role == Gates || role == Recurrence || role == Cell || role == RecurrenceBias;
    option.operands[i] = !refused.operands[i] ? whole : role == RecurrenceBias ? 1 : unitDim;
  }
  if (op->getNumResults() > 2)
    option.results[2] = unitDim;
  // What the launches of a step take, which one kernel for all steps does not have.
  constexpr double secondsPerStep = 5e-6;
  auto module = op->getParentOfType<ModuleOp>();
  double steps = estimateSize(getDim(op->getOperand(Gates).getType(), 0), module), bytes = estimateBytes(op->getOperand(Hidden));
  option.sentBytes = steps * layer->exchanges * bytes * static_cast<double>(parts - 1) / static_cast<double>(parts);
  option.seconds = option.seconds / static_cast<double>(parts) + steps * (secondsPerStep + layer->exchanges * machine.allGather(bytes, parts));
  if (refused.reason.empty())
    options.list.push_back(std::move(option));
  else
    options.refused.push_back(std::move(refused));
}

/// Whether an axis before this one cuts a recurrent layer by units: no other one can then cut it, too.
static bool isCutByUnits(Operation *op, const CutsSoFar &cuts) {
  return matchGatedLayer(op) && llvm::is_contained(cuts.uses.find(&op->getOpOperand(Recurrence))->second, unitDim);
}

CutOptions AxisCuts::listOptions(Operation *op) const {
  CutOption same;
  same.operands.assign(op->getNumOperands(), whole);
  same.results.assign(op->getNumResults(), whole);
  same.seconds = estimateSeconds(op, machine);
  if (isa<func::ReturnOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      same.operands[operand.getOperandNumber()] = wishes.cutOfResult(operand.getOperandNumber(), axis);
    return {{same}, {}};
  }
  CutOptions options = {{same}, {}};
  if (isCutByUnits(op, cuts))
    return options;
  isa<ReshapeOp>(op) ? addReshapeOptions(op, options) : addLoopOptions(op, options);
  if (hasWindows(op))
    addWindowOptions(op, options);
  addGateOptions(op, options);
  // Where a wish cannot be kept by the operation itself, its result is cut behind it.
  auto isWished = [&](const CutOption &option) { return wishes.allow(op, axis, option.results); };
  if (llvm::any_of(options.list, isWished))
    llvm::erase_if(options.list, [&](const CutOption &option) { return !isWished(option); });
  return options;
}

//===- Costs -----------------------------------------------------------------===//

double AxisCuts::exchange(Value value, int from, int to) const {
  if (from == to)
    return 0;
  double bytes = estimateBytes(value);
  if (from == whole)
    return bytes / static_cast<double>(parts) / machine.bytesPerSecond;
  return to == whole ? machine.allGather(bytes, parts) : machine.allToAll(bytes, parts);
}

double AxisCuts::exchange(OpOperand &operand, int from, const CutOption &option) const {
  double border = operand.getOperandNumber() == 0 && from != whole ? option.borderSeconds : 0;
  return border + exchange(operand.get(), from, option.operands[operand.getOperandNumber()]);
}

double AxisCuts::bytesSoFar(Value value) const {
  double bytes = estimateBytes(value);
  for (auto [dim, size] : llvm::zip(ArrayRef(cuts.values.find(value)->second).take_front(axis), grid.shape))
    bytes /= dim == whole ? 1.0 : static_cast<double>(size);
  return bytes;
}

double AxisCuts::sentFor(Value value, int from, int to) const {
  if (from == to || from == whole)
    return 0;
  double part = bytesSoFar(value) / static_cast<double>(parts), others = static_cast<double>(parts - 1);
  return to == whole ? part * others : part * others / static_cast<double>(parts);
}

double AxisCuts::keptSeconds(Operation *op, const CutOption &option) const {
  double seconds = 0;
  for (auto [operand, cut] : llvm::zip(op->getOperands(), option.operands))
    if (isa_and_nonnull<ConstantOp>(operand.getDefiningOp()))
      seconds += estimateBytes(operand) / static_cast<double>(cut == whole ? 1 : parts) * machine.secondsPerKeptByte;
  return seconds;
}

} // namespace kiln
