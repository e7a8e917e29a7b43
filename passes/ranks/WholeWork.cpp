//===- WholeWork.cpp - The work that all ranks do ---------------------------===//
#include "passes/ranks/WholeWork.h"
#include "dialects/nn/Dims.h"
#include "passes/ranks/Costs.h"
#include "passes/ranks/Layouts.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kiln {

/// How a value is cut where an operation makes it or reads it.
static bool isCut(Value value, const Grid &grid, bool isResult) {
  auto cuts = [&](shard::ShardOp shard) { return llvm::any_of(getCut(shard, grid), [](int dim) { return dim != whole; }); };
  if (!isResult) {
    auto shard = value.getDefiningOp<shard::ShardOp>();
    return shard && cuts(shard);
  }
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto shard = dyn_cast<shard::ShardOp>(user);
    return shard && !shard.getAnnotateForUsers() && cuts(shard);
  });
}

static bool isWhole(Operation &op, const Grid &grid) {
  return llvm::none_of(op.getOperands(), [&](Value operand) { return isCut(operand, grid, /*isResult=*/false); }) &&
         llvm::none_of(op.getResults(), [&](Value result) { return isCut(result, grid, /*isResult=*/true); });
}

static std::string describe(Operation &op) {
  std::string text = op.getName().getStringRef().str(), node;
  op.getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && node.empty())
      node = name.getName().strref().rsplit('(').first.str();
    return WalkResult::advance();
  });
  llvm::raw_string_ostream stream(text);
  if (!node.empty())
    stream << " '" << node << "'";
  stream << " of ";
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
  llvm::interleave(sizes, stream, [&](int64_t size) { ShapedType::isDynamic(size) ? stream << "?" : stream << size; }, "x");
  return text;
}

WholeWork findWholeWork(func::FuncOp function) {
  WholeWork work;
  std::optional<Grid> grid = getGrid(function->getParentOp());
  if (!grid)
    return work;
  RankMachine machine = RankMachine::of(kernel::getTarget(function));
  double all = 0, wholeSeconds = 0, longest = 0;
  Operation *largest = nullptr;
  for (Operation &op : function.front()) {
    if (op.getNumResults() == 0 || isa<shard::ShardOp, shard::ShardingOp>(op) || !isa<RankedTensorType>(op.getResult(0).getType()))
      continue;
    double seconds = estimateSeconds(&op, machine);
    all += seconds;
    if (!isWhole(op, *grid))
      continue;
    wholeSeconds += seconds;
    if (seconds > longest)
      longest = seconds, largest = &op;
  }
  if (!largest)
    return work;
  work.share = wholeSeconds / all;
  work.operation = describe(*largest);
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(largest->getResult(0).getType()).getShape();
  work.hasParts = llvm::any_of(sizes, [&](int64_t size) { return size > 0 && size % grid->countRanks() == 0; });
  return work;
}

} // namespace kiln
