//===- BlockProduct.h - Products with weights of 4 or 8 bits in blocks ------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_BLOCKPRODUCT_H
#define KILN_PASSES_LOWERING_CONTRACTION_BLOCKPRODUCT_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

KernelMatch matchGemmBlocks(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
std::string findBlockStepFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
mlir::FailureOr<LaunchInfo> lowerGemmBlocks(KernelBuilder &builder, mlir::Operation *anchor);

KernelMatch matchGemmUnpacked(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
std::string findUnpackedFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);
mlir::FailureOr<LaunchInfo> lowerGemmUnpacked(KernelBuilder &builder, mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_BLOCKPRODUCT_H
