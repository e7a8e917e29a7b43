//===- Passes.td - Passes of the kernel stage that few files know -----------===//
//
// Those of passes/Passes.td are known to every pass.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_KERNEL_PASSES
#define KILN_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def OverlapExchanges : Pass<"kernel-overlap-exchanges", "mlir::ModuleOp"> {
  let summary = "Starts what ranks exchange as soon as it can be sent, and completes it where it is needed; other launches run in between.";
}

#endif // KILN_KERNEL_PASSES
