//===- ByteTile.h - How a product of bytes is computed --------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_BYTETILE_H
#define KILN_PASSES_TARGET_CHOICE_BYTETILE_H

#include "passes/target/choice/KernelTable.h"
#include <optional>

namespace kiln {

/// The target's step for unsigned by signed bytes; the one that is written for any CPU when it lists none.
kernel::StepAttr findByteStep(kernel::TargetAttr target);

/// The same for signed by unsigned bytes.
kernel::StepAttr findSignedByteStep(kernel::TargetAttr target);

/// The plan for a product with weights in blocks that has so many rows (nullopt: known at run time only) and columns: each block has sums of its own beside
/// those of the tile.
PlanNumbers planBlockProduct(kernel::TargetAttr target, std::optional<int64_t> rows, int64_t columns);

/// The plan for a product with so many rows and columns, and as many bytes from row to row of the left side (nullopt: known at run time only).
PlanNumbers planByteProduct(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns, std::optional<int64_t> rowStride);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_BYTETILE_H
