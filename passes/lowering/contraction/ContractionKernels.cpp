//===- ContractionKernels.cpp - Kernels of matrix products ----------------===//
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/lowering/contraction/BlockProduct.h"
#include "passes/lowering/contraction/Shortlist.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/StepTile.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Operands are read several times: they may be views, but nothing is computed on the way.
static constexpr KernelRow product(llvm::StringLiteral name, RowFit fit, decltype(KernelRow::lower) lower) {
  return KernelRow{name, computes<MatmulOp>, fit, lower}.placing(PlaceSupport::Operands).overwriting(OverwriteSupport::Sides).loading(loadsViews);
}

/// A row for left sides of one type only.
template <bool (*isFor)(Type)> static KernelRow ofLeftSides(KernelRow row) {
  row.computes = [](Operation *anchor) { return isa_and_nonnull<MatmulOp>(anchor) && isFor(getElementTypeOrSelf(anchor->getOperand(0))); };
  return row;
}

template <bool (*isFor)(Type)> static KernelRow bySteps(llvm::StringLiteral name) {
  return ofLeftSides<isFor>(product(name, matchGemmSteps, lowerGemmSteps).planning(PlanProduct).refusing(findGemmStepFault));
}

ArrayRef<KernelRow> getContractionKernels() {
  static const KernelRow rows[] = {
      KernelRow{"product_softmax", computes<MatmulOp, ConvOp>, matchProductSoftmax, lowerProductSoftmax}
          .placing(PlaceSupport::Operands)
          .joining(GroupForm::ProductSoftmax)
          .planning(PlanProduct | PlanStrip),
      KernelRow{"gemm_gathered", computes<GatherOp>, matchGemmGathered, lowerGemmGathered}
          .placing(PlaceSupport::Results)
          .checking(always)
          .joining(GroupForm::GatheredProduct)
          .planning(PlanProduct),
      KernelRow{"gemm_shortlist", computes<GatherOp>, matchGemmShortlist, lowerGemmShortlist}
          .placing(PlaceSupport::Results)
          .checking(always)
          .joining(GroupForm::GatheredProduct)
          .planning(PlanTile | PlanBlocks),
      KernelRow{"gemm_unpacked", computes<BlockQuantizedMatmulOp>, matchGemmUnpacked, lowerGemmUnpacked}
          .placing(PlaceSupport::Sides)
          .planning(PlanTile | PlanDepth | PlanBlocks)
          .refusing(findUnpackedFault),
      KernelRow{"gemm_blocks", computes<BlockQuantizedMatmulOp>, matchGemmBlocks, lowerGemmBlocks}
          .placing(PlaceSupport::Sides)
          .planning(PlanTile | PlanChunk | PlanPrefetch)
          .refusing(findBlockStepFault),
      ofLeftSides<isByteOrHalf>(product("gemm_tile_steps", matchGemmTileSteps, lowerGemmTileSteps).planning(PlanTileSteps).refusing(findTilePlanFault)),
      KernelRow{"block_dots", computes<BlockQuantizedMatmulOp>, matchBlockDots, lowerBlockDots}
          .placing(PlaceSupport::Sides)
          .planning(PlanTile | PlanBlocks),
      bySteps<isByte>("gemm_bytes"),
      ofLeftSides<isByte>(product("gemm_packed_bytes", matchGemmPackedBytes, lowerGemmPackedBytes)
                              .planning(PlanTile | PlanStreams | PlanDepth | PlanBlocks)
                              .refusing(findPackedBytesFault)),
      bySteps<isBf16>("gemm_bf16"),
      bySteps<isF16>("gemm_f16"),
      product("gemm_dots", matchGemmDots, lowerGemmDots).planning(PlanTile | PlanBlocks),
      product("gemm_packed", matchGemmPacked, lowerGemmPacked).planning(PlanTile | PlanStreams | PlanDepth | PlanBlocks).tunable(),
      product("gemm_tiled", matchGemmTiled, lowerGemmTiled).planning(PlanProduct).tunable(),
      product("matmul_loops", "element types or views without a tiled kernel", lowerMatmulLoops),
  };
  return rows;
}

} // namespace kiln
