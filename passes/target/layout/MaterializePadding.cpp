//===- MaterializePadding.cpp - The padding of convolutions as nn.pad ------===//
//
//   %r = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1 layout channels_last
//
// becomes
//
//   %p = nn.pad %x, %zero low affine_map<() -> (0, 1, 1, 0)> high affine_map<() -> (0, 1, 1, 0)> interior [0, 0, 0, 0] mode constant
//   %r = nn.conv %p, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
//
// so that the kernel's innermost loops have no bounds to check and the pad fuses with the producer's store.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/Passes.h"
#include "passes/target/choice/LibraryMapping.h"
#include "passes/target/layout/ConvInput.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

namespace kiln {
#define GEN_PASS_DEF_MATERIALIZEPADDING
#include "passes/Passes.h.inc"
} // namespace kiln

void kiln::padInput(ConvOp conv, Value input, int64_t channels) {
  ArrayRef<int64_t> pads = conv.getPads();
  OpBuilder builder(conv);
  DimExprs dims = getDims(cast<RankedTensorType>(input.getType()));
  size_t spatial = dims.size() - 2, first = conv.getLayout() == Layout::ChannelsLast ? 1 : 2;
  SmallVector<int64_t> low(dims.size(), 0), high(dims.size(), 0);
  for (size_t i = 0; i < spatial; ++i) {
    low[first + i] = pads[i];
    high[first + i] = pads[spatial + i];
  }
  high.back() += channels;
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] = dims[i] + (low[i] + high[i]);
  auto constants = [&](ArrayRef<int64_t> values) {
    return AffineMap::get(0, 0, llvm::map_to_vector(values, [&](int64_t v) { return builder.getAffineConstantExpr(v); }), builder.getContext());
  };
  Type element = getElementTypeOrSelf(input.getType());
  Value zero = SplatOp::create(builder, conv.getLoc(), RankedTensorType::get({}, element), cast<TypedAttr>(builder.getZeroAttr(element)));
  Value padded = PadOp::create(builder, conv.getLoc(), makeTensorType(dims, element), input, zero, constants(low), constants(high),
                               SmallVector<int64_t>(dims.size(), 0), PadMode::Constant);
  conv.getInputMutable().assign(padded);
  conv.setPads(SmallVector<int64_t>(pads.size(), 0));
}

int64_t kiln::countSideBySide(ConvOp conv, int64_t unit) {
  return conv.getGroups() == 1 && conv.getDilations().back() == 1 ? unit * conv.getWeight().getType().getShape().back() : unit;
}

static void materializePadding(ConvOp conv) {
  // A library pads by itself.
  if (llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }) && !goesToLibrary(conv))
    padInput(conv, conv.getInput(), 0);
}

namespace {
struct MaterializePaddingPass : kiln::impl::MaterializePaddingBase<MaterializePaddingPass> {
  void runOnOperation() override { getOperation().walk(materializePadding); }
};
} // namespace
