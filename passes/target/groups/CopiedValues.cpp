//===- CopiedValues.cpp - Values that must lie in buffers of their own -----===//
#include "passes/target/groups/CopiedValues.h"
#include "dialects/nn/NN.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// A group that copies `value`.
static Value copyValue(OpBuilder &builder, Value value) {
  auto group = GroupOp::create(builder, value.getLoc(), value.getType(), value, GroupForm::Plain);
  Block &body = group.getBody().emplaceBlock();
  BlockArgument argument = body.addArgument(value.getType(), value.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inside, value.getLoc(), ValueRange(argument));
  return group.getResult(0);
}

/// A value that is to be written into the buffer of its user is copied there if it has other uses, or if no group computes it.
static void copyShared(OpOperand &operand) {
  Value source = operand.get();
  bool isOwn = source.hasOneUse();
  while (auto reshape = source.getDefiningOp<ReshapeOp>()) {
    source = reshape.getInput();
    isOwn = isOwn && source.hasOneUse();
  }
  OpBuilder builder(operand.getOwner());
  if (!isOwn || !isa_and_nonnull<GroupOp, ChooseOp>(source.getDefiningOp()))
    operand.set(copyValue(builder, operand.get()));
}

void copyHeldValues(Block &block) {
  for (auto choose : llvm::make_early_inc_range(block.getOps<ChooseOp>()))
    for (OpOperand &operand : llvm::drop_begin(choose->getOpOperands()))
      copyShared(operand);
  for (auto loop : llvm::make_early_inc_range(block.getOps<LoopOp>()))
    for (OpOperand &operand : loop.getCarriedMutable())
      copyShared(operand);
}

void copyReturnedValues(Block &block) {
  Operation *terminator = block.getTerminator();
  llvm::SmallPtrSet<Value, 4> taken;
  OpBuilder builder(terminator);
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value source = operand.get();
    while (auto reshape = source.getDefiningOp<ReshapeOp>())
      source = reshape.getInput();
    if (isa_and_nonnull<GroupOp, ChooseOp, LoopOp>(source.getDefiningOp()) && taken.insert(source).second)
      continue;
    operand.set(copyValue(builder, operand.get()));
  }
}

void copyStepResults(LoopOp loop) {
  OpBuilder builder(loop.getTerminator());
  SmallVector<Value> copies;
  for (Value value : loop.getTerminator()->getOperands())
    copies.push_back(copyValue(builder, value));
  loop.getTerminator()->setOperands(copies);
}

} // namespace kiln
