//===- MovementKernels.cpp - Kernels of what moves elements, and element-wise operations ---===//
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Indices and updates are read once. What slices are copied from must hold them in one piece, and a scatter begins as a copy of its input.
static PrologueSupport loadsAllButFirst(Operation *, unsigned operand) { return operand == 0 ? PrologueSupport::None : PrologueSupport::All; }

ArrayRef<KernelRow> getMovementKernels() {
  static const KernelRow rows[] = {
      KernelRow{"concat_copy", computes<ConcatOp>, "concatenation: the operands' runs copied side by side", lowerConcatCopy}
          .placing(PlaceSupport::Operands)
          .loading(loadsAll),
      KernelRow{"pad_woven", computes<PadOp>, matchPadWoven, lowerPadWoven}.loading(loadsAll),
      KernelRow{"pad_squares", computes<PadOp>, matchPadSquares, lowerPadSquares}
          .placing(PlaceSupport::Operands)
          .loading(loadsAll)
          .planning(PlanTile)
          .refusing(findSquareFault),
      KernelRow{"pad_copy", computes<PadOp>, "padding: runs of border and of input, in vectors", lowerPadCopy}
          .placing(PlaceSupport::Operands)
          .loading(loadsAll),
      KernelRow{"gather_copy", computes<GatherOp, GatherElementsOp, GatherNdOp>, matchGatherCopy, lowerGatherCopy}
          .placing(PlaceSupport::Results)
          .loading(loadsAllButFirst)
          .checking(always),
      KernelRow{"scatter_updates", computes<ScatterElementsOp, ScatterNdOp>, matchScatterUpdates, lowerScatterUpdates}
          .overwriting(OverwriteSupport::Rows)
          .loading(loadsAllButFirst)
          // It reads back what it has stored.
          .storing(EpilogueSupport::None)
          .checking(always),
      KernelRow{"resize_loops", computes<ResizeOp>, "resampling: taps once a coordinate, vectors over the dimensions behind", lowerResizeLoops}
          .placing(PlaceSupport::Operands),
      KernelRow{"interleave_loops", computesNoAnchor, matchInterleaveLoops, lowerInterleaveLoops},
      KernelRow{"transpose_tiled", computesNoAnchor, matchTransposeTiled, lowerTransposeTiled}
          .placing(PlaceSupport::Results)
          .planning(PlanTile | PlanSquares)
          .refusing(findSquareFault),
      KernelRow{"loops", computesNoAnchor, "element-wise: one loop over the result", lowerElementwiseLoops}
          .placing(PlaceSupport::Operands)
          .overwriting(OverwriteSupport::Sides),
  };
  return rows;
}

} // namespace kiln
