//===- TaskFootprint.h - The elements that tasks of a kernel reach ----------===//
#ifndef KILN_PASSES_KERNEL_TASKFOOTPRINT_H
#define KILN_PASSES_KERNEL_TASKFOOTPRINT_H

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/KernelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace kiln {

/// Elements of a buffer, [first, end) each. They are at least those that are meant, and may be more.
using ElementRanges = llvm::SmallVector<std::pair<int64_t, int64_t>, 2>;

/// Whether two have an element in common.
bool meet(const ElementRanges &one, const ElementRanges &other);

/// How many elements ranges have at most.
int64_t countElements(const ElementRanges &ranges);

/// The elements of each argument of a kernel that some of its tasks read and write.
struct TaskFootprint {
  std::vector<ElementRanges> reads, writes;
};

/// That of tasks [first, end) of a launch. Loops of few steps are followed step by step, others as if their index had all of its values at any time.
TaskFootprint findFootprint(kernel::LaunchOp launch, mlir::func::FuncOp kernel, int64_t first, int64_t end);

} // namespace kiln

#endif // KILN_PASSES_KERNEL_TASKFOOTPRINT_H
