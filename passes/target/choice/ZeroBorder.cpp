//===- ZeroBorder.cpp - Zeros around the picture of a convolution ----------===//
#include "passes/target/choice/ZeroBorder.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNDataMovementOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Where the zeros of an nn.pad are in each spatial dimension; empty if it does not surround its input with zeros.
static SmallVector<int64_t, 4> readBorder(PadOp pad, unsigned spatial) {
  if (!pad || pad.getMode() != PadMode::Constant || getSplatNumber(pad.getValue()) != 0.0 || !llvm::all_of(pad.getInterior(), [](int64_t n) { return n == 0; }))
    return {};
  SmallVector<int64_t, 4> border;
  for (unsigned dim = 1; dim <= spatial; ++dim) {
    auto low = getConstantDim(pad.getLow().getResult(dim)), extent = getConstantDim(getDims(cast<RankedTensorType>(pad.getInput().getType()))[dim]);
    if (!low || !extent || *low < 0)
      return {};
    border.append({*low, *extent});
  }
  return border;
}

/// The operation that pads the input, in the group that computes it; null: there is none.
static PadOp findPad(GroupOp group, ConvOp conv) {
  auto argument = dyn_cast<BlockArgument>(conv.getInput());
  Value input = argument ? group.getInputs()[argument.getArgNumber()] : Value();
  auto producer = input ? input.getDefiningOp<GroupOp>() : GroupOp();
  return producer ? producer.getTerminator()->getOperand(cast<OpResult>(input).getResultNumber()).getDefiningOp<PadOp>() : PadOp();
}

/// Taps that tiles of `block` elements visit along a dimension, each for all its elements.
static int64_t countVisits(ConvOp conv, unsigned i, int64_t extent, int64_t block, ArrayRef<int64_t> border) {
  int64_t taps = cast<RankedTensorType>(conv.getWeight().getType()).getDimSize(i + 2), visits = 0;
  int64_t stride = conv.getStrides()[i], dilation = conv.getDilations()[i];
  for (int64_t first = 0; first < extent; first += block) {
    int64_t last = std::min(first + block, extent) - 1;
    for (int64_t tap = 0; tap < taps; ++tap)
      if (last * stride + tap * dilation >= border[0] && first * stride + tap * dilation < border[0] + border[1])
        visits += last - first + 1;
  }
  return visits;
}

/// The part of all products that tiles of that shape compute, if they pass over taps that lie in the border for all their pixels.
static double getSeenShare(ConvOp conv, ArrayRef<int64_t> border, TileShape tile) {
  // Tiles have parts of a line, or, if they have room for two, whole lines.
  unsigned spatial = static_cast<unsigned>(conv.getStrides().size());
  ArrayRef<int64_t> out = conv.getType().getShape(), taps = cast<RankedTensorType>(conv.getWeight().getType()).getShape();
  int64_t width = out[spatial], lines = tile.rows / std::max<int64_t>(width, 1);
  double share = 1;
  for (unsigned i = 0; i < spatial; ++i) {
    int64_t extent = out[i + 1], block = 1;
    if (i + 1 == spatial)
      block = lines >= 2 ? width : llvm::divideCeil(width, llvm::divideCeil(std::max<int64_t>(width, 1), tile.rows));
    else if (i + 2 == spatial)
      block = std::max<int64_t>(lines, 1);
    int64_t visits = countVisits(conv, i, extent, std::max<int64_t>(block, 1), border.slice(2 * i, 2));
    share *= static_cast<double>(std::max<int64_t>(visits, 1)) / static_cast<double>(std::max<int64_t>(extent * taps[i + 2], 1));
  }
  return share;
}

double getSeenShare(ConvOp conv, TileShape tile) {
  SmallVector<int64_t, 4> border = readBorder(conv.getInput().getDefiningOp<PadOp>(), static_cast<unsigned>(conv.getStrides().size()));
  return border.empty() || !conv.getType().hasStaticShape() ? 1 : getSeenShare(conv, border, tile);
}

SmallVector<int64_t, 4> findZeroBorder(GroupOp group, ConvOp conv, TileShape tile) {
  unsigned spatial = static_cast<unsigned>(conv.getStrides().size());
  SmallVector<int64_t, 4> border = readBorder(findPad(group, conv), spatial);
  if (border.empty() || !conv.getType().hasStaticShape() || conv.getLayout() != Layout::ChannelsLast)
    return {};
  constexpr double leastGain = 1.125;
  auto weight = dyn_cast<BlockArgument>(conv.getWeight());
  bool pays = getSeenShare(conv, border, tile) * leastGain <= 1;
  ElementsAttr constant = pays && weight ? getConstant(group.getInputs()[weight.getArgNumber()]) : ElementsAttr();
  return constant && isFinite(constant) ? border : SmallVector<int64_t, 4>();
}

std::string findBorderFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  DenseI64ArrayAttr border = plan.getBorder();
  auto conv = cast<ConvOp>(anchor);
  if (!border || border.asArrayRef() == ArrayRef<int64_t>(readBorder(findPad(group, conv), static_cast<unsigned>(conv.getStrides().size()))))
    return "";
  return "the zeros around the input are others";
}

} // namespace kiln
