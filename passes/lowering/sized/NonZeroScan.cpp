//===- NonZeroScan.cpp - Coordinates of what is not zero --------------------===//
//
//   n = 0;  for each element at (i, j): if (x[i, j] != 0) { out[0, n] = i; out[1, n] = j; ++n }        count = n
//
// Rows of the result are as long as the count: with more than one, a first walk counts. One task: places stand in row-major order.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/sized/IndexValues.h"
#include "passes/target/choice/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

FailureOr<LaunchInfo> lowerNonZeroScan(KernelBuilder &k, Operation *anchor) {
  auto op = cast<NonZeroOp>(anchor);
  DimExprs dims = getDims(op.getInput().getType());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  auto isSet = [&](ArrayRef<AffineExpr> at) {
    Value x = k.value(op.getInput(), at);
    return element.isInteger(1) ? x : (~(Scalar(k.builder(), k.loc(), x, element) == Scalar(k.builder(), k.loc(), x, element).like(0))).value();
  };
  auto step = [&](Value set, Value n) { return choose(k, set, addIndex(k, n, k.emitConstant(1)), n); };
  AffineExpr one = k.constant(1);
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    Value zero = k.emitConstant(0), count = zero;
    if (dims.size() > 1)
      count = walkIndices(k, dims, zero, [&](ArrayRef<AffineExpr> at, Value n) { return step(isSet(at), n); });
    IndexArray indices{k, k.resultBuffer(0)};
    Value found = walkIndices(k, dims, zero, [&](ArrayRef<AffineExpr> at, Value n) {
      Value set = isSet(at);
      IndexExprs place(at);
      k.branch(set, [&] {
        for (auto [row, coordinate] : llvm::enumerate(place))
          indices.store(k.emit(k.index(count) * static_cast<int64_t>(row) + k.index(n)), k.emit(coordinate));
      });
      return step(set, n);
    });
    IndexArray{k, k.resultBuffer(1)}.store(zero, found);
  });
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{one, elements * 2, elements * 8};
}

} // namespace kiln
