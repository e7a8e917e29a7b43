//===- BodyLoops.cpp - How an operation can be cut that equals simpler ones -===//
//
//   %r = nn.mean_variance_norm %x [1] : tensor<2x3x4xf32>
//
// subtracts a mean along dimension 1 and divides by another one. All its parts have the dimensions 0 and 2 of %x and read no other place along them, so %x and
// %r are cut there; a reduction needs dimension 1 whole.
//
//===----------------------------------------------------------------------===//
#include "passes/ranks/BodyLoops.h"
#include "passes/ranks/ShardLoops.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"

#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"

using namespace mlir;

namespace kiln {

using namespace nn;

unsigned rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

BodyLoops::BodyLoops(ValueRange arguments, llvm::iterator_range<Block::iterator> body, ValueRange results) {
  for (Operation &op : body)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      addOperation(&op);
  llvm::DenseSet<unsigned> uncut;
  for (unsigned dim : whole)
    uncut.insert(classes.getLeaderValue(dim));
  // Loops have their numbers in the order of the results' dimensions.
  for (Value result : results)
    for (unsigned dim = 0; dim < rankOf(result); ++dim)
      if (unsigned leader = classes.getLeaderValue(number(result, dim)); !uncut.contains(leader))
        loops.try_emplace(leader, loops.size());
}

unsigned BodyLoops::number(Value value, unsigned dim) {
  auto [entry, isNew] = numbers.try_emplace({value, dim}, numbers.size());
  if (isNew)
    classes.insert(entry->second);
  return entry->second;
}

int BodyLoops::findLoop(Value value, unsigned dim) const {
  auto known = numbers.find({value, dim});
  if (known == numbers.end())
    return -1;
  auto loop = loops.find(classes.getLeaderValue(known->second));
  return loop == loops.end() ? -1 : loop->second;
}

/// A dimension that is alone on both sides is the same one. Others are cut for some numbers of parts only.
void BodyLoops::addReshape(Operation *op) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType()), to = cast<RankedTensorType>(op->getResult(0).getType());
  llvm::SmallDenseSet<unsigned> sources, targets;
  for (auto [source, target] : matchReshapedDims(op, from.getShape(), to.getShape(), /*parts=*/1))
    if (from.getDimSize(source) == to.getDimSize(target)) {
      classes.unionSets(number(op->getOperand(0), source), number(op->getResult(0), target));
      sources.insert(source);
      targets.insert(target);
    }
  for (unsigned dim = 0; dim < from.getRank(); ++dim)
    if (!sources.contains(dim))
      addWhole(op->getOperand(0), dim);
  for (unsigned dim = 0; dim < to.getRank(); ++dim)
    if (!targets.contains(dim))
      addWhole(op->getResult(0), dim);
}

void BodyLoops::addLoops(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  auto interface = dyn_cast<shard::ShardingInterface>(op);
  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> types;
  if (interface) {
    maps = interface.getIndexingMaps();
    types = interface.getLoopIteratorTypes();
  }
  SmallVector<std::optional<unsigned>> first(types.size());
  for (auto [i, value] : llvm::enumerate(values))
    for (unsigned dim = 0; dim < rankOf(value); ++dim) {
      auto loop = maps.size() == values.size() ? dyn_cast<AffineDimExpr>(maps[i].getResult(dim)) : AffineDimExpr(nullptr);
      if (!loop || types[loop.getPosition()] == utils::IteratorType::reduction) {
        addWhole(value, dim);
        continue;
      }
      unsigned own = number(value, dim);
      if (auto &known = first[loop.getPosition()])
        classes.unionSets(*known, own);
      else
        known = own;
    }
}

void BodyLoops::addOperation(Operation *op) {
  if (isa<ReshapeOp>(op))
    return addReshape(op);
  // A constant with several values is that of the whole.
  if (auto constant = dyn_cast<ConstantOp>(op); constant && !constant.getValue().isSplat()) {
    for (unsigned dim = 0; dim < rankOf(constant); ++dim)
      addWhole(constant, dim);
    return;
  }
  addLoops(op);
}

//===- Composites of the user's ----------------------------------------------===//

/// Whether a constant repeats the elements of another one, as a broadcast does.
static bool repeats(ElementsAttr constant, ElementsAttr source) {
  ArrayRef<int64_t> shape = constant.getShapedType().getShape(), small = source.getShapedType().getShape();
  if (constant.getElementType() != source.getElementType() || small.size() > shape.size())
    return false;
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = small.size(), at = shape.size(); i-- > 0; stride *= small[i]) {
    if (small[i] != shape[--at] && small[i] != 1)
      return false;
    strides[at] = small[i] == 1 ? 0 : stride;
  }
  ConstantData data(constant), sourceData(source);
  size_t bytes = elementBytes(constant.getElementType());
  auto element = [&](const ConstantData &of, int64_t i) { return of.bytes().slice(i * bytes, bytes); };
  for (int64_t i = 0; i < data.numElements(); ++i) {
    int64_t from = 0;
    for (int64_t rest = i, dim = shape.size(); dim-- > 0; rest /= shape[dim])
      from += rest % shape[dim] * strides[dim];
    if (element(data, i) != element(sourceData, from))
      return false;
  }
  return true;
}

void joinConstants(CompositeOp composite) {
  Block &block = composite.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), composite.getInputs())) {
    ElementsAttr source = getConstant(input);
    if (!argument.use_empty() || rankOf(argument) == 0 || !source)
      continue;
    for (Operation &op : block)
      if (isa<ConstantOp, SplatOp>(op))
        if (ElementsAttr constant = getConstant(op.getResult(0)); constant && repeats(constant, source)) {
          Value value = argument;
          if (op.getResult(0).getType() != value.getType())
            value = BroadcastToOp::create(builder, op.getLoc(), op.getResult(0).getType(), value);
          op.getResult(0).replaceAllUsesWith(value);
        }
  }
}

void cutBody(CompositeOp composite, ArrayRef<int64_t> parts) {
  Block &block = composite.getBody().front();
  BodyLoops loops(block.getArguments(), block, composite.getTerminator()->getOperands());
  SmallVector<std::pair<Value, Type>> types;
  auto cut = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    DimExprs dims = getDims(type);
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (int loop = loops.findLoop(value, dim); loop >= 0 && parts[loop] > 1)
        dims[dim] = getAffineConstantExpr(type.getDimSize(dim) / parts[loop], type.getContext());
    types.emplace_back(value, makeTensorType(dims, type.getElementType()));
  };
  llvm::for_each(block.getArguments(), cut);
  for (Operation &op : block)
    llvm::for_each(op.getResults(), cut);
  for (auto [value, type] : types) {
    // A splat says its type twice.
    auto constant = value.getDefiningOp<ConstantOp>();
    if (constant && type != value.getType())
      constant.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(type), constant.getValue().getSplatValue<Attribute>()));
    value.setType(type);
  }
}

} // namespace kiln
