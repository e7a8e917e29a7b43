//===- RecognizeAttention.cpp - Products around a softmax ------------------===//
//
//   %s = nn.matmul %q, (nn.transpose %k)
//   %p = nn.softmax (%s / 8.0 + %mask) axis last
//   %r = nn.matmul %p, %v
//
// becomes
//
//   %r = nn.attention query(%q) key(%k) value(%v) bias(%mask) scale 0.125
//
// The scale may be applied to the scores, the queries or the keys. A mask is added, or selects; one that depends only on positions is causal, maybe
// with a window (AttentionMasks.cpp). Rows of weights that are replaced by zeros behind the softmax, as ONNX's body does where a row sees no key,
// are rows of zeros of the result.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNAttentionOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "passes/graph/AttentionMasks.h"
#include "passes/graph/BodyMatching.h"
#include "passes/graph/ChainMatching.h"
#include "passes/graph/Terms.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {
/// The operations between the two products, found by going backwards from the softmax.
struct Scores {
  Value bias, keep;
  double scale = 1.0, fill = -HUGE_VAL;
  std::optional<CausalMask> causal;
  bool negated = false;
  MatmulOp product;

  LogicalResult match(PatternRewriter &rewriter, Operation *root, Value scores);

private:
  bool takeBias(Operation *op, Value &value);
  bool takeMask(Operation *op, Value &value);
};
} // namespace

/// Splits `value * number` or `value / number` into its parts, even if it has other users.
static bool stripFactor(Value &value, double &scale) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<MulOp, DivOp>(op))
    return false;
  for (unsigned side : {1, 0}) {
    auto number = getSplatNumber(op->getOperand(side));
    if (!number || (isa<DivOp>(op) && (side == 0 || *number == 0)))
      continue;
    scale = isa<DivOp>(op) ? scale / *number : scale * *number;
    value = op->getOperand(1 - side);
    return true;
  }
  return false;
}

/// Whether going backwards from the scores leads to a product without other users.
static bool leadsToProduct(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || !isa<MatmulOp, AddOp, MulOp, DivOp, SelectOp>(op))
    return false;
  return isa<MatmulOp>(op) || llvm::count_if(op->getOperands(), leadsToProduct) == 1;
}

/// The mask of `scores + mask`. Only the outermost addend counts, because an inner one would have to be scaled separately.
bool Scores::takeBias(Operation *op, Value &value) {
  auto add = dyn_cast<AddOp>(op);
  if (!add || bias || keep || causal || scale != 1.0)
    return false;
  bool first = leadsToProduct(add.getX()), second = leadsToProduct(add.getY());
  if (first == second)
    return false;
  bias = first ? add.getY() : add.getX();
  value = first ? add.getX() : add.getY();
  causal = matchCausalBias(bias);
  if (causal || getUniformNumber(bias) == 0.0)
    bias = nullptr;
  return true;
}

/// The mask and the number of `keep ? scores : number`, or the other way around.
bool Scores::takeMask(Operation *op, Value &value) {
  auto select = dyn_cast<SelectOp>(op);
  if (!select || keep || causal || scale != 1.0)
    return false;
  auto ifTrue = getSplatNumber(select.getX()), ifFalse = getSplatNumber(select.getY());
  if (ifTrue.has_value() == ifFalse.has_value())
    return false;
  fill = ifTrue ? *ifTrue : *ifFalse;
  value = ifTrue ? select.getY() : select.getX();
  Value condition = select.getCondition();
  auto inverse = condition.getDefiningOp<NotOp>();
  negated = static_cast<bool>(ifTrue) && !inverse;
  if (ifTrue && inverse)
    condition = inverse.getX();
  if (!negated)
    causal = matchCausalKeep(condition);
  if (!causal)
    keep = condition;
  return true;
}

LogicalResult Scores::match(PatternRewriter &rewriter, Operation *root, Value scores) {
  if (!leadsToProduct(scores))
    return rewriter.notifyMatchFailure(root, "expected scores from one product, without other users");
  while (!(product = scores.getDefiningOp<MatmulOp>())) {
    Operation *op = scores.getDefiningOp();
    if (!takeBias(op, scores) && !takeMask(op, scores) && !stripFactor(scores, scale))
      return rewriter.notifyMatchFailure(root, "expected at most a scale, a mask and an addend, in this order, between product and softmax");
  }
  return success();
}

namespace {
struct Attention : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The softmax behind a choice that puts zeros into whole rows, and the condition under which it does.
  static SoftmaxOp behindHiddenRows(Value weights, Value &isHidden) {
    auto select = weights.getDefiningOp<SelectOp>();
    if (!select || !select->hasOneUse() || getSplatNumber(select.getX()) != 0.0)
      return weights.getDefiningOp<SoftmaxOp>();
    isHidden = skipBroadcast(select.getCondition());
    DimExprs dims = getDims(isHidden.getType());
    bool isOfRows = isHidden != select.getCondition() && (dims.empty() || getConstantDim(dims.back()) == 1);
    return isOfRows ? select.getY().getDefiningOp<SoftmaxOp>() : SoftmaxOp();
  }

  static Value hideRows(PatternRewriter &rewriter, Location loc, Value result, Value isHidden) {
    auto type = cast<RankedTensorType>(result.getType());
    Value spread = BroadcastToOp::create(rewriter, loc, withElementType(type, rewriter.getI1Type()), isHidden);
    Value zero = SplatOp::create(rewriter, loc, type, FloatAttr::get(type.getElementType(), 0.0));
    return SelectOp::create(rewriter, loc, type, spread, zero, result);
  }

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value isHidden;
    SoftmaxOp softmax = behindHiddenRows(op.getLhs(), isHidden);
    int64_t rank = cast<RankedTensorType>(op.getLhs().getType()).getRank();
    if (!softmax || !softmax->hasOneUse() || static_cast<int64_t>(softmax.getAxis()) != rank - 1)
      return rewriter.notifyMatchFailure(op, "expected a softmax along the last axis, without other users, on the left");
    if (cast<RankedTensorType>(op.getRhs().getType()).getRank() != rank)
      return rewriter.notifyMatchFailure(op, "expected values for each place of the batch");
    Scores scores;
    if (failed(scores.match(rewriter, op, softmax.getInput())))
      return failure();
    Value query = scores.product.getLhs(), key = scores.product.getRhs();
    if (cast<RankedTensorType>(key.getType()).getRank() != rank)
      return rewriter.notifyMatchFailure(op, "expected keys for each place of the batch");
    key = takeFactors(rewriter, query, key, scores.scale);
    SmallVector<Value> inputs{query, key, op.getRhs()};
    Location loc = chainLocation(op, inputs);
    auto turned = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(turned[rank - 1], turned[rank - 2]);
    key = makeTranspose(rewriter, loc, key, turned);
    if (scores.negated)
      scores.keep = NotOp::create(rewriter, loc, scores.keep.getType(), scores.keep);
    auto window = scores.causal ? scores.causal->window : std::nullopt;
    Value result = AttentionOp::create(rewriter, loc, op.getType(), query, key, op.getRhs(), scores.bias, scores.keep,
                                       rewriter.getF64FloatAttr(scores.scale), scores.causal ? rewriter.getUnitAttr() : UnitAttr(),
                                       window ? rewriter.getI64IntegerAttr(*window) : IntegerAttr(), rewriter.getF64FloatAttr(scores.fill),
                                       softmax.getAccuracyAttr());
    rewriter.replaceOp(op, isHidden ? hideRows(rewriter, loc, result, isHidden) : result);
    return success();
  }

  /// Takes factors off the query and the key, which may be transposed before or behind; returns the key.
  static Value takeFactors(PatternRewriter &rewriter, Value &query, Value key, double &scale) {
    stripFactor(query, scale);
    auto turn = key.getDefiningOp<TransposeOp>();
    Value unscaled = turn ? turn.getInput() : key;
    if (!stripFactor(unscaled, scale))
      return key;
    return turn ? makeTranspose(rewriter, turn.getLoc(), unscaled, turn.getPermutation()) : unscaled;
  }
};

/// Keys and values of few heads that are repeated for groups of query heads: the groups become a dimension of their own, along which keys and
/// values are broadcast, which copies nothing.
struct GroupedHeads : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  /// [batch, heads, group, length, size] of a value [batch, heads * group, length, size] that repeats each head.
  static BroadcastToOp repeatedHeads(Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    auto broadcast = reshape ? reshape.getInput().getDefiningOp<BroadcastToOp>() : nullptr;
    if (!broadcast)
      return nullptr;
    DimExprs merged = getDims(reshape.getType()), to = getDims(broadcast.getType()), from = getDims(broadcast.getInput().getType());
    if (merged.size() != 4 || to.size() != 5 || from.size() != 5 || getConstantDim(from[2]) != 1)
      return nullptr;
    DimExprs one = to, joined{to[0], simplifyDim(to[1] * to[2]), to[3], to[4]};
    one[2] = from[2];
    return one == from && joined == merged ? broadcast : nullptr;
  }

  /// The value with its heads in groups; null when its broadcast mixes them.
  static Value splitHeads(PatternRewriter &rewriter, Value value, AffineExpr heads, AffineExpr group) {
    Type element = getElementTypeOrSelf(value.getType());
    auto split = [&](Value from, DimExprs dims) -> Value {
      AffineExpr one = rewriter.getAffineConstantExpr(1);
      dims.insert(dims.begin(), 4 - dims.size(), one);
      bool shared = dims[1] == one;
      if (!shared && !provablyEqual(dims[1], heads * group))
        return nullptr;
      DimExprs to{dims[0], shared ? one : heads, shared ? one : group, dims[2], dims[3]};
      return ReshapeOp::create(rewriter, value.getLoc(), makeTensorType(to, element), from);
    };
    if (auto broadcast = value.getDefiningOp<BroadcastToOp>()) {
      DimExprs to = getDims(value.getType());
      Value small = split(broadcast.getInput(), getDims(broadcast.getInput().getType()));
      auto wide = makeTensorType({to[0], heads, group, to[2], to[3]}, element);
      return small ? Value(BroadcastToOp::create(rewriter, value.getLoc(), wide, small)) : Value();
    }
    Value reshaped = split(value, getDims(value.getType()));
    return reshaped ? sinkTranspose(rewriter, reshaped) : reshaped;
  }

  /// Transposes behind a reshape are views of the attention's group, those before it copies.
  static Value sinkTranspose(PatternRewriter &rewriter, Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    auto inner = reshape ? reshape.getInput().getDefiningOp<TransposeOp>() : nullptr;
    FailureOr<Value> sunk = failure();
    if (inner)
      sunk = sinkTransposeThroughReshape(rewriter, reshape, inner);
    return succeeded(sunk) ? *sunk : value;
  }

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    auto key = repeatedHeads(op.getKey()), value = repeatedHeads(op.getValue());
    DimExprs dims = key ? getDims(key.getType()) : DimExprs();
    if (!key || !value || getDims(value.getType())[1] != dims[1])
      return rewriter.notifyMatchFailure(op, "expected keys and values that repeat the same heads");
    auto split = [&](Value x) { return x ? splitHeads(rewriter, x, dims[1], dims[2]) : Value(); };
    Value query = split(op.getQuery()), bias = split(op.getBias()), keep = split(op.getKeep());
    if (!query || (op.getBias() && !bias) || (op.getKeep() && !keep))
      return failure();
    DimExprs result = getDims(query.getType());
    result.back() = getDims(value.getType()).back();
    auto spread = [&](BroadcastToOp heads) -> Value {
      return BroadcastToOp::create(rewriter, heads.getLoc(), heads.getType(), sinkTranspose(rewriter, heads.getInput()));
    };
    auto grouped = AttentionOp::create(rewriter, op.getLoc(), makeTensorType(result, op.getType().getElementType()), query, spread(key),
                                       spread(value), bias, keep, op.getScaleAttr(), op.getCausalAttr(), op.getWindowAttr(), op.getFillAttr(),
                                       op.getAccuracyAttr());
    auto joined = ReshapeOp::create(rewriter, op.getLoc(), op.getType(), grouped);
    auto outer = op->hasOneUse() ? dyn_cast<TransposeOp>(*op->user_begin()) : TransposeOp();
    rewriter.replaceOp(op, joined);
    if (!outer)
      return success();
    rewriter.setInsertionPoint(outer);
    if (auto hoisted = hoistTransposeThroughReshape(rewriter, outer, joined); succeeded(hoisted))
      rewriter.replaceOp(outer, *hoisted);
    return success();
  }
};
} // namespace

void kiln::populateAttentionPatterns(RewritePatternSet &patterns) { patterns.add<Attention, GroupedHeads>(patterns.getContext()); }
