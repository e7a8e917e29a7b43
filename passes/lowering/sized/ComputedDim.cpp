//===- ComputedDim.cpp - A number as a dimension ----------------------------===//
//
//   count = min(max(x, 0), bound), or max(x, 0) where the entry checks a bound of the caller's
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "passes/lowering/sized/IndexValues.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

FailureOr<LaunchInfo> lowerComputedDim(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ComputedDimOp>(anchor);
  ComputedDims dims(op->getParentOfType<ModuleOp>());
  bool isChecked = dims.findRaised(op.getCounts()).has_value();
  AffineExpr one = k.constant(1), bound = dims.getBound(op.getCounts());
  SmallVector<AffineExpr> at(op.getValue().getType().getRank(), k.constant(0));
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    Value zero = k.emitConstant(0), number = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getIndexType(), k.value(op.getValue(), at));
    Value positive = choose(k, isLess(k, number, zero), zero, number);
    IndexArray{k, k.resultBuffer(0)}.store(zero, isChecked ? positive : k.minimum(positive, k.emit(bound)));
  });
  return LaunchInfo{one, one, k.constant(16)};
}

} // namespace kiln
