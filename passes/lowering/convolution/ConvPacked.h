//===- ConvPacked.h - Convolutions whose filters are not constant ----------===//
#ifndef KILN_PASSES_LOWERING_CONVOLUTION_CONVPACKED_H
#define KILN_PASSES_LOWERING_CONVOLUTION_CONVPACKED_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

/// Whether it is a convolution whose filters are an argument that the caller has packed.
bool hasPackedFilters(mlir::Operation *anchor);
KernelMatch matchConvPacked(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
KernelMatch matchConvPackedSteps(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
std::string findPackedStepFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
mlir::FailureOr<LaunchInfo> lowerConvPackedSteps(KernelBuilder &k, mlir::Operation *anchor);
mlir::FailureOr<LaunchInfo> lowerConvPacked(KernelBuilder &k, mlir::Operation *anchor);

/// What the kernels load of a convolution: filters in another order, through a view.
PrologueSupport loadsOrderedFilters(mlir::Operation *anchor, unsigned operand);
KernelMatch matchConvOrdered(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
mlir::FailureOr<LaunchInfo> lowerConvOrdered(KernelBuilder &k, mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONVOLUTION_CONVPACKED_H
