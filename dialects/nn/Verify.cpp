//===- Verify.cpp - Checks that several operations share -------------------===//
#include "dialects/nn/Verify.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"

using namespace mlir;

namespace kiln::nn {

LogicalResult verifyDims(Operation *op, Type type, ArrayRef<AffineExpr> expected, StringRef what) {
  DimExprs dims = getDims(type);
  if (dims.size() != expected.size())
    return op->emitOpError() << what << " has rank " << dims.size() << ", expected " << expected.size();
  for (auto [i, dim, want] : llvm::enumerate(dims, expected))
    if (!provablyEqual(dim, want))
      return op->emitOpError() << "dimension " << i << " of " << what << " is " << formatDim(dim) << ", expected " << formatDim(want);
  return success();
}

LogicalResult verifyElementwise(Operation *op) {
  DimExprs dims = getDims(op->getResult(0).getType());
  auto width = [](Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); };
  if (isa<BitcastOp>(op) && width(op->getOperand(0)) != width(op->getResult(0)))
    return op->emitOpError() << "reads " << width(op->getOperand(0)) << " bits as " << width(op->getResult(0));
  if (auto lookup = dyn_cast<LookupOp>(op)) {
    if (width(op->getOperand(0)) != 8 || width(op->getResult(0)) != 8)
      return op->emitOpError() << "looks up bytes; got " << op->getOperand(0).getType() << " and " << op->getResult(0).getType();
    if (lookup.getTable().size() != 256)
      return op->emitOpError() << "has a table of " << lookup.getTable().size() << " bytes, expected 256";
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(verifyDims(op, operand.getType(), dims, "operand " + std::to_string(i))))
      return failure();
  return success();
}

LogicalResult verifyAxis(Operation *op, int64_t axis, Type type) {
  int64_t rank = cast<RankedTensorType>(type).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError() << "axis " << axis << " is outside [0, " << rank << ")";
  return success();
}

LogicalResult verifyBody(Operation *op) {
  Block &block = op->getRegion(0).front();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("expected a body that ends in nn.yield");
  if (block.getArgumentTypes() != TypeRange(op->getOperandTypes()))
    return op->emitOpError("body arguments do not have the types of the inputs");
  if (TypeRange(block.getTerminator()->getOperandTypes()) != TypeRange(op->getResultTypes()))
    return op->emitOpError("yielded values do not have the types of the results");
  return success();
}

} // namespace kiln::nn
