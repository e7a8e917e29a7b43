//===- VerifyDataSized.cpp - Verifiers of results that only the data sizes --===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataSizedOps.h"
#include "dialects/nn/Verify.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// The symbol that the operation computes, and its count.
static FailureOr<AffineExpr> verifyCount(DataSized op) {
  MLIRContext *context = op.getContext();
  if (failed(verifyDims(op, op.getCountResult().getType(), getAffineConstantExpr(1, context), "the count")))
    return failure();
  return getAffineSymbolExpr(op.getCountedSymbol(), context);
}

static LogicalResult verifyRank(Operation *op, Value value, int64_t rank, StringRef what) {
  int64_t have = cast<RankedTensorType>(value.getType()).getRank();
  return have == rank ? success() : op->emitOpError() << what << " has rank " << have << ", expected " << rank;
}

LogicalResult NonZeroOp::verify() {
  FailureOr<AffineExpr> count = verifyCount(*this);
  AffineExpr rank = getAffineConstantExpr(getInput().getType().getRank(), getContext());
  return failed(count) ? failure() : verifyDims(*this, getIndices().getType(), {rank, *count}, "the indices");
}

LogicalResult NonMaxSuppressionOp::verify() {
  if (failed(verifyRank(*this, getBoxes(), 3, "boxes")) || failed(verifyRank(*this, getScores(), 3, "scores")))
    return failure();
  AffineExpr four = getAffineConstantExpr(4, getContext()), three = getAffineConstantExpr(3, getContext());
  DimExprs boxes = getDims(getBoxes().getType()), scores = getDims(getScores().getType());
  if (failed(verifyDims(*this, getBoxes().getType(), {scores[0], scores[2], four}, "boxes")))
    return failure();
  for (Value scalar : getOperands().drop_front(2))
    if (getConstantDim(getNumElements(getDims(scalar.getType()), getContext())) != 1)
      return emitOpError("expected limits and thresholds of one element");
  FailureOr<AffineExpr> count = verifyCount(*this);
  return failed(count) ? failure() : verifyDims(*this, getSelected().getType(), {*count, three}, "the result");
}

LogicalResult UniqueOp::verify() {
  if (failed(verifyRank(*this, getRows(), 2, "rows")))
    return failure();
  FailureOr<AffineExpr> count = verifyCount(*this);
  if (failed(count) || failed(verifyDims(*this, getFirst().getType(), *count, "the places")))
    return failure();
  if (failed(verifyDims(*this, getSizes().getType(), *count, "the sizes")))
    return failure();
  return verifyDims(*this, getInverse().getType(), getDim(getRows().getType(), 0), "the inverse");
}

LogicalResult ComputedDimOp::verify() {
  if (getConstantDim(getNumElements(getDims(getValue().getType()), getContext())) != 1)
    return emitOpError("expected one number");
  return failure(failed(verifyCount(*this)));
}
