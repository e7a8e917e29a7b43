//===- RecognizeLosses.cpp - Losses in their parts --------------------------===//
//
//   nn.neg (nn.gather_elements %x, %t axis 1)     nn.negative_log_likelihood none %x, %t
//   %l * (nn.gather %w, %t axis 0)                ... weight %w
//   nn.reduce sum %l                              nn.negative_log_likelihood sum
//   %s / (nn.reduce sum (nn.gather %w, %t))       nn.negative_log_likelihood mean
//   the input is a log softmax                    nn.softmax_cross_entropy
//
// one step after the other, in the spellings of ONNX's function bodies: reshapes anywhere, and a choice of zero where the class is ignored.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNLossOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "passes/graph/BodyMatching.h"
#include "passes/graph/ChainMatching.h"
#include "passes/graph/Terms.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

using Loss = NegativeLogLikelihoodOp;

/// The same elements in the same order.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

static Value reshapeTo(PatternRewriter &rewriter, Location loc, Type type, Value value) {
  return value.getType() == type ? value : Value(ReshapeOp::create(rewriter, loc, type, value));
}

namespace {
/// The class of each position, and the class that is ignored.
struct Classes {
  Value target;
  std::optional<int64_t> ignored;

  static Classes of(Loss loss) {
    auto ignored = loss.getIgnoreIndex();
    return {skipClasses(loss.getTarget()), ignored ? std::optional<int64_t>(*ignored) : std::nullopt};
  }
  static Classes find(Value indices);
  bool areIgnored(Value condition) const;
  Value dropIgnored(Value picked) const;
  bool operator==(const Classes &other) const { return target == other.target && ignored == other.ignored; }

private:
  /// Indices of 32 bits may have been widened.
  static Value skipClasses(Value value) {
    value = skipReshapes(value);
    auto cast = value.getDefiningOp<CastOp>();
    bool widens = cast && isa<IntegerType>(cast.getX().getType().getElementType()) && cast.getX().getType().getElementType().isInteger(32);
    return widens ? skipReshapes(cast.getX()) : value;
  }
};
} // namespace

/// An ignored class is replaced by 0.
Classes Classes::find(Value indices) {
  indices = skipReshapes(indices);
  auto select = indices.getDefiningOp<SelectOp>();
  auto equal = select ? skipReshapes(select.getCondition()).getDefiningOp<EqualOp>() : EqualOp();
  if (equal && getUniformNumber(select.getX()) == 0.0)
    for (unsigned side : {0, 1}) {
      Classes classes{skipClasses(select.getY()), std::nullopt};
      if (auto number = getUniformNumber(equal->getOperand(side)); number && skipClasses(equal->getOperand(1 - side)) == classes.target) {
        classes.ignored = static_cast<int64_t>(*number);
        return classes;
      }
    }
  return {skipClasses(indices), std::nullopt};
}

bool Classes::areIgnored(Value condition) const {
  auto equal = skipReshapes(condition).getDefiningOp<EqualOp>();
  for (unsigned side : {0, 1})
    if (equal && ignored && skipClasses(equal->getOperand(side)) == target && getUniformNumber(equal->getOperand(1 - side)) == static_cast<double>(*ignored))
      return true;
  return false;
}

/// The values picked for the classes that count; null if those of ignored classes are not zero.
Value Classes::dropIgnored(Value picked) const {
  picked = skipReshapes(picked);
  if (!ignored)
    return picked;
  auto select = picked.getDefiningOp<SelectOp>();
  return select && getUniformNumber(select.getX()) == 0.0 && areIgnored(select.getCondition()) ? skipReshapes(select.getY()) : Value();
}

/// Whether `weights` are those of the loss's places, from `weight` or, where that is null, 1.
static bool matchWeights(Loss loss, Value weights, Value &weight) {
  Classes classes = Classes::of(loss);
  Value picked = classes.dropIgnored(weights);
  weight = {};
  if (!picked)
    return false;
  if (classes.ignored && getUniformNumber(picked) == 1.0)
    return true;
  auto gather = picked.getDefiningOp<GatherOp>();
  // A weight of another size does not match the classes of the loss.
  if (!gather || gather.getAxis() != 0 || gather.getInput().getType().getRank() != 1 ||
      getDims(gather.getInput().getType())[0] != getDims(loss.getInput().getType())[1])
    return false;
  weight = gather.getInput();
  return Classes::find(gather.getIndices()) == classes;
}

/// The losses of all positions from which a value with a single use is computed.
static Loss findLoss(Value value, LossReduction reduction) {
  auto loss = skipReshapes(value).getDefiningOp<Loss>();
  return loss && loss.getReduction() == reduction && loss->hasOneUse() ? loss : Loss();
}

static bool reducesAll(ReduceOp reduce) { return static_cast<int64_t>(reduce.getAxes().size()) == reduce.getInput().getType().getRank(); }

/// The same loss with another reduction and weight, in place of `op`.
static void replaceLoss(PatternRewriter &rewriter, Operation *op, Loss loss, LossReduction reduction, Value weight) {
  Location loc = rewriter.getFusedLoc({loss.getLoc(), op->getLoc()});
  bool keeps = reduction == LossReduction::None;
  RankedTensorType type = keeps ? loss.getLoss().getType() : makeTensorType({}, loss.getLoss().getType().getElementType());
  Value whole = Loss::create(rewriter, loc, type, reduction, loss.getInput(), loss.getTarget(), weight, loss.getIgnoreIndexAttr());
  rewriter.replaceOp(op, reshapeTo(rewriter, loc, op->getResult(0).getType(), whole));
}

namespace {

struct RaisePicked : OpRewritePattern<NegOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NegOp op, PatternRewriter &rewriter) const override {
    Value picked = skipReshapes(op.getX());
    if (auto select = picked.getDefiningOp<SelectOp>())
      picked = skipReshapes(select.getY());
    auto gather = picked.getDefiningOp<GatherElementsOp>();
    if (!gather || gather.getAxis() != 1 || gather.getInput().getType().getRank() < 2 || !isa<FloatType>(gather.getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "expected elements that are gathered along axis 1");
    Classes classes = Classes::find(gather.getIndices());
    DimExprs expected = getDims(gather.getInput().getType());
    expected[1] = rewriter.getAffineConstantExpr(1);
    if (getDims(gather.getType()) != expected || classes.dropIgnored(op.getX()) != gather.getResult())
      return rewriter.notifyMatchFailure(op, "expected one class per position, and zero where it is ignored");
    expected.erase(expected.begin() + 1);
    Location loc = chainLocation(op, gather.getInput());
    auto index = cast<RankedTensorType>(classes.target.getType()).getElementType();
    Value target = reshapeTo(rewriter, loc, makeTensorType(expected, index), classes.target);
    IntegerAttr ignored = classes.ignored ? rewriter.getI64IntegerAttr(*classes.ignored) : IntegerAttr();
    Value loss = Loss::create(rewriter, loc, makeTensorType(expected, gather.getType().getElementType()), LossReduction::None, gather.getInput(), target,
                              Value(), ignored);
    rewriter.replaceOp(op, reshapeTo(rewriter, loc, op.getType(), loss));
    return success();
  }
};

struct RaiseWeighted : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (unsigned side : {0, 1}) {
      Value weight;
      Loss loss = findLoss(op->getOperand(side), LossReduction::None);
      if (!loss || loss.getWeight() || !matchWeights(loss, op->getOperand(1 - side), weight))
        continue;
      replaceLoss(rewriter, op, loss, LossReduction::None, weight);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a loss and the weights of its classes");
  }
};

struct RaiseReduced : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Loss loss = findLoss(op.getInput(), LossReduction::None);
    bool isMean = op.getKind() == ReduceKind::Mean;
    if (!loss || !reducesAll(op) || !(isMean || op.getKind() == ReduceKind::Sum) || (isMean && (loss.getWeight() || loss.getIgnoreIndex())))
      return rewriter.notifyMatchFailure(op, "expected the sum of all losses, or their mean where each weighs the same");
    replaceLoss(rewriter, op, loss, isMean ? LossReduction::Mean : LossReduction::Sum, loss.getWeight());
    return success();
  }
};

struct RaiseWeightedMean : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    Loss loss = findLoss(op.getX(), LossReduction::Sum);
    auto reduce = skipReshapes(op.getY()).getDefiningOp<ReduceOp>();
    Value weight;
    if (!loss || !reduce || reduce.getKind() != ReduceKind::Sum || !reducesAll(reduce) || !matchWeights(loss, reduce.getInput(), weight) ||
        weight != loss.getWeight())
      return rewriter.notifyMatchFailure(op, "expected a sum of losses and the sum of their weights");
    replaceLoss(rewriter, op, loss, LossReduction::Mean, weight);
    return success();
  }
};

/// Runs after losses have been recognised, because their patterns look for negative_log_likelihood.
struct RaiseCrossEntropy : OpRewritePattern<Loss> {
  using OpRewritePattern::OpRewritePattern;

  static auto isBehind(Loss op) {
    return [op](Operation *user) mutable { return user == op || (user->getBlock() == op->getBlock() && op->isBeforeInBlock(user)); };
  }

  LogicalResult matchAndRewrite(Loss op, PatternRewriter &rewriter) const override {
    auto logs = skipReshapes(op.getInput()).getDefiningOp<LogSoftmaxOp>();
    if (!logs || logs.getAxis() != 1 || ArrayRef(getDims(logs.getType())).take_front(2) != ArrayRef(getDims(op.getInput().getType())).take_front(2))
      return rewriter.notifyMatchFailure(op, "expected the log softmax of the classes");
    // The other users get the value from the loss, which must precede them.
    for (Operation *user : logs->getUsers())
      if (!(isa<ReshapeOp>(user) ? llvm::all_of(user->getUsers(), isBehind(op)) : isBehind(op)(user)))
        return rewriter.notifyMatchFailure(op, "expected no user of the log softmax before the loss");
    Location loc = rewriter.getFusedLoc({logs.getLoc(), op.getLoc()});
    Type type = op.getInput().getType();
    Value input = reshapeTo(rewriter, loc, type, logs.getInput());
    auto whole = SoftmaxCrossEntropyOp::create(rewriter, loc, op.getLoss().getType(), type, op.getReduction(), input, op.getTarget(), op.getWeight(),
                                               op.getIgnoreIndexAttr(), logs.getAccuracy());
    rewriter.replaceOp(op, whole.getLoss());
    replaceLogs(rewriter, logs, whole);
    return success();
  }

  static void replaceLogs(PatternRewriter &rewriter, LogSoftmaxOp logs, SoftmaxCrossEntropyOp whole) {
    for (Operation *user : llvm::make_early_inc_range(logs->getUsers()))
      if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointAfter(whole);
        rewriter.replaceOp(reshape, reshapeTo(rewriter, reshape.getLoc(), reshape.getType(), whole.getLogProb()));
      }
    if (!logs->use_empty())
      rewriter.replaceAllUsesWith(logs, reshapeTo(rewriter, logs.getLoc(), logs.getType(), whole.getLogProb()));
    rewriter.eraseOp(logs);
  }
};

} // namespace

void kiln::populateLossPatterns(RewritePatternSet &patterns) {
  patterns.add<RaisePicked, RaiseWeighted, RaiseReduced, RaiseWeightedMean>(patterns.getContext());
}

void kiln::populateCrossEntropyPatterns(RewritePatternSet &patterns) { patterns.add<RaiseCrossEntropy>(patterns.getContext()); }
