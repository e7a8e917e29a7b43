//===- ConvolutionKernels.cpp - Kernels of convolutions and pooling -------===//
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/lowering/convolution/ConvPacked.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/choice/WinogradPlan.h"
#include "passes/target/choice/ZeroBorder.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Windows overlap, so operands are read where they lie; computed filters, as far as a view tells.
template <typename... Ops>
static constexpr KernelRow window(llvm::StringLiteral name, RowFit fit, decltype(KernelRow::lower) lower) {
  return KernelRow{name, computes<Ops...>, fit, lower}.placing(PlaceSupport::Operands).overwriting(OverwriteSupport::Sides).loading(loadsOrderedFilters);
}

/// Other convolutions know nothing of this row.
static KernelRow ofPackedFilters(KernelRow row) {
  row.computes = hasPackedFilters;
  return row;
}

/// A row of convolutions for inputs of one type only, whose filters are not packed.
template <bool (*isFor)(Type)> static KernelRow ofInputs(KernelRow row) {
  row.computes = [](Operation *anchor) {
    return isa_and_nonnull<ConvOp>(anchor) && isFor(getElementTypeOrSelf(anchor->getOperand(0))) && !hasPackedFilters(anchor);
  };
  return row;
}

template <bool (*isFor)(Type)> static KernelRow bySteps(llvm::StringLiteral name) {
  return ofInputs<isFor>(window<ConvOp>(name, matchConvSteps, lowerConvSteps).planning(PlanProduct).refusing(findConvStepFault));
}

ArrayRef<KernelRow> getConvolutionKernels() {
  static const KernelRow rows[] = {
      KernelRow{"conv_strips", computes<ConvOp>, matchConvStrips, lowerConvStrips}
          .placing(PlaceSupport::Operands)
          .joining(GroupForm::Strips)
          .planning(PlanTile | PlanStreams | PlanPixels | PlanBands)
          .refusing(findStripsFault),
      KernelRow{"winograd_columns", computes<WinogradConvOp>, matchWinogradColumns, lowerWinogradColumns}
          .placing(PlaceSupport::Operands)
          .planning(PlanTile | PlanStreams | PlanBlock | PlanDepth | PlanBands)
          .refusing(findWinogradFault),
      KernelRow{"winograd_tiles", computes<WinogradConvOp>, matchWinogradTiles, lowerWinogradTiles}
          .placing(PlaceSupport::Operands)
          .planning(PlanTile | PlanStreams | PlanBlock | PlanPrefetch | PlanBands)
          .refusing(findWinogradFault),
      KernelRow{"winograd_filters", computes<WinogradFilterOp>, matchWinogradFilters, lowerWinogradFilters}.planning(PlanBlocks),
      window<ConvOp>("conv_depthwise", matchConvDepthwise, lowerConvDepthwise).planning(PlanLines | PlanPixels | PlanInside).refusing(findDepthwiseFault),
      ofInputs<isByte>(window<ConvOp>("depthwise_windows", matchDepthwiseWindows, lowerDepthwiseWindows).refusing(findDepthwiseRowsFault)),
      ofInputs<isByte>(window<ConvOp>("depthwise_rows", matchDepthwiseRows, lowerDepthwiseRows).refusing(findDepthwiseRowsFault)),
      ofInputs<isByte>(window<ConvOp>("depthwise_bytes", matchDepthwiseBytes, lowerDepthwiseBytes).planning(PlanPixels).refusing(findDepthwiseBytesFault)),
      ofInputs<isByteOrHalf>(window<ConvOp>("conv_tile_steps", matchConvTileSteps, lowerConvTileSteps).planning(PlanTileSteps).refusing(findTilePlanFault)),
      bySteps<isByte>("conv_bytes"),
      bySteps<isBf16>("conv_bf16"),
      bySteps<isF16>("conv_f16"),
      ofPackedFilters(window<ConvOp>("conv_packed_steps", matchConvPackedSteps, lowerConvPackedSteps).planning(PlanProduct).refusing(findPackedStepFault)),
      ofPackedFilters(window<ConvOp>("conv_packed", matchConvPacked, lowerConvPacked).planning(PlanProduct).tunable()),
      // It repeats pixels of a line, so it must not overwrite what its epilogue reads.
      window<ConvOp>("conv_dots", matchConvDots, lowerConvDots).overwriting(OverwriteSupport::None).planning(PlanTile).refusing(findDotsFault),
      window<ConvOp>("conv_tiled", matchConvTiled, lowerConvTiled).planning(PlanProduct | PlanBorder).refusing(findBorderFault).tunable(),
      window<ConvOp>("conv_ordered", matchConvOrdered, lowerConvOrdered).planning(PlanProduct).tunable(),
      window<ConvOp>("conv_loops", "layout, types or weights without a tiled kernel", lowerConvLoops),
      window<MaxPoolOp, AvgPoolOp>("pool_windows", matchPoolWindows, lowerPoolWindows),
  };
  return rows;
}

} // namespace kiln
