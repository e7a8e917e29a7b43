//===- OutsideTaps.cpp - Taps of a convolution that see padding alone ------===//
//
//   %r = nn.conv %x, %w strides [1, 1] dilations [36, 36] pads [36, 36, 36, 36] : tensor<1x8x33x33xf32>, tensor<8x8x3x3xf32>
//
// becomes
//
//   %s = nn.slice %w ... : tensor<8x8x3x3xf32> -> tensor<8x8x1x1xf32>
//   %r = nn.conv %x, %s strides [1, 1] dilations [36, 36] pads [0, 0, 0, 0] : tensor<1x8x33x33xf32>, tensor<8x8x1x1xf32>
//
// as with the large dilations of an atrous pyramid on a small picture. Only for constant weights that are all finite: others times zero are NaN.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/OutsideTaps.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace {
/// The taps [first, end) of a dimension that some element of the result sees within the input.
struct SeenTaps {
  int64_t first, end;
};

struct DropOutsideTaps : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  /// nullopt if all taps are seen, none is, or the input would have to be cut without the others.
  static std::optional<SeenTaps> findSeen(ConvOp op, unsigned i) {
    unsigned dim = i + (op.getLayout() == Layout::ChannelsFirst ? 2 : 1);
    int64_t in = op.getInput().getType().getDimSize(dim), out = op.getType().getDimSize(dim), taps = op.getWeight().getType().getDimSize(i + 2);
    if (ShapedType::isDynamic(in) || ShapedType::isDynamic(out))
      return std::nullopt;
    int64_t low = op.getPads()[i], high = op.getPads()[i + op.getStrides().size()], dilation = op.getDilations()[i];
    auto isSeen = [&](int64_t tap) { return (out - 1) * op.getStrides()[i] + tap * dilation >= low && tap * dilation < low + in; };
    SeenTaps seen{0, taps};
    while (seen.first < seen.end && !isSeen(seen.first) && low >= dilation * (seen.first + 1))
      ++seen.first;
    while (seen.first < seen.end && !isSeen(seen.end - 1) && high >= dilation * (taps - seen.end + 1))
      --seen.end;
    bool drops = seen.end - seen.first < taps && seen.first < seen.end;
    return drops ? std::optional(seen) : std::nullopt;
  }

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    ElementsAttr weight = getConstant(op.getWeight());
    if (!weight)
      return rewriter.notifyMatchFailure(op, "expected constant weights");
    unsigned spatial = op.getStrides().size(), rank = spatial + 2;
    DimExprs dims = getDims(op.getWeight().getType());
    SmallVector<AffineExpr> starts(rank, rewriter.getAffineConstantExpr(0));
    SmallVector<int64_t> pads(op.getPads());
    for (unsigned i = 0; i < spatial; ++i)
      if (auto seen = findSeen(op, i)) {
        starts[i + 2] = rewriter.getAffineConstantExpr(seen->first);
        pads[i] -= seen->first * op.getDilations()[i];
        pads[i + spatial] -= (*getConstantDim(dims[i + 2]) - seen->end) * op.getDilations()[i];
        dims[i + 2] = rewriter.getAffineConstantExpr(seen->end - seen->first);
      }
    if (dims == getDims(op.getWeight().getType()))
      return rewriter.notifyMatchFailure(op, "expected taps that see padding alone");
    if (!isFinite(weight))
      return rewriter.notifyMatchFailure(op, "expected finite weights");
    Value seen = SliceOp::create(rewriter, op.getLoc(), makeTensorType(dims, op.getWeight().getType().getElementType()), op.getWeight(),
                                 AffineMap::get(0, 0, starts, getContext()), SmallVector<int64_t>(rank, 1));
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightMutable().assign(seen);
      op.setPads(pads);
    });
    return success();
  }
};
} // namespace

void kiln::populateOutsideTapsPatterns(RewritePatternSet &patterns) { patterns.add<DropOutsideTaps>(patterns.getContext()); }
