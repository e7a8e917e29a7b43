//===- Shortlist.h - Products with the columns that a gather picks ----------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_SHORTLIST_H
#define KILN_PASSES_LOWERING_CONTRACTION_SHORTLIST_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

KernelMatch matchGemmShortlist(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
mlir::FailureOr<LaunchInfo> lowerGemmShortlist(KernelBuilder &builder, mlir::Operation *anchor);

/// The same loops for weights in blocks that are computed.
KernelMatch matchBlockDots(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
mlir::FailureOr<LaunchInfo> lowerBlockDots(KernelBuilder &builder, mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_SHORTLIST_H
