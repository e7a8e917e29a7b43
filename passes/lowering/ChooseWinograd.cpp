//===- ChooseWinograd.cpp - 3x3 convolutions with fewer multiplications ----===//
//
//   %r = nn.conv %x, %w ... layout channels_last : tensor<1x30x30x64xf32>, tensor<64x64x3x3xf32> -> tensor<1x28x28x64xf32>
//
// becomes, where that is faster,
//
//   %u = nn.winograd_filter %w tile 4 : tensor<64x64x3x3xf32> -> tensor<36x2x65x32xf32>
//   %r = nn.winograd_conv %x, %u tile 4
//
// Few tiles with large filters do without the first: the kernel transforms what it needs.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/target/LibraryMapping.h"
#include "passes/lowering/WinogradPlan.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHOOSEWINOGRAD
#include "passes/Passes.h.inc"

using namespace nn;

/// nullopt when Winograd's form does not apply. A batch known at run time only counts as one image.
static std::optional<ConvExtents> getWinogradExtents(ConvOp conv) {
  auto isAll = [](ArrayRef<int64_t> values, int64_t value) { return llvm::all_of(values, [&](int64_t v) { return v == value; }); };
  RankedTensorType type = conv.getType(), weight = conv.getWeight().getType();
  if (conv.getLayout() != Layout::ChannelsLast || type.getRank() != 4 || conv.getGroups() != 1 || !isAll(conv.getPads(), 0) ||
      !isAll(conv.getStrides(), 1) || !isAll(conv.getDilations(), 1) || !isAll(weight.getShape().drop_front(2), 3))
    return std::nullopt;
  if (!type.getElementType().isF32() || !weight.getElementType().isF32() || !conv.getWeight().getDefiningOp<ConstantOp>())
    return std::nullopt;
  DimExprs dims = getDims(type);
  auto height = getConstantDim(dims[1]), width = getConstantDim(dims[2]);
  if (!height || !width || *height < 1 || *width < 1)
    return std::nullopt;
  return getExtents(getDims(conv.getInput().getType()), dims);
}

/// 2 or 4; 0 for the direct form.
static int64_t chooseTileSize(kernel::TargetAttr target, const ConvExtents &extents) {
  int64_t best = 0;
  double cost = estimateDirect(target, extents);
  for (int64_t tile : {2, 4})
    if (double other = planWinograd(target, extents, tile).cost; other < cost) {
      best = tile;
      cost = other;
    }
  return best;
}

static void makeWinograd(ConvOp conv, const ConvExtents &extents, const WinogradPlan &plan, int64_t tile) {
  OpBuilder builder(conv);
  Value weight = conv.getWeight();
  if (!plan.byColumns) {
    int64_t width = plan.shape.columns(), panels = (extents.out + width - 1) / width;
    auto type = RankedTensorType::get({(tile + 2) * (tile + 2), panels, extents.in + 1, width}, builder.getF32Type());
    weight = WinogradFilterOp::create(builder, conv.getLoc(), type, weight, tile);
  }
  auto result = WinogradConvOp::create(builder, conv.getLoc(), conv.getType(), conv.getInput(), weight, tile);
  conv.replaceAllUsesWith(result.getOperation());
  conv.erase();
}

namespace {
struct ChooseWinograd : impl::ChooseWinogradBase<ChooseWinograd> {
  using ChooseWinogradBase::ChooseWinogradBase;
  void runOnOperation() override {
    kernel::TargetAttr target = kernel::getTarget(getOperation());
    if (!target)
      return;
    SmallVector<ConvOp> convolutions;
    getOperation().walk([&](ConvOp conv) { convolutions.push_back(conv); });
    for (ConvOp conv : convolutions)
      if (auto extents = goesToLibrary(conv) ? std::nullopt : getWinogradExtents(conv))
        if (int64_t size = tile ? tile : chooseTileSize(target, *extents)) {
          // Few tiles of one image may be many of a larger batch.
          bool openBatch = !getConstantDim(getDims(conv.getType())[0]);
          makeWinograd(conv, *extents, planWinograd(target, *extents, size, openBatch ? std::optional(false) : std::nullopt), size);
        }
  }
};
} // namespace

} // namespace kiln
