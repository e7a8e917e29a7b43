//===- Epilogue.cpp - What a kernel computes before it stores ---------------===//
#include "passes/target/groups/Epilogue.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/target/choice/KernelTable.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {

using namespace nn;

bool canFollow(Operation *anchor, Operation *op) {
  EpilogueSupport support = getEpilogueSupport(anchor);
  if (isa<TransposeOp>(op))
    return support >= EpilogueSupport::Transposes;
  return isa<ScalarBody>(op) && support >= EpilogueSupport::Elementwise;
}

/// The longest formulas of activations have about twenty operations; each value that is alive on the way takes a register of the kernel.
static constexpr unsigned mostBranchOperations = 32;

Operation *followBranches(Operation *from, llvm::function_ref<bool(Operation *)> take) {
  llvm::SetVector<Operation *> open(from->user_begin(), from->user_end());
  auto isElsewhere = [&](Operation *user) { return user->getBlock() != from->getBlock(); };
  for (unsigned taken = 0; taken < mostBranchOperations && !open.empty(); ++taken) {
    if (llvm::any_of(open, isElsewhere))
      return nullptr;
    // Nothing that is open leads to the first one of the block. Where it is alone, it is all that reads what was taken before.
    Operation *first = *llvm::min_element(open, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    bool isLast = open.size() == 1;
    if (!take(first))
      return nullptr;
    if (isLast)
      return first;
    open.remove(first);
    // A value that nobody reads would be one that the group computes in vain.
    if (first->use_empty())
      return nullptr;
    open.insert(first->user_begin(), first->user_end());
  }
  return nullptr;
}

} // namespace kiln
