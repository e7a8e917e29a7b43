//===- Passes.td - Passes of sharded models that few files know -------------===//
//
// Those of passes/Passes.td are known to every pass.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_RANK_PASSES
#define KILN_RANK_PASSES

include "mlir/Pass/PassBase.td"

def MergeExchanges : Pass<"nn-merge-exchanges", "mlir::ModuleOp"> {
  let summary = "Merges collectives that can go at the same time into one, so that what goes to another rank is one message.";
  let description = [{
    For a rank's module by itself. A compile decides for all ranks together, because what depends on what may differ between them.
  }];
}

#endif // KILN_RANK_PASSES
