//===- LaunchOrder.h - Launches so that buffers take less memory -----------===//
#ifndef KILN_PASSES_KERNEL_LAUNCHORDER_H
#define KILN_PASSES_KERNEL_LAUNCHORDER_H

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Whether the launches may be moved and run again. Whether an output can be an input's own buffer depends on the order that the user has seen, and the ranks
/// of a sharded model exchange values in one order.
bool mayReorderLaunches(mlir::ModuleOp module);

/// Puts the launches in the order in which fewest bytes are alive at the same time. What the entry computes stays the same.
void orderLaunches(kernel::EntryOp entry);

/// How much work a smaller workspace is worth.
struct RecomputeLimits {
  /// The workspace that is small enough; -1: none is.
  int64_t enoughBytes = -1;
  /// The most work that is added, as a share of the run's own.
  double mostWork = 0.25;
  /// Whether the workspace must shrink by a larger share than the work grows by.
  bool mustPay = true;
};

/// Computes values again for their late users where they would otherwise be kept while most bytes are alive, and says so in the `kernel.reason` of the
/// launches. What the entry computes stays the same.
void recomputeLaunches(kernel::EntryOp entry, const RecomputeLimits &limits);

} // namespace kiln

#endif // KILN_PASSES_KERNEL_LAUNCHORDER_H
