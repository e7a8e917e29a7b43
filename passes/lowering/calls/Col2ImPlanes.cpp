//===- Col2ImPlanes.cpp - Overlapping blocks that are added up ----------------===//
//
//   kiln::col2im<16>(x, out, begin, end, {...}, 18)     a task is some planes: one channel of one image each
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNCallOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchCol2ImPlanes(GroupOp, Operation *, kernel::TargetAttr) {
  return accept("blocks are added to the image, one element of all blocks at a time");
}

FailureOr<LaunchInfo> lowerCol2ImPlanes(KernelBuilder &k, Operation *anchor) {
  auto op = cast<Col2ImOp>(anchor);
  DimExprs in = getDims(op.getInput().getType()), out = getDims(op.getType());
  AffineExpr planes = simplifyDim(out[0] * out[1]);
  int64_t added = op.getInput().getType().getDimSize(2);
  for (int64_t size : op.getBlock())
    added *= size;
  // A task of small planes has several of them.
  constexpr int64_t taskElements = 16384;
  int64_t each = std::max<int64_t>(1, taskElements / std::max<int64_t>(added, 1));
  AffineExpr tasks = simplifyDim(planes.ceilDiv(each));
  unsigned lanes = std::max(2u, lanesOf(k.target(), op.getType().getElementType()));
  StringAttr callee = k.builder().getStringAttr(op.getFunction() + "<" + Twine(lanes) + ">");
  SmallVector<Value> arguments = {k.buffer(cast<BlockArgument>(op.getInput()).getArgNumber()), k.resultBuffer(0)};
  k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
    SmallVector<Value> operands(arguments);
    operands.push_back(k.emit(task[0] * each));
    operands.push_back(k.minimum(k.emit(task[0] * each + each), k.emit(planes)));
    kernel::RuntimeCallOp::create(k.builder(), k.loc(), callee, operands, op.getLiterals());
  });
  AffineExpr elements = getNumElements(in, k.context()) + getNumElements(out, k.context());
  return LaunchInfo{tasks, simplifyDim(planes * added), simplifyDim(elements * (op.getType().getElementTypeBitWidth() / 8))};
}

} // namespace kiln
