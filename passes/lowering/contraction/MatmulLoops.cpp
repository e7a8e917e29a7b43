//===- MatmulLoops.cpp - Matrix products of any type -----------------------===//
//
//   for each element of the result: sum = 0; for k: sum += lhs[k] * rhs[k], in getSumType of the result's type
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/MovedBytes.h"
#include "passes/lowering/builder/RowLoops.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// An operand's element in the type that the sum has.
static Scalar operandAt(KernelBuilder &k, Value tensor, ArrayRef<AffineExpr> at, Type sum) {
  Type element = getElementTypeOrSelf(tensor.getType());
  return castTo(Scalar(k.builder(), k.loc(), k.value(tensor, at), element), sum);
}

FailureOr<LaunchInfo> lowerMatmulLoops(KernelBuilder &k, Operation *anchor) {
  auto op = cast<MatmulOp>(anchor);
  DimExprs extents = getDims(op.getType());
  AffineExpr depth = getDims(op.getLhs().getType()).back();
  Type element = op.getType().getElementType(), sumType = getSumType(element);
  unsigned rhsRank = cast<RankedTensorType>(op.getRhs().getType()).getRank();
  IndexExprs rows(ArrayRef(extents).drop_back());
  k.taskLoop(rows, [&](ArrayRef<AffineExpr> row) {
    k.loop(k.constant(0), extents.back(), 1, "column", [&](AffineExpr column) {
      Value zero = reductionIdentity(k, ReduceKind::Sum, sumType, 1);
      Value sum = k.loop(k.constant(0), depth, 1, "k", zero, [&](AffineExpr i, ValueRange carried) -> SmallVector<Value> {
        IndexExprs left(row), right(row.drop_back());
        left.push_back(i);
        if (rhsRank == 2)
          right.clear();
        right.append({i, column});
        Scalar product = operandAt(k, op.getLhs(), left, sumType) * operandAt(k, op.getRhs(), right, sumType);
        return {combine(k, ReduceKind::Sum, sumType, carried.front(), product.value())};
      }).front();
      IndexExprs at(row);
      at.push_back(column);
      k.storeResults(op.getResult(), castTo(Scalar(k.builder(), k.loc(), sum, sumType), element).value(), at);
    });
  });
  AffineExpr products = simplifyDim(getNumElements(extents, k.context()) * depth);
  return LaunchInfo{countTasks(k, rows), products * 2, countMovedBytes(k)};
}

} // namespace kiln
