//===- UserCalls.h - Kernels that call functions of the program's -----------===//
#ifndef KILN_PASSES_LOWERING_CALLS_USERCALLS_H
#define KILN_PASSES_LOWERING_CALLS_USERCALLS_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"

namespace kiln {

/// nn.extern_call: a function that returns a status, with a weak default in the library.
KernelMatch matchExternCall(nn::GroupOp group, mlir::Operation *anchor, kernel::TargetAttr target);
mlir::FailureOr<LaunchInfo> lowerExternCall(KernelBuilder &k, mlir::Operation *anchor);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CALLS_USERCALLS_H
