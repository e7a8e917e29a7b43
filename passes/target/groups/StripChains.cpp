//===- StripChains.cpp - Which convolutions run line by line together -----===//
#include "passes/target/groups/StripChains.h"
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/groups/Views.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Taps of a window that are written out, for the size of the code.
static constexpr int64_t mostTaps = 25;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [&](int64_t v) { return v == value; });
}

/// channels_last with static extents, in f32, constant weights, no padding or dilation.
static bool isPlain(ConvOp conv) {
  auto type = conv.getInput().getType();
  DimExprs dims = getDims(type);
  bool isStatic = dims.size() == 4 && llvm::all_of(llvm::drop_begin(dims), [](AffineExpr dim) { return getConstantDim(dim).value_or(0) > 0; });
  return isStatic && conv.getLayout() == Layout::ChannelsLast && computesInF32(type) && computesInF32(conv.getType()) &&
         isWeightElement(conv.getWeight().getType().getElementType()) &&
         isAll(conv.getPads(), 0) && isAll(conv.getDilations(), 1) && isConstant(conv.getWeight());
}

static bool isPointwiseConv(ConvOp conv) {
  return isPlain(conv) && conv.getGroups() == 1 && isAll(conv.getStrides(), 1) && isAll(conv.getWeight().getType().getShape().drop_front(2), 1);
}

bool isStripProjection(ConvOp conv) { return isPointwiseConv(conv); }

static bool isDepthwise(ConvOp conv) {
  ArrayRef<int64_t> weight = conv.getWeight().getType().getShape();
  return isPlain(conv) && weight[1] == 1 && weight[0] == static_cast<int64_t>(conv.getGroups()) && weight[2] * weight[3] <= mostTaps &&
         conv.getStrides()[0] <= weight[2];
}

/// Zeros around lines and pixels.
static bool isZeroBorder(PadOp pad) {
  auto amount = [](AffineMap map, unsigned dim) { return getConstantDim(map.getResult(dim)).value_or(-1); };
  if (pad.getMode() != PadMode::Constant || getSplatNumber(pad.getValue()) != 0.0 || !isAll(pad.getInterior(), 0))
    return false;
  for (unsigned dim : {0u, 3u})
    if (amount(pad.getLow(), dim) != 0 || amount(pad.getHigh(), dim) != 0)
      return false;
  return llvm::all_of(ArrayRef{1u, 2u}, [&](unsigned dim) { return amount(pad.getLow(), dim) >= 0 && amount(pad.getHigh(), dim) >= 0; });
}

static bool isReal(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), computesInF32) && computesInF32(op->getResult(0).getType());
}

std::optional<StripChain> findStripChain(ConvOp expand, kernel::TargetAttr target) {
  if (!target || lanesOf(target, expand.getType().getElementType()) < 4 || !isPointwiseConv(expand))
    return std::nullopt;
  Operation *op = expand;
  auto next = [&]() -> Operation * { return op->getResult(0).hasOneUse() ? *op->user_begin() : nullptr; };
  for (Operation *user = next(); user && isa<ScalarBody>(user); user = next()) {
    if (!isReal(user))
      return std::nullopt;
    op = user;
  }
  StripChain chain{expand, nullptr, nullptr};
  if (auto pad = dyn_cast_or_null<PadOp>(next())) {
    if (pad.getInput().getDefiningOp() != op || !isZeroBorder(pad))
      return std::nullopt;
    chain.pad = pad;
    op = pad;
  }
  auto depthwise = dyn_cast_or_null<ConvOp>(next());
  if (!depthwise || depthwise.getInput().getDefiningOp() != op || !isDepthwise(depthwise))
    return std::nullopt;
  chain.depthwise = depthwise;
  DimExprs dims = getDims(expand.getType());
  int64_t bytes = *getConstantDim(dims[1]) * *getConstantDim(dims[2]) * *getConstantDim(dims[3]) * elementBytes(expand.getType().getElementType());
  // What is small is never worth it, whatever the cache; what exceeds the cache by far always is.
  int64_t small = target.tuned(kernel::Tuned::StripBytes);
  if (bytes <= std::min(small, std::max<int64_t>(target.getL2(), small / 4)))
    return std::nullopt;
  return chain;
}

} // namespace kiln
