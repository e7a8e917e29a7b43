//===- SinkViews.cpp - Views beside their users -------------------------------===//
#include "passes/ranks/SinkViews.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;

namespace kiln {

void sinkViews(func::FuncOp function) {
  Block &block = function.front();
  SmallVector<Operation *> views;
  for (Operation &op : block)
    if (isa<nn::IndexMap, nn::ReshapeOp>(op) && op.getNumOperands() == 1)
      views.push_back(&op);
  // The last view first, so that one of another view takes that along.
  for (Operation *view : llvm::reverse(views)) {
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(view->getResult(0).getUses()));
    for (OpOperand *use : uses) {
      OpBuilder builder(block.findAncestorOpInBlock(*use->getOwner()));
      use->set(builder.clone(*view)->getResult(0));
    }
    view->erase();
  }
}

} // namespace kiln
