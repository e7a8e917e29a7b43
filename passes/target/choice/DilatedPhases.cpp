//===- DilatedPhases.cpp - Dilated convolutions without their dilation -----===//
//
//   %r = nn.conv %x, %w dilations [2, 2] : tensor<1x13x13x8xf32> -> tensor<1x9x9x8xf32>
//
// becomes
//
//   %e = nn.pad %x, to whole phases                       1x14x14x8
//   %s = nn.reshape %e, nn.transpose, nn.reshape          1x7x2x7x2x8 -> 1x2x2x7x7x8 -> 4x7x7x8
//   %c = nn.conv %s, %w dilations [1, 1]                  4x5x5x8
//   %t = nn.reshape %c, nn.transpose, nn.reshape          1x2x2x5x5x8 -> 1x5x2x5x2x8 -> 1x10x10x8
//   %r = nn.slice %t                                      1x9x9x8
//
//===----------------------------------------------------------------------===//
#include "passes/target/choice/DilatedPhases.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Rounding.h"

using namespace mlir;

namespace kiln {

using namespace nn;

DilatedPhases::DilatedPhases(ConvOp conv) {
  DimExprs in = getDims(conv.getInput().getType()), out = getDims(conv.getType());
  ArrayRef<int64_t> window = conv.getWeight().getType().getShape().drop_front(2);
  for (unsigned i = 0; i < 2; ++i) {
    int64_t dilation = conv.getDilations()[i];
    in[0] = in[0] * dilation;
    in[i + 1] = simplifyDim(in[i + 1].ceilDiv(dilation));
    out[i + 1] = in[i + 1] - (window[i] - 1);
  }
  out[0] = in[0];
  input = makeTensorType(in, conv.getInput().getType().getElementType());
  result = makeTensorType(out, conv.getType().getElementType());
}

/// Fills up the input with lines and pixels at its ends, of which no result is kept.
static Value fillUp(OpBuilder &builder, Value value, const DimExprs &dims) {
  DimExprs have = getDims(value.getType());
  SmallVector<AffineExpr> low(have.size(), builder.getAffineConstantExpr(0)), high;
  for (auto [to, from] : llvm::zip_equal(dims, have))
    high.push_back(simplifyDim(to - from));
  if (llvm::all_of(high, [](AffineExpr more) { return getConstantDim(more) == 0; }))
    return value;
  Type element = getElementTypeOrSelf(value.getType());
  SmallVector<int64_t> interior(dims.size(), 0);
  Value source = value, fill;
  // A border that the picture has already becomes longer.
  auto pad = value.getDefiningOp<PadOp>();
  if (pad && pad->hasOneUse() && pad.getMode() == PadMode::Constant && pad.getLow().getNumSymbols() + pad.getHigh().getNumSymbols() == 0) {
    for (auto [i, more] : llvm::enumerate(high))
      more = simplifyDim(more + pad.getHigh().getResult(i));
    low.assign(pad.getLow().getResults().begin(), pad.getLow().getResults().end());
    interior.assign(pad.getInterior().begin(), pad.getInterior().end());
    source = pad.getInput();
    fill = pad.getValue();
  } else {
    fill = SplatOp::create(builder, value.getLoc(), RankedTensorType::get({}, element), cast<TypedAttr>(builder.getZeroAttr(element)));
  }
  auto amounts = [&](ArrayRef<AffineExpr> each) { return AffineMap::get(0, 0, each, builder.getContext()); };
  return PadOp::create(builder, value.getLoc(), makeTensorType(dims, element), source, fill, amounts(low), amounts(high), interior, PadMode::Constant);
}

ConvOp DilatedPhases::split(ConvOp conv) const {
  OpBuilder builder(conv);
  Location loc = conv.getLoc();
  ArrayRef<int64_t> dilations = conv.getDilations();
  AffineExpr down = builder.getAffineConstantExpr(dilations[0]), across = builder.getAffineConstantExpr(dilations[1]);
  DimExprs in = getDims(input), out = getDims(result);
  AffineExpr images = getDims(conv.getInput().getType())[0];
  auto reshape = [&](Value value, DimExprs dims) -> Value {
    return ReshapeOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(value.getType())), value);
  };
  auto transpose = [&](Value value, ArrayRef<int64_t> order) -> Value {
    DimExprs dims = llvm::map_to_vector(order, [from = getDims(value.getType())](int64_t i) { return from[i]; });
    return TransposeOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(value.getType())), value, order);
  };
  Value whole = fillUp(builder, conv.getInput(), {images, in[1] * down, in[2] * across, in[3]});
  Value phases = reshape(transpose(reshape(whole, {images, in[1], down, in[2], across, in[3]}), {0, 2, 4, 1, 3, 5}), in);
  SmallVector<int64_t> ones(2, 1), none(4, 0);
  auto split = ConvOp::create(builder, loc, result, phases, conv.getWeight(), ones, ones, none, 1, Layout::ChannelsLast);
  if (StringRef rounding = getRounding(conv); !rounding.empty())
    setRounding(split, rounding);
  Value joined = transpose(reshape(split, {images, down, across, out[1], out[2], out[3]}), {0, 3, 1, 4, 2, 5});
  joined = reshape(joined, {images, out[1] * down, out[2] * across, out[3]});
  SmallVector<AffineExpr> starts(4, builder.getAffineConstantExpr(0));
  Value picture = SliceOp::create(builder, loc, conv.getType(), joined, AffineMapAttr::get(AffineMap::get(0, 0, starts, builder.getContext())),
                                  builder.getDenseI64ArrayAttr(SmallVector<int64_t>(4, 1)));
  conv.replaceAllUsesWith(picture);
  conv.erase();
  return split;
}

} // namespace kiln
