//===- WinogradFilters.cpp - Filters as Winograd's convolution wants them --===//
//
//   for each panel of output channels and each input channel: [place, panel, in, column] = (G filter G')[place]
//
// Vectors run across the output channels.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/lowering/convolution/WinogradLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchWinogradFilters(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto weight = dyn_cast<BlockArgument>(cast<WinogradFilterOp>(anchor).getWeight());
  if (!weight || !group.isConstantInput(weight.getArgNumber()))
    return refuse("the filters are not constant");
  PlanNumbers numbers;
  numbers.blocks = target.tuned(kernel::Tuned::FilterChannels);
  return accept("the transformed filters would enlarge the library fourfold and cost a run next to nothing", std::move(numbers));
}

FailureOr<LaunchInfo> lowerWinogradFilters(KernelBuilder &k, Operation *anchor) {
  auto op = cast<WinogradFilterOp>(anchor);
  ArrayRef<int64_t> shape = op.getType().getShape();
  ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
  int64_t channelsPerTask = k.group().getPlan()->getBlocks();
  int64_t panels = shape[1], rows = shape[2], width = shape[3], out = weight[0], in = weight[1];
  unsigned argument = cast<BlockArgument>(op.getWeight()).getArgNumber();
  k.packConstant(argument, packFilters(k.context(), out, in, width));
  FilterTransform transform(k, op.getTile(), op.getType().getElementType(), width);
  IndexExprs extents{k.constant(panels), k.constant(llvm::divideCeilSigned(in, channelsPerTask))};
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    AffineExpr first = k.index(k.emit(task[1] * channelsPerTask)), end = first + channelsPerTask;
    if (in % channelsPerTask)
      end = k.index(k.minimum(k.emit(end), k.emitConstant(in)));
    k.loop(first, end, 1, "channel", [&](AffineExpr channel) {
      AffineExpr from = k.index(k.emit((task[0] * in + channel) * (9 * width))), to = k.index(k.emit((task[0] * rows + channel) * width));
      transform.emit(k.buffer(argument), from, k.resultBuffer(0), to, panels * rows * width);
    });
  });
  int64_t columns = panels * in * width;
  return LaunchInfo{countTasks(k, extents), k.constant(columns * 80), k.constant(columns * (9 + shape[0]) * 4)};
}

} // namespace kiln
