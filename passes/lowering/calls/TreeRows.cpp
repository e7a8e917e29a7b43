//===- TreeRows.cpp - Rows that go down decision trees -----------------------===//
//
//   kiln::tree_ensemble<1, false>(x, nodes, trees, leaves, weights, out, scratch, start, task, rows, 30, ...)     a task is a block of trees, and some rows
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/calls/TreeRows.h"
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/FullTrees.h"
#include "dialects/nn/NNCallOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Rows of one task: a block of trees comes from memory once for them.
static constexpr int64_t taskRows = 1024;

KernelMatch matchTreeRows(GroupOp, Operation *anchor, kernel::TargetAttr) {
  auto op = cast<TreeEnsembleOp>(anchor);
  int64_t trees = op.getTrees().getType().getNumElements() / 4;
  if (auto levels = op.getLevels())
    return accept(Twine(trees) + " full trees of " + Twine(*levels) + " levels, " + Twine(fullStreams) + " side by side");
  return accept(Twine(trees) + " trees, nodes of " + Twine(8 * op.getWords()) + " bytes, 16 rows or trees side by side");
}

/// Rows that go down a tree before the next tree: their columns and a tree should fit into the first-level cache.
static int64_t rowsOfGroup(int64_t columns, int64_t bytes) {
  constexpr int64_t cached = 32768, least = 16, most = 64;
  return std::clamp(cached / (columns * bytes) / least * least, least, most);
}

FailureOr<LaunchInfo> lowerTreeRows(KernelBuilder &k, Operation *anchor) {
  auto op = cast<TreeEnsembleOp>(anchor);
  Type element = op.getType().getElementType();
  DimExprs in = getDims(op.getInput().getType()), out = getDims(op.getType());
  int64_t trees = op.getTrees().getType().getNumElements() / 4, blocks = op.getType().getDimSize(1), targets = op.getType().getDimSize(2);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8, copied = op.getWords() == 3 ? 0 : op.getMissing() == 2 ? 2 * op.getWidth() : op.getWidth();
  int64_t group = rowsOfGroup(std::max<int64_t>(copied, 1), bytes);
  AffineExpr tasks = simplifyDim(in[0].ceilDiv(taskRows) * blocks);
  Value scratch = k.scratch(element, std::max<int64_t>(group * copied, 1));
  SmallVector<Value> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(k.buffer(cast<BlockArgument>(operand).getArgNumber()));
  arguments.append({k.resultBuffer(0), scratch, k.emit(k.scratchStart())});
  std::string callee = ("kiln::tree_ensemble<" + Twine(op.getWords()) + (op.getStrict() ? ", true>" : ", false>")).str();
  if (auto levels = op.getLevels())
    callee = ("kiln::full_trees<" + Twine(*levels) + (op.getHoldsLeaves() ? ", true>" : ", false>")).str();
  int64_t kind = op.getLeast() ? 1 : op.getLargest() ? 2 : 0;
  SmallVector<int64_t> numbers = {taskRows, group, blocks, static_cast<int64_t>(op.getBlock()), trees, targets, kind, op.getListed(),
                                  static_cast<int64_t>(op.getWidth()), static_cast<int64_t>(op.getMissing())};
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    SmallVector<Value> operands(arguments);
    operands.append({k.emit(task[0]), k.emit(in[0]), k.emit(in[1])});
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), k.builder().getStringAttr(callee), operands, k.builder().getI64ArrayAttr(numbers));
  });
  // A step down a tree is worth several operations of arithmetic, fewer in full trees; other trees have about as many levels as their number of nodes has bits.
  int64_t nodes = op.getNodes().getType().getNumElements() / static_cast<int64_t>(op.getWords());
  int64_t work = op.getLevels() ? 5 : 16, levels = op.getLevels().value_or(llvm::Log2_64_Ceil(std::max<int64_t>(nodes / trees, 1)) + 1);
  return LaunchInfo{tasks, simplifyDim(in[0] * (trees * levels * work)), simplifyDim(in[0] * (trees * levels * bytes)), false, 8 * bytes};
}

} // namespace kiln
