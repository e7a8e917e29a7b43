//===- TreeRows.h - The kernel of nn.tree_ensemble ---------------------------===//
#ifndef KILN_PASSES_LOWERING_CALLS_TREEROWS_H
#define KILN_PASSES_LOWERING_CALLS_TREEROWS_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/KernelBuilder.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

KernelMatch matchTreeRows(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
mlir::FailureOr<LaunchInfo> lowerTreeRows(KernelBuilder &builder, mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CALLS_TREEROWS_H
