//===- MoveTransposes.cpp - Moving layout changes towards each other -------===//
//
//   %t = nn.transpose %x [0, 3, 1, 2]              %r' = nn.relu %x
//   %r = nn.relu %t                       ->       %r  = nn.transpose %r' [0, 3, 1, 2]
//
// Sinking brings the change back to channels_first of one convolution to the change to channels_last of the next one, where they cancel.
//
//===----------------------------------------------------------------------===//
#include "passes/target/MoveTransposes.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Permute.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// A constant, or what is computed from constants and from smaller values only: its transpose costs nothing that counts.
static bool isCheap(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<ConstantOp, SplatOp, IotaOp>(op))
    return true;
  if (auto broadcast = dyn_cast<BroadcastToOp>(op))
    return getDims(broadcast.getInput().getType()) != getDims(broadcast.getType());
  return isa<ReshapeOp, TransposeOp>(op) && isCheap(op->getOperand(0));
}

bool kiln::movesData(Value value, ArrayRef<int64_t> permutation) {
  if (auto inner = value.getDefiningOp<TransposeOp>(); inner && isIdentityPermutation(applyPermutation(inner.getPermutation(), permutation)))
    return false;
  return !isCheap(value) && !permutesOnlyUnits(value.getType(), permutation);
}

/// Whether an operation can be built on permuted operands: all that are not scalars have one rank.
static bool isPermutable(Permutable op, int64_t rank) {
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    int64_t have = cast<RankedTensorType>(type).getRank();
    return have == rank || have == 0;
  });
}

namespace {

/// op(transpose(x), ...) -> transpose(op(x, ...)), when it takes away at least as many transposes as it adds.
struct SinkThroughOp : OpInterfaceRewritePattern<Permutable> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(Permutable op, PatternRewriter &rewriter) const override {
    // A transpose is cheaper before a broadcast: HoistThroughBroadcast.
    if (op->getNumResults() == 0 || isa<BroadcastToOp>(op))
      return rewriter.notifyMatchFailure(op, "expected a result that is not broadcast");
    int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
    if (rank < 3 || !isPermutable(op, rank))
      return rewriter.notifyMatchFailure(op, "expected operands of rank 3 or more, all alike");
    SmallVector<int64_t> back = toChannelsFirst(rank), there = toChannelsLast(rank);
    SmallPtrSet<Value, 4> removed, added;
    for (Value operand : op->getOperands()) {
      auto transpose = operand.getDefiningOp<TransposeOp>();
      if (transpose && transpose.getPermutation() == ArrayRef(back))
        removed.insert(operand);
      else if (cast<RankedTensorType>(operand.getType()).getRank() == rank && movesData(operand, there))
        added.insert(operand);
    }
    if (removed.empty() || added.size() >= removed.size())
      return rewriter.notifyMatchFailure(op, "expected more transposed operands than others");
    Operation *permuted = buildPermuted(rewriter, op, there);
    SmallVector<Value> results;
    for (Value result : permuted->getResults())
      results.push_back(makeTranspose(rewriter, op.getLoc(), result, back));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// transpose(op(x, ...)) -> op(transpose(x), ...), likewise.
struct HoistThroughOp : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose, PatternRewriter &rewriter) const override {
    int64_t rank = transpose.getType().getRank();
    if (transpose.getPermutation() != ArrayRef(toChannelsLast(rank)) || isCheap(transpose.getInput()))
      return rewriter.notifyMatchFailure(transpose, "expected a change to channels_last of a computed value");
    auto op = transpose.getInput().getDefiningOp<Permutable>();
    if (!op || !op->hasOneUse() || op->getNumResults() != 1 || !isPermutable(op, rank))
      return rewriter.notifyMatchFailure(transpose, "expected an operand that commutes with it and has no other user");
    SmallPtrSet<Value, 4> added;
    for (Value operand : op->getOperands())
      if (cast<RankedTensorType>(operand.getType()).getRank() == rank && movesData(operand, transpose.getPermutation()))
        added.insert(operand);
    if (added.size() > 1)
      return rewriter.notifyMatchFailure(op, "expected at most one operand that would need a transpose");
    rewriter.replaceOp(transpose, buildPermuted(rewriter, op, transpose.getPermutation())->getResults());
    return success();
  }
};

/// A transpose of a broadcast is a broadcast of the smaller transpose, whatever the ranks are.
struct HoistThroughBroadcast : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose, PatternRewriter &rewriter) const override {
    auto broadcast = transpose.getInput().getDefiningOp<BroadcastToOp>();
    if (!broadcast)
      return rewriter.notifyMatchFailure(transpose, "expected a broadcast operand");
    DimExprs dims = getDims(broadcast.getInput().getType());
    Value small = broadcast.getInput();
    size_t added = transpose.getType().getRank() - dims.size();
    if (added > 0) {
      dims.insert(dims.begin(), added, rewriter.getAffineConstantExpr(1));
      small = ReshapeOp::create(rewriter, broadcast.getLoc(), makeTensorType(dims, transpose.getType().getElementType()), small);
    }
    small = makeTranspose(rewriter, transpose.getLoc(), small, transpose.getPermutation());
    rewriter.replaceOpWithNewOp<BroadcastToOp>(transpose, transpose.getType(), small);
    return success();
  }
};

struct SinkThroughReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp reshape, PatternRewriter &rewriter) const override {
    auto transpose = reshape.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || isCheap(transpose.getInput()))
      return rewriter.notifyMatchFailure(reshape, "expected a computed, transposed operand");
    FailureOr<Value> sunk = sinkTransposeThroughReshape(rewriter, reshape, transpose);
    if (failed(sunk))
      return rewriter.notifyMatchFailure(reshape, "expected merged dimensions to be neighbours before the transpose");
    rewriter.replaceOp(reshape, *sunk);
    return success();
  }
};

struct HoistThroughReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose, PatternRewriter &rewriter) const override {
    auto reshape = transpose.getInput().getDefiningOp<ReshapeOp>();
    if (!reshape || !reshape->hasOneUse() || !reshape.getInput().getDefiningOp<TransposeOp>())
      return rewriter.notifyMatchFailure(transpose, "expected a reshape of another transpose");
    FailureOr<Value> hoisted = hoistTransposeThroughReshape(rewriter, transpose, reshape);
    if (failed(hoisted))
      return rewriter.notifyMatchFailure(transpose, "expected split dimensions to stay neighbours");
    rewriter.replaceOp(transpose, *hoisted);
    return success();
  }
};

/// What has the same number everywhere, or counts, is built in the wanted order.
struct TransposeOfGenerator : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose, PatternRewriter &rewriter) const override {
    auto op = transpose.getInput().getDefiningOp<Permutable>();
    if (!op || op->getNumOperands() != 0)
      return rewriter.notifyMatchFailure(transpose, "expected an operation without operands");
    rewriter.replaceOp(transpose, buildPermuted(rewriter, op, transpose.getPermutation())->getResults());
    return success();
  }
};

struct MergeTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose, PatternRewriter &rewriter) const override {
    if (!transpose.getInput().getDefiningOp<TransposeOp>())
      return rewriter.notifyMatchFailure(transpose, "expected a transposed operand");
    rewriter.replaceOp(transpose, makeTranspose(rewriter, transpose.getLoc(), transpose.getInput(), transpose.getPermutation()));
    return success();
  }
};

} // namespace

void kiln::populateSinkTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<SinkThroughOp, SinkThroughReshape>(patterns.getContext());
}

void kiln::populateHoistTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<HoistThroughOp, HoistThroughReshape>(patterns.getContext());
}

void kiln::populateMergeTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<MergeTranspose, TransposeOfGenerator, HoistThroughBroadcast>(patterns.getContext());
}
