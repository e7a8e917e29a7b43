//===- BlockResults.cpp - Copies of what a block must own -------------------===//
#include "passes/target/groups/BlockResults.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Ranks.h"

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

/// A value that is to be written into the buffer of its user is copied there if it has other uses, or if no group computes it, or if it is computed in any
/// case: ranks make a collective of a branch also when they take the other one, whose result it would overwrite.
static void copyShared(OpOperand &operand) {
  Value source = operand.get();
  bool isOwn = source.hasOneUse();
  while (auto reshape = source.getDefiningOp<ReshapeOp>()) {
    source = reshape.getInput();
    isOwn = isOwn && source.hasOneUse();
  }
  OpBuilder builder(operand.getOwner());
  Operation *op = source.getDefiningOp();
  if (!isOwn || !isa_and_nonnull<GroupOp, ChooseOp>(op) || getCollectiveNumber(op))
    operand.set(copyValue(builder, operand.get()));
}

/// Both branches of a choice write into its buffer, and what a loop carries begins in the buffer of its result.
static void copyHeldValues(Block &block) {
  for (auto choose : llvm::make_early_inc_range(block.getOps<ChooseOp>()))
    for (OpOperand &operand : llvm::drop_begin(choose->getOpOperands()))
      copyShared(operand);
  for (auto loop : llvm::make_early_inc_range(block.getOps<LoopOp>()))
    for (OpOperand &operand : loop.getCarriedMutable())
      copyShared(operand);
}

/// Results that a group does not compute (arguments, constants, one value returned twice) get a group that copies.
static void copyReturnedValues(Block &block) {
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

/// A step ends with copies to where the next one finds what it carries, when nobody looks at that any more, and to the places of the rows.
static void copyStepResults(LoopOp loop) {
  OpBuilder builder(loop.getTerminator());
  SmallVector<Value> copies;
  for (Value value : loop.getTerminator()->getOperands())
    copies.push_back(copyValue(builder, value));
  loop.getTerminator()->setOperands(copies);
}

void copyBlockResults(Block &block) {
  copyReturnedValues(block);
  copyHeldValues(block);
  if (auto loop = dyn_cast<LoopOp>(block.getParentOp()))
    copyStepResults(loop);
}

} // namespace kiln
