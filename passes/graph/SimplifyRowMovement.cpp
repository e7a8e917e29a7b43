//===- SimplifyRowMovement.cpp - Movement around a row-wise composite ------===//
//
//   %a = nn.reshape %x : tensor<2x3x5xf32> -> tensor<2x15xf32>
//   %b = nn.layer_norm %a, %s axis 1
//   %r = nn.reshape %b : tensor<2x15xf32> -> tensor<2x3x5xf32>
//
// becomes
//
//   %r = nn.layer_norm %x, %s axis 1                    (shortened: the scale is reshaped)
//
// and the same for transposes that undo each other.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "passes/graph/ChainMatching.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// The row-wise operation that gives a value of its operand's shape, and no other user; null: none does.
static AlongAxis findRows(Value value) {
  auto rows = value.getDefiningOp<AlongAxis>();
  return rows && rows->hasOneUse() && rows->getNumResults() == 1 && rows->getOperand(0).getType() == value.getType() ? rows : nullptr;
}

static AffineExpr sizeOf(ArrayRef<AffineExpr> dims, MLIRContext *context) { return getNumElements(dims, context); }

namespace {

struct ReshapedRows : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The axis of `to` with the same rows as `axis` of `from`.
  static std::optional<int64_t> sameRows(AlongAxis op, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
    MLIRContext *context = op->getContext();
    uint64_t axis = op.getAxis();
    AffineExpr before = sizeOf(from.take_front(axis), context), after = sizeOf(from.drop_front(axis), context);
    for (auto [i, dim] : llvm::enumerate(to)) {
      bool isSameStart = provablyEqual(sizeOf(to.take_front(i), context), before) && provablyEqual(sizeOf(to.drop_front(i), context), after);
      if (isSameStart && (op.hasTrailingRows() || provablyEqual(dim, from[axis])))
        return i;
    }
    return std::nullopt;
  }

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    AlongAxis rows = findRows(op.getInput());
    if (!rows)
      return rewriter.notifyMatchFailure(op, "expected a row-wise composite without other users");
    auto inner = rows->getOperand(0).getDefiningOp<ReshapeOp>();
    if (!inner || inner.getInput().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expected a reshape from the type that the outer one makes");
    DimExprs to = getDims(op.getType());
    auto axis = sameRows(rows, getDims(inner.getType()), to);
    if (!axis)
      return rewriter.notifyMatchFailure(op, "expected the same rows in both shapes");
    Operation *moved = rewriter.clone(*rows);
    moved->setOperand(0, inner.getInput());
    moved->getResult(0).setType(op.getType());
    cast<AlongAxis>(moved).setAxis(*axis);
    RankedTensorType parameter = makeTensorType(ArrayRef(to).drop_front(*axis), op.getType().getElementType());
    rewriter.setInsertionPoint(moved);
    for (OpOperand &operand : llvm::drop_begin(moved->getOpOperands()))
      if (operand.get().getType() != parameter)
        operand.set(ReshapeOp::create(rewriter, moved->getLoc(), parameter, operand.get()));
    rewriter.replaceOp(op, moved);
    return success();
  }
};

struct TransposedRows : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    AlongAxis rows = findRows(op.getInput());
    auto inner = rows && isa<Permutable>(*rows) ? rows->getOperand(0).getDefiningOp<TransposeOp>() : TransposeOp();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "expected a transpose around a row-wise composite without other users");
    for (auto [i, dim] : llvm::enumerate(op.getPermutation()))
      if (inner.getPermutation()[dim] != static_cast<int64_t>(i))
        return rewriter.notifyMatchFailure(op, "expected transposes that undo each other");
    Operation *moved = rewriter.clone(*rows);
    moved->setOperand(0, inner.getInput());
    moved->getResult(0).setType(op.getType());
    cast<Permutable>(moved).permuteAttributes(op.getPermutation());
    rewriter.replaceOp(op, moved);
    return success();
  }
};

} // namespace

void kiln::populateRowMovementPatterns(RewritePatternSet &patterns) { patterns.add<ReshapedRows, TransposedRows>(patterns.getContext()); }
