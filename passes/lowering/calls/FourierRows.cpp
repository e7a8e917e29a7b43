//===- FourierRows.cpp - Fourier transforms of rows --------------------------===//
//
//   kiln::fourier_rows<16>(x, table, out, scratch, start, begin, end, 512, ...)     a task is some rows, one a lane of the vectors
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/Fourier.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchFourierRows(GroupOp, Operation *anchor, kernel::TargetAttr) {
  FourierPlan plan = FourierPlan::of(cast<FourierOp>(anchor));
  std::string reason = plan.packs ? "pairs of real numbers as complex ones, " : "";
  llvm::raw_string_ostream stream(reason);
  if (plan.padded)
    reason += ("a convolution with a chirp by two transforms of " + Twine(plan.padded) + " points, ").str();
  llvm::interleaveComma(plan.factors, stream << "stages of radix ");
  return accept(reason);
}

FailureOr<LaunchInfo> lowerFourierRows(KernelBuilder &k, Operation *anchor) {
  auto op = cast<FourierOp>(anchor);
  FourierPlan plan = FourierPlan::of(op);
  Type element = op.getType().getElementType();
  unsigned lanes = std::max(2u, lanesOf(k.target(), element));
  DimExprs dims = getDims(op.getType());
  AffineExpr rows = getNumElements(ArrayRef(dims).drop_back(2), k.context());
  // Each task has two arrays of points for its lanes; of several blocks they are half as large as the data.
  constexpr int64_t blocks = 4;
  int64_t room = std::max<int64_t>(op.getLength(), plan.padded), rowsOfTask = lanes * blocks;
  AffineExpr tasks = simplifyDim(rows.ceilDiv(rowsOfTask));
  Value scratch = k.scratch(element, (4 * room + 2 * plan.largestUnusual()) * lanes);
  StringAttr callee = k.builder().getStringAttr(op.getFunction() + "<" + Twine(lanes) + ">");
  SmallVector<Value> arguments = {k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber()),
                                  k.buffer(cast<BlockArgument>(op.getTable()).getArgNumber()), k.resultBuffer(0), scratch, k.emit(k.scratchStart())};
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    SmallVector<Value> operands(arguments);
    operands.push_back(k.emit(task[0] * rowsOfTask));
    operands.push_back(k.minimum(k.emit(task[0] * rowsOfTask + rowsOfTask), k.emit(rows)));
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), callee, operands, op.getLiterals());
  });
  int64_t size = element.getIntOrFloatBitWidth() / 8;
  AffineExpr elements = getNumElements(getDims(op.getInput().getType()), k.context()) + getNumElements(getDims(op.getType()), k.context());
  return LaunchInfo{tasks, simplifyDim(rows * plan.flops()), simplifyDim(elements * size)};
}

} // namespace kiln
