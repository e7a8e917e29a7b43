//===- DistancePanels.cpp - Distances between rows -----------------------------===//
//
//   kiln::distances<16>(a, b, out, scratch, start, row, row_end, column, column_end, columns, depth)     a task is some rows and a panel of columns
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/RowLoops.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The constants of runtime/include/kiln/distances.h: vectors in a panel, elements of a row in it, and from how many rows on there is one.
static constexpr int64_t panelVectors = 2, panelDepth = 512, panelRows = 8;

KernelMatch matchDistancePanels(GroupOp, Operation *, kernel::TargetAttr) {
  return accept("differences of rows are squared and summed, vectors along the rows of the right side");
}

FailureOr<LaunchInfo> lowerDistancePanels(KernelBuilder &k, Operation *anchor) {
  auto op = cast<DistancesOp>(anchor);
  Type element = op.getType().getElementType();
  int64_t lanes = std::max(2u, lanesOf(k.target(), element)), width = panelVectors * lanes;
  DimExprs dims = getDims(op.getType());
  AffineExpr depth = getDims(op.getLhs().getType())[1];
  // Each task packs its panel: many rows make up for that.
  constexpr int64_t rowsOfTask = 512;
  IndexExprs tasks = {simplifyDim(dims[0].ceilDiv(rowsOfTask)), simplifyDim(dims[1].ceilDiv(width))};
  auto rows = getConstantDim(dims[0]), elements = getConstantDim(depth);
  int64_t packed = rows && *rows < panelRows ? 1 : std::clamp<int64_t>(elements.value_or(panelDepth), 1, panelDepth);
  Value scratch = k.scratch(element, packed * width);
  SmallVector<Value> arguments = {k.buffer(cast<BlockArgument>(op.getLhs()).getArgNumber()), k.buffer(cast<BlockArgument>(op.getRhs()).getArgNumber()),
                                  k.resultBuffer(0), scratch, k.emit(k.scratchStart())};
  StringAttr callee = k.builder().getStringAttr("kiln::distances<" + Twine(lanes) + ">");
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    SmallVector<Value> operands(arguments);
    auto addRange = [&](AffineExpr first, int64_t count, AffineExpr end) {
      operands.push_back(k.emit(first));
      operands.push_back(k.minimum(k.emit(first + count), k.emit(end)));
    };
    addRange(task[0] * rowsOfTask, rowsOfTask, dims[0]);
    addRange(task[1] * width, width, dims[1]);
    operands.push_back(k.emit(dims[1]));
    operands.push_back(k.emit(depth));
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), callee, operands, k.builder().getArrayAttr({}));
  });
  AffineExpr pairs = simplifyDim(dims[0] * dims[1]), read = simplifyDim((dims[0] + dims[1]) * depth);
  return LaunchInfo{countTasks(k, tasks), simplifyDim(pairs * depth * 3), simplifyDim((pairs + read) * (element.getIntOrFloatBitWidth() / 8))};
}

} // namespace kiln
