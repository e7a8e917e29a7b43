//===- ConvolutionKernels.cpp - Kernels of convolutions and pooling -------===//
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Windows overlap, so operands are read where they lie.
template <typename... Ops>
static constexpr KernelRow window(llvm::StringLiteral name, RowFit fit, decltype(KernelRow::lower) lower) {
  return KernelRow{name, computes<Ops...>, fit, lower}.placing(PlaceSupport::Operands).overwriting(OverwriteSupport::Sides);
}

/// The row for convolutions of unsigned bytes only.
static KernelRow ofBytes(KernelRow row) {
  row.computes = [](Operation *anchor) { return isa_and_nonnull<ConvOp>(anchor) && getElementTypeOrSelf(anchor->getOperand(0)).isUnsignedInteger(8); };
  return row;
}

ArrayRef<KernelRow> getConvolutionKernels() {
  static const KernelRow rows[] = {
      KernelRow{"conv_strips", computes<ConvOp>, matchConvStrips, lowerConvStrips}
          .placing(PlaceSupport::Operands)
          .joining(GroupForm::Strips)
          .planning(PlanTile | PlanStreams | PlanPixels | PlanBands),
      KernelRow{"winograd_columns", computes<WinogradConvOp>, matchWinogradColumns, lowerWinogradColumns}
          .placing(PlaceSupport::Operands)
          .planning(PlanTile | PlanStreams | PlanBlock | PlanDepth),
      KernelRow{"winograd_tiles", computes<WinogradConvOp>, matchWinogradTiles, lowerWinogradTiles}
          .placing(PlaceSupport::Operands)
          .planning(PlanTile | PlanStreams | PlanBlock),
      KernelRow{"winograd_filters", computes<WinogradFilterOp>, matchWinogradFilters, lowerWinogradFilters},
      window<ConvOp>("conv_depthwise", matchConvDepthwise, lowerConvDepthwise).planning(PlanLines | PlanPixels),
      ofBytes(window<ConvOp>("depthwise_bytes", matchDepthwiseBytes, lowerDepthwiseBytes).planning(PlanPixels)),
      ofBytes(window<ConvOp>("conv_bytes", matchConvBytes, lowerConvBytes).planning(PlanProduct)),
      window<ConvOp>("conv_tiled", matchConvTiled, lowerConvTiled).planning(PlanProduct).tunable(),
      window<ConvOp>("conv_loops", "layout, types or weights without a tiled kernel", lowerConvLoops),
      window<MaxPoolOp, AvgPoolOp>("pool_windows", matchPoolWindows, lowerPoolWindows),
  };
  return rows;
}

} // namespace kiln
