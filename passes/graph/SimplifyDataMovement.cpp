//===- SimplifyDataMovement.cpp - Fewer slices, concats, pads, broadcasts --===//
//
//   %a = nn.slice %x starts affine_map<() -> (0, 2)> steps [1, 1] : tensor<4x8xf32> -> tensor<4x6xf32>
//   %b = nn.slice %a starts affine_map<() -> (1, 1)> steps [1, 2] : tensor<4x6xf32> -> tensor<3x2xf32>
//
// becomes
//
//   %b = nn.slice %x starts affine_map<() -> (1, 3)> steps [1, 2] : tensor<4x8xf32> -> tensor<3x2xf32>
//
// and so on: one pattern per pair below.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/DimFacts.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/graph/OutsideTaps.h"
#include "passes/graph/PatternReasons.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_SIMPLIFYDATAMOVEMENT
#include "passes/Passes.h.inc"
} // namespace kiln

/// A map of the simplified expressions of symbols.
static AffineMap simplifiedMap(ArrayRef<AffineExpr> exprs, MLIRContext *context) {
  return makeSymbolMap(llvm::map_to_vector(exprs, simplifyDim), context);
}

namespace {

struct SliceOfSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp outer, PatternRewriter &rewriter) const override {
    auto inner = outer.getInput().getDefiningOp<SliceOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(outer, "expected a slice operand");
    SmallVector<AffineExpr> starts;
    SmallVector<int64_t> steps;
    for (auto [i, step] : llvm::enumerate(inner.getSteps())) {
      starts.push_back(inner.getStarts().getResult(i) + outer.getStarts().getResult(i) * step);
      steps.push_back(step * outer.getSteps()[i]);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(outer, outer.getType(), inner.getInput(), simplifiedMap(starts, rewriter.getContext()), steps);
    return success();
  }
};

/// A slice that lies within one operand of a concat reads that operand.
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp slice, PatternRewriter &rewriter) const override {
    auto concat = slice.getInput().getDefiningOp<ConcatOp>();
    if (!concat)
      return rewriter.notifyMatchFailure(slice, "expected a concat operand");
    uint64_t axis = concat.getAxis();
    auto start = getConstantDim(slice.getStarts().getResult(axis)), extent = getConstantDim(getDim(slice.getType(), axis));
    if (!start || !extent || *extent == 0 || slice.getSteps()[axis] < 1)
      return rewriter.notifyMatchFailure(slice, "expected constant bounds along the concat's axis");
    int64_t last = *start + (*extent - 1) * slice.getSteps()[axis], begin = 0;
    for (Value input : concat.getInputs()) {
      auto size = getConstantDim(getDim(input.getType(), axis));
      if (!size || *start < begin)
        break;
      if (last < begin + *size) {
        SmallVector<AffineExpr> starts(slice.getStarts().getResults());
        starts[axis] = rewriter.getAffineConstantExpr(*start - begin);
        AffineMap map = simplifiedMap(starts, rewriter.getContext());
        rewriter.replaceOpWithNewOp<SliceOp>(slice, slice.getType(), input, map, slice.getSteps());
        return success();
      }
      begin += *size;
    }
    return rewriter.notifyMatchFailure(slice, "expected to read one operand of the concat only");
  }
};

struct FlattenConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp concat, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (Value input : concat.getInputs()) {
      auto inner = input.getDefiningOp<ConcatOp>();
      if (inner && inner->hasOneUse() && inner.getAxis() == concat.getAxis())
        llvm::append_range(inputs, inner.getInputs());
      else if (getConstantDim(getDim(input.getType(), concat.getAxis())) != 0)
        inputs.push_back(input);
    }
    if (ValueRange(inputs) == concat.getInputs() || inputs.empty())
      return rewriter.notifyMatchFailure(concat, "expected an empty operand or one that is a concat along the same axis");
    rewriter.modifyOpInPlace(concat, [&] { concat.getInputsMutable().assign(inputs); });
    return success();
  }
};

/// Neighbouring slices of one value, concatenated again, are one slice.
struct ConcatOfSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isNext(SliceOp a, SliceOp b, unsigned axis) {
    if (a.getInput() != b.getInput() || a.getSteps()[axis] != 1 || a.getSteps() != b.getSteps())
      return false;
    for (unsigned i = 0, rank = a.getSteps().size(); i < rank; ++i) {
      AffineExpr want = a.getStarts().getResult(i);
      if (i == axis)
        want = want + getDim(a.getType(), axis);
      if (!provablyEqual(b.getStarts().getResult(i), want))
        return false;
    }
    return true;
  }

  LogicalResult matchAndRewrite(ConcatOp concat, PatternRewriter &rewriter) const override {
    unsigned axis = concat.getAxis();
    for (size_t i = 1; i < concat.getInputs().size(); ++i) {
      auto a = concat.getInputs()[i - 1].getDefiningOp<SliceOp>(), b = concat.getInputs()[i].getDefiningOp<SliceOp>();
      if (!a || !b || !isNext(a, b, axis))
        continue;
      DimExprs dims = getDims(a.getType());
      dims[axis] = dims[axis] + getDim(b.getType(), axis);
      Value both = SliceOp::create(rewriter, rewriter.getFusedLoc({a.getLoc(), b.getLoc()}), makeTensorType(dims, a.getType().getElementType()),
                                   a.getInput(), a.getStarts(), a.getSteps());
      SmallVector<Value> inputs(concat.getInputs());
      inputs[i - 1] = both;
      inputs.erase(inputs.begin() + i);
      rewriter.modifyOpInPlace(concat, [&] { concat.getInputsMutable().assign(inputs); });
      return success();
    }
    return rewriter.notifyMatchFailure(concat, "expected neighbouring slices of one value");
  }
};

/// A gather of consecutive rows is a slice, and of one row a slice without that dimension.
struct GatherToSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp gather, PatternRewriter &rewriter) const override {
    ElementsAttr indices = getConstant(gather.getIndices());
    auto size = getConstantDim(getDim(gather.getInput().getType(), gather.getAxis()));
    if (!indices || indices.getNumElements() == 0 || cast<ShapedType>(indices.getType()).getRank() > 1)
      return rewriter.notifyMatchFailure(gather, "expected constant indices of rank 0 or 1");
    ConstantData data(indices);
    int64_t first = data.asInt(0);
    for (int64_t i = 1; i < data.numElements(); ++i)
      if (data.asInt(i) != first + i)
        return rewriter.notifyMatchFailure(gather, "expected consecutive indices");
    int64_t last = first + data.numElements() - 1;
    DimFacts facts(gather->getParentOfType<ModuleOp>());
    bool hasOne = size || facts.areOrdered(rewriter.getAffineConstantExpr(1), getDim(gather.getInput().getType(), gather.getAxis()));
    bool inBounds = size ? first >= -*size && last < *size && (first >= 0 || last < 0) : hasOne && first == last && (first == 0 || first == -1);
    if (!inBounds)
      return rewriter.notifyMatchFailure(gather, "expected indices that are known to be in bounds");
    DimExprs dims = getDims(gather.getInput().getType());
    SmallVector<AffineExpr> starts(dims.size(), rewriter.getAffineConstantExpr(0));
    starts[gather.getAxis()] = first < 0 ? dims[gather.getAxis()] + first : rewriter.getAffineConstantExpr(first);
    dims[gather.getAxis()] = rewriter.getAffineConstantExpr(data.numElements());
    Value slice = SliceOp::create(rewriter, gather.getLoc(), makeTensorType(dims, gather.getType().getElementType()), gather.getInput(),
                                  simplifiedMap(starts, rewriter.getContext()), SmallVector<int64_t>(dims.size(), 1));
    if (slice.getType() == gather.getType())
      rewriter.replaceOp(gather, slice);
    else
      rewriter.replaceOpWithNewOp<ReshapeOp>(gather, gather.getType(), slice);
    return success();
  }
};

/// A pad with zeros in front of a convolution (or of a mean that counts its padding) is that one's own padding.
struct PadIntoWindow : RewritePattern {
  explicit PadIntoWindow(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto average = dyn_cast<AvgPoolOp>(op);
    if (!isa<ConvOp>(op) && !(average && average.getCountIncludePad()))
      return rewriter.notifyMatchFailure(op, "expected a convolution or a mean that counts its padding");
    auto pad = op->getOperand(0).getDefiningOp<PadOp>();
    if (!pad || pad.getMode() != PadMode::Constant || getSplatNumber(pad.getValue()) != 0.0)
      return rewriter.notifyMatchFailure(op, "expected an operand padded with zeros");
    auto window = cast<Windowed>(op);
    bool last = window.getLayout() == Layout::ChannelsLast;
    size_t rank = pad.getType().getRank(), spatial = rank - 2, begin = last ? 1 : 2;
    SmallVector<int64_t> pads(window.getPads());
    for (size_t i = 0; i < rank; ++i) {
      auto low = getConstantDim(pad.getLow().getResult(i)), high = getConstantDim(pad.getHigh().getResult(i));
      bool isSpatial = i >= begin && i < begin + spatial;
      if (!low || !high || *low < 0 || *high < 0 || pad.getInterior()[i] || (!isSpatial && (*low || *high)))
        return rewriter.notifyMatchFailure(pad, "expected constant amounts of spatial dimensions, not negative");
      if (!isSpatial)
        continue;
      pads[i - begin] += *low;
      pads[i - begin + spatial] += *high;
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, pad.getInput());
      window.setPads(pads);
    });
    return success();
  }
};

/// Computing before broadcasting is less work.
struct BroadcastAfterScalar : OpInterfaceRewritePattern<ScalarBody> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  /// The operand before its broadcast, with this rank; null when it is not a broadcast.
  static Value narrow(OpBuilder &builder, Value operand, size_t rank) {
    auto broadcast = operand.getDefiningOp<BroadcastToOp>();
    if (!broadcast)
      return nullptr;
    DimExprs dims = getDims(broadcast.getInput().getType());
    if (dims.size() == rank)
      return broadcast.getInput();
    dims.insert(dims.begin(), rank - dims.size(), builder.getAffineConstantExpr(1));
    return ReshapeOp::create(builder, broadcast.getLoc(), makeTensorType(dims, getElementTypeOrSelf(operand)), broadcast.getInput());
  }

  LogicalResult matchAndRewrite(ScalarBody op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    DimExprs dims(type.getRank(), rewriter.getAffineConstantExpr(1)), full = getDims(type);
    size_t rank = 0;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastToOp>();
      if (!broadcast && !operand.getDefiningOp<SplatOp>())
        return rewriter.notifyMatchFailure(op, "expected broadcast operands");
      if (!broadcast)
        continue;
      DimExprs own = getDims(broadcast.getInput().getType());
      rank = std::max(rank, own.size());
      for (auto [i, dim] : llvm::enumerate(own)) {
        size_t at = full.size() - own.size() + i;
        // If sizes can be compared only at run time, all operands fit the result's size.
        if (getConstantDim(dim) != 1)
          dims[at] = getConstantDim(dims[at]) == 1 || provablyEqual(dims[at], dim) ? dim : full[at];
      }
    }
    if (rank == 0 || dims == full)
      return rewriter.notifyMatchFailure(op, "expected a dimension along which all operands are broadcast");
    dims.erase(dims.begin(), dims.end() - rank);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto small = makeTensorType(dims, getElementTypeOrSelf(operand));
      if (auto splat = operand.getDefiningOp<SplatOp>()) {
        operands.push_back(SplatOp::create(rewriter, splat.getLoc(), small, splat.getValue()));
        continue;
      }
      Value value = narrow(rewriter, operand, rank);
      operands.push_back(value.getType() == small ? value : BroadcastToOp::create(rewriter, op.getLoc(), small, value));
    }
    Operation *computed = rewriter.clone(*op);
    computed->setOperands(operands);
    computed->getResult(0).setType(makeTensorType(dims, type.getElementType()));
    rewriter.replaceOpWithNewOp<BroadcastToOp>(op, type, computed->getResult(0));
    return success();
  }
};

static bool hasOneElement(Value value) { return getConstantDim(getNumElements(getDims(cast<RankedTensorType>(value.getType())), value.getContext())) == 1; }

/// Whether a scale or zero point is one number.
static bool isOneNumber(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastToOp>();
  return value.getDefiningOp<SplatOp>() || hasOneElement(broadcast ? broadcast.getInput() : value);
}

/// Such a number for a tensor of other dimensions.
static Value spreadNumber(OpBuilder &builder, Value number, ArrayRef<AffineExpr> dims) {
  auto type = makeTensorType(dims, getElementTypeOrSelf(number)), scalar = makeTensorType({}, type.getElementType());
  if (auto splat = number.getDefiningOp<SplatOp>())
    return SplatOp::create(builder, splat.getLoc(), type, splat.getValue());
  if (auto broadcast = number.getDefiningOp<BroadcastToOp>())
    number = broadcast.getInput();
  if (number.getType() != scalar)
    number = ReshapeOp::create(builder, number.getLoc(), scalar, number);
  return type == scalar ? number : BroadcastToOp::create(builder, number.getLoc(), type, number);
}

/// The quantisation or dequantisation of x, by one scale and one zero point as `op`.
static Value quantizeAs(PatternRewriter &rewriter, Operation *op, Value x) {
  DimExprs dims = getDims(cast<RankedTensorType>(x.getType()));
  Operation *moved = rewriter.clone(*op);
  rewriter.setInsertionPoint(moved);
  moved->setOperands({x, spreadNumber(rewriter, op->getOperand(1), dims), spreadNumber(rewriter, op->getOperand(2), dims)});
  moved->getResult(0).setType(makeTensorType(dims, getElementTypeOrSelf(op->getResult(0))));
  return moved->getResult(0);
}

/// Integers are reshaped, not the real numbers that they stand for: a kernel quantises what it computes, and dequantises what it loads.
struct QuantizeOfReshape : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (!reshape || !reshape->hasOneUse() || !isOneNumber(op.getScale()) || !isOneNumber(op.getZeroPoint()))
      return rewriter.notifyMatchFailure(op, "expected a reshape without other users, one scale and one zero point");
    Value quantized = quantizeAs(rewriter, op, reshape.getInput());
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), quantized);
    return success();
  }
};

struct ReshapeOfDequantize : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto dequantize = op.getInput().getDefiningOp<DequantizeOp>();
    if (!dequantize || !isOneNumber(dequantize.getScale()) || !isOneNumber(dequantize.getZeroPoint()))
      return rewriter.notifyMatchFailure(op, "expected numbers dequantised by one scale and one zero point");
    auto type = makeTensorType(getDims(op.getType()), getElementTypeOrSelf(dequantize.getX()));
    Value x = ReshapeOp::create(rewriter, op.getLoc(), type, dequantize.getX());
    rewriter.replaceOp(op, quantizeAs(rewriter, dequantize, x));
    return success();
  }
};

struct SimplifyDataMovementPass : kiln::impl::SimplifyDataMovementBase<SimplifyDataMovementPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SliceOfSlice, SliceOfConcat, FlattenConcat, ConcatOfSlices, GatherToSlice, PadIntoWindow, BroadcastAfterScalar,
                 QuantizeOfReshape, ReshapeOfDequantize>(&getContext());
    populateOutsideTapsPatterns(patterns);
    for (StringRef name : {"nn.broadcast_to", "nn.transpose", "nn.reshape"})
      RegisteredOperationName::lookup(name, &getContext())->getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
