//===- Canonicalize.cpp - One form for operations that say the same --------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// A broadcast of a broadcast is one broadcast.
static LogicalResult mergeBroadcasts(BroadcastToOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastToOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "expected a broadcast operand");
  rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

/// A broadcast number is a splat.
static LogicalResult broadcastNumber(BroadcastToOp op, PatternRewriter &rewriter) {
  ElementsAttr constant = getConstant(op.getInput());
  auto splat = op.getInput().getDefiningOp<SplatOp>();
  if (!splat && !(constant && constant.getNumElements() == 1))
    return rewriter.notifyMatchFailure(op, "expected one number");
  TypedAttr number = splat ? splat.getValue() : nullptr;
  if (!splat) {
    auto dense = dyn_cast<DenseElementsAttr>(constant);
    if (!dense)
      return rewriter.notifyMatchFailure(op, "expected a small constant");
    number = cast<TypedAttr>(dense.getValues<Attribute>()[0]);
  }
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), number);
  return success();
}

/// A broadcast adds leading dimensions itself.
static LogicalResult dropLeadingUnits(BroadcastToOp op, PatternRewriter &rewriter) {
  auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
  if (!reshape)
    return rewriter.notifyMatchFailure(op, "expected a reshaped operand");
  DimExprs from = getDims(reshape.getInput().getType()), to = getDims(reshape.getType());
  if (from.size() >= to.size() || ArrayRef(to).take_back(from.size()) != ArrayRef(from))
    return rewriter.notifyMatchFailure(op, "expected a reshape that adds leading dimensions only");
  rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(reshape.getInput()); });
  return success();
}

void BroadcastToOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeBroadcasts);
  patterns.add(broadcastNumber);
  patterns.add(dropLeadingUnits);
}

/// A transpose that moves only dimensions of size one is a reshape.
static LogicalResult transposeUnits(TransposeOp op, PatternRewriter &rewriter) {
  if (!permutesOnlyUnits(op.getInput().getType(), op.getPermutation()))
    return rewriter.notifyMatchFailure(op, "expected moved dimensions of size one");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(transposeUnits); }

/// The reshape of a number in all places is that number in all places.
static LogicalResult reshapeSplat(ReshapeOp op, PatternRewriter &rewriter) {
  auto splat = op.getInput().getDefiningOp<SplatOp>();
  if (!splat)
    return rewriter.notifyMatchFailure(op, "expected a splat");
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getValue());
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(reshapeSplat); }

//===- Folds of single operations ------------------------------------------===//

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  DimExprs dims = getDims(getInput().getType());
  bool unit = llvm::all_of(getAxes(), [&](int64_t axis) { return getConstantDim(dims[axis]) == 1; });
  return unit && getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](AffineExpr expr) { return getConstantDim(expr) == 0; };
  bool none = llvm::all_of(getLow().getResults(), isZero) && llvm::all_of(getHigh().getResults(), isZero) &&
              llvm::all_of(getInterior(), [](int64_t interior) { return interior == 0; });
  return none && getInput().getType() == getType() ? getInput() : Value();
}

OpFoldResult DimValuesOp::fold(FoldAdaptor) {
  SmallVector<APInt> values;
  for (AffineExpr expr : getMap().getResults()) {
    std::optional<int64_t> value = getConstantDim(expr);
    if (!value)
      return {};
    values.push_back(APInt(getType().getElementTypeBitWidth(), *value, true, true));
  }
  return DenseElementsAttr::get(getType(), values);
}
