//===- Prologue.cpp - What a kernel computes while it loads -----------------===//
#include "passes/target/groups/Prologue.h"
#include "passes/target/choice/KernelTable.h"

using namespace mlir;

namespace kiln {

using namespace nn;

llvm::SmallPtrSet<Operation *, 4> findLoaded(Operation *anchor) {
  llvm::SmallPtrSet<Operation *, 4> loaded;
  for (OpOperand &operand : anchor->getOpOperands()) {
    PrologueSupport support = getPrologueSupport(anchor, operand.getOperandNumber());
    Operation *source = operand.get().getDefiningOp();
    while (source && support == PrologueSupport::Views && isa<IndexMap>(source))
      source = source->getOperand(0).getDefiningOp();
    if (source && support != PrologueSupport::All)
      loaded.insert(source);
  }
  return loaded;
}

} // namespace kiln
