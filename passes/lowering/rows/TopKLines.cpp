//===- TopKLines.cpp - The k best of lines ------------------------------------===//
//
//   kiln::top_k<16>(x, values, indices, scratch, start, begin, end, n, k, ...)     a task is some lines
//
// The runtime keeps the best entries so far and sorts them at the end of a line. An entry is a number's rank with its place.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/Ranking.h"
#include "passes/lowering/rows/AxisScans.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Up to so many are kept sorted (kiln/best.h).
static constexpr int64_t fewBest = 8;

static AffineExpr countWanted(TopKOp op) { return getDim(op.getValues().getType(), op.getAxis()); }

/// Words of the memory that a line needs.
static AffineExpr countWords(TopKOp op) {
  constexpr int64_t spare = 64;
  AffineExpr wanted = countWanted(op);
  if (auto few = getConstantDim(wanted); few && *few <= fewBest)
    return getAffineConstantExpr(std::max<int64_t>(2 * *few, 1), op.getContext());
  int64_t bits = getElementTypeOrSelf(op.getInput()).getIntOrFloatBitWidth();
  return simplifyDim((wanted * 2 + spare) * (bits > 32 ? 2 : 1));
}

/// A call of a function with one of its instances for each number of lanes.
static void call(KernelBuilder &k, TopKOp op, StringRef function, ArrayRef<Value> operands) {
  Type element = getElementTypeOrSelf(op.getInput());
  unsigned lanes = std::max(1u, k.target().lanes(std::max(32u, element.getIntOrFloatBitWidth())));
  kernel::RuntimeCallOp::create(k.builder(), k.loc(), k.builder().getStringAttr(function + "<" + Twine(lanes) + ">"), operands,
                                k.builder().getI64ArrayAttr({op.getLargest(), bitsOfInfinity(element)}));
}

TopKRow::TopKRow(KernelBuilder &k, TopKOp op) : k(k), op(op), scratch(k.scratch(k.builder().getI64Type(), countWords(op))) {}

void TopKRow::emit(Value row, AffineExpr line) const {
  AffineExpr size = getDim(op.getInput().getType(), op.getAxis());
  call(k, op, "kiln::top_k_row",
       {row, k.resultBuffer(0), k.resultBuffer(1), scratch, k.emit(k.scratchStart()), k.emit(line), k.emit(size), k.emit(countWanted(op))});
}

FailureOr<LaunchInfo> lowerTopKLines(KernelBuilder &k, Operation *anchor) {
  auto op = cast<TopKOp>(anchor);
  DimExprs dims = getDims(op.getInput().getType());
  AffineExpr size = dims[op.getAxis()], apart = getNumElements(ArrayRef(dims).drop_front(op.getAxis() + 1), k.context());
  dims[op.getAxis()] = k.constant(1);
  AffineExpr lines = simplifyDim(getNumElements(dims, k.context()));
  // Each task has memory of its own: of short lines, a task has several.
  constexpr int64_t taskElements = 16384, mostLines = 16;
  int64_t linesOfTask = std::clamp<int64_t>(taskElements / std::max<int64_t>(getConstantDim(size).value_or(taskElements), 1), 1, mostLines);
  AffineExpr tasks = simplifyDim(lines.ceilDiv(linesOfTask));
  Value scratch = k.scratch(k.builder().getI64Type(), countWords(op));
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    AffineExpr first = task[0] * linesOfTask;
    call(k, op, "kiln::top_k",
         {k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber()), k.resultBuffer(0), k.resultBuffer(1), scratch, k.emit(k.scratchStart()),
          k.emit(first), k.minimum(k.emit(first + linesOfTask), k.emit(lines)), k.emit(size), k.emit(countWanted(op)), k.emit(apart)});
  });
  AffineExpr elements = getNumElements(getDims(op.getInput().getType()), k.context());
  return LaunchInfo{tasks, elements * 8, elements * 4};
}

} // namespace kiln
