//===- Signature.cpp - The inputs and outputs of which ranks have parts -----===//
#include "passes/ranks/Signature.h"
#include "dialects/nn/Ranks.h"
#include "passes/ranks/Resharding.h"

using namespace mlir;

namespace kiln {

SignatureCuts listSignatureCuts(func::FuncOp function, const Grid &grid) {
  SignatureCuts cuts;
  auto find = [&](Operation *annotation) {
    auto shard = dyn_cast_or_null<shard::ShardOp>(annotation);
    return shard ? getCut(shard, grid) : Cut(grid.shape.size(), whole);
  };
  for (BlockArgument argument : function.getArguments())
    cuts.arguments.push_back(find(argument.use_empty() ? nullptr : *argument.getUsers().begin()));
  for (Value result : function.front().getTerminator()->getOperands())
    cuts.results.push_back(find(result.getDefiningOp()));
  return cuts;
}

void restoreSignature(ModuleOp part, ModuleOp whole, int64_t rank) {
  auto function = part.lookupSymbol<func::FuncOp>("main"), model = whole.lookupSymbol<func::FuncOp>("main");
  Grid grid = *getGrid(whole);
  SignatureCuts cuts = listSignatureCuts(model, grid);
  Cut all(grid.shape.size(), kiln::whole);
  int64_t collectives = 0;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (auto [argument, cut] : llvm::zip_equal(function.getArguments(), cuts.arguments)) {
    if (cut == all)
      continue;
    SmallVector<OpOperand *> uses = llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
    argument.setType(model.getArgument(argument.getArgNumber()).getType());
    Value own = Resharding(builder, argument.getLoc(), grid, rank, collectives).change(argument, all, cut);
    for (OpOperand *use : uses)
      use->set(own);
  }
  Operation *terminator = function.front().getTerminator();
  builder.setInsertionPoint(terminator);
  for (auto [operand, cut] : llvm::zip_equal(terminator->getOpOperands(), cuts.results))
    operand.set(Resharding(builder, terminator->getLoc(), grid, rank, collectives).change(operand.get(), cut, all));
  function.setType(model.getFunctionType());
  nn::numberCollectives(part);
}

} // namespace kiln
