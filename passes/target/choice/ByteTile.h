//===- ByteTile.h - How a product of bytes is computed --------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_BYTETILE_H
#define KILN_PASSES_TARGET_CHOICE_BYTETILE_H

#include "passes/target/choice/KernelTable.h"
#include <optional>

namespace kiln {

/// The target's step for unsigned by signed bytes; null when it lists none.
kernel::StepAttr findByteStep(kernel::TargetAttr target);

/// The plan for a product with so many rows and columns, and as many bytes from row to row of the left side (nullopt: known at run time only).
PlanNumbers planByteProduct(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns, std::optional<int64_t> rowStride);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_BYTETILE_H
