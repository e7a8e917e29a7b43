//===- Kernels.h - The kernel implementations, one or two functions each ---===//
#ifndef KILN_PASSES_TARGET_CHOICE_KERNELS_H
#define KILN_PASSES_TARGET_CHOICE_KERNELS_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

#define KILN_KERNEL(name)                                                                                              \
  KernelMatch match##name(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);                      \
  mlir::FailureOr<LaunchInfo> lower##name(KernelBuilder &builder, mlir::Operation *anchor)

KILN_KERNEL(AttentionRows);
KILN_KERNEL(CompositeCall);
KILN_KERNEL(ConvSteps);
KILN_KERNEL(ConvDepthwise);
KILN_KERNEL(ConvDots);
KILN_KERNEL(ConvStrips);
KILN_KERNEL(ConvTiled);
KILN_KERNEL(ConvTileSteps);
KILN_KERNEL(DepthwiseBytes);
KILN_KERNEL(DepthwiseRows);
KILN_KERNEL(DepthwiseWindows);
KILN_KERNEL(GemmSteps);
KILN_KERNEL(GemmDots);
KILN_KERNEL(GemmGathered);
KILN_KERNEL(GemmPacked);
KILN_KERNEL(GemmPackedBytes);
KILN_KERNEL(GemmTiled);
KILN_KERNEL(GemmTileSteps);
KILN_KERNEL(SoftmaxRows);
KILN_KERNEL(ProductSoftmax);
KILN_KERNEL(PadSquares);
KILN_KERNEL(PadWoven);
KILN_KERNEL(PoolWindows);
KILN_KERNEL(OneDnnConv);
KILN_KERNEL(OneDnnLayerNorm);
KILN_KERNEL(OneDnnMatmul);
KILN_KERNEL(OneDnnSoftmax);
KILN_KERNEL(GatherCopy);
KILN_KERNEL(Col2ImPlanes);
KILN_KERNEL(DistancePanels);
KILN_KERNEL(FourierRows);
KILN_KERNEL(RuntimeCall);
KILN_KERNEL(ScatterUpdates);
KILN_KERNEL(InterleaveLoops);
KILN_KERNEL(TransposeTiled);
KILN_KERNEL(WinogradColumns);
KILN_KERNEL(WinogradFilters);
KILN_KERNEL(WinogradTiles);

#undef KILN_KERNEL

// Those whose rows say by themselves which groups they fit.
#define KILN_KERNEL(name) mlir::FailureOr<LaunchInfo> lower##name(KernelBuilder &builder, mlir::Operation *anchor)

KILN_KERNEL(ArgReduceScan);
KILN_KERNEL(ComputedDim);
KILN_KERNEL(ConcatCopy);
KILN_KERNEL(ConvLoops);
KILN_KERNEL(CumulativeScan);
KILN_KERNEL(ElementwiseLoops);
KILN_KERNEL(GruSteps);
KILN_KERNEL(LayerNormRows);
KILN_KERNEL(LstmSteps);
KILN_KERNEL(MatmulLoops);
KILN_KERNEL(NmsGreedy);
KILN_KERNEL(NonZeroScan);
KILN_KERNEL(PadCopy);
KILN_KERNEL(ReduceLoops);
KILN_KERNEL(ResizeLoops);
KILN_KERNEL(RnnSteps);
KILN_KERNEL(SoftmaxScan);
KILN_KERNEL(TopKLines);
KILN_KERNEL(UniqueRows);

#undef KILN_KERNEL

/// @name What is in the way of plans with other numbers (KernelRow::findFault)
/// @{
std::string findGemmStepFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findConvStepFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findPackedBytesFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findDepthwiseBytesFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findDepthwiseRowsFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findAttentionFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findDepthwiseFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findSoftmaxFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findStripsFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findDotsFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
std::string findSquareFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
/// @}

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_KERNELS_H
