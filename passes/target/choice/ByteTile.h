//===- ByteTile.h - The register tile of a product of bytes ---------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_BYTETILE_H
#define KILN_PASSES_TARGET_CHOICE_BYTETILE_H

#include "dialects/kernel/Kernel.h"
#include "passes/target/choice/TileShape.h"
#include <optional>

namespace kiln {

/// The target's step for unsigned by signed bytes; null when it lists none.
kernel::StepAttr findByteStep(kernel::TargetAttr target);

/// The tile for a product with so many rows and columns (nullopt: known at run time only).
TileShape chooseByteTile(kernel::TargetAttr target, std::optional<int64_t> rows, std::optional<int64_t> columns);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_BYTETILE_H
