//===- CostModel.h - What shape a kernel takes, and what a profile says ----===//
#ifndef KILN_PASSES_TARGET_CHOICE_COSTMODEL_H
#define KILN_PASSES_TARGET_CHOICE_COSTMODEL_H

#include "dialects/kernel/Kernel.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/choice/TileShape.h"
#include <optional>
#include <string>

namespace kiln {

/// Notes in `kernel.profile_use` whether the plan that the profile has for such work fitted a group.
void recordProfileUse(mlir::ModuleOp module, llvm::StringRef work, bool fits);

/// The tile for a product of that step with so many rows and columns; `rowStride`: elements from one row of the left side to the next (nullopt: known at
/// run time only).
TileShape chooseTile(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, std::optional<int64_t> columns,
                     std::optional<int64_t> rowStride);
/// The same for a product of such elements by the plain step of the type that they are computed in.
TileShape chooseTile(kernel::TargetAttr target, mlir::Type element, std::optional<int64_t> rows, std::optional<int64_t> columns,
                     std::optional<int64_t> rowStride);

/// The bytes of a product's right side that stay in the second-level cache while rows go by.
int64_t chooseChunkBytes(kernel::TargetAttr target);

/// How far ahead of its use a right side is prefetched into the first- and the second-level cache, in elements.
llvm::SmallVector<int64_t, 3> choosePrefetches(kernel::TargetAttr target);

/// The numbers of a product with that tile.
PlanNumbers planProduct(kernel::TargetAttr target, TileShape tile);

/// @name A tile as the plan of a group has it
/// @{
llvm::SmallVector<int64_t, 3> toNumbers(TileShape tile);
TileShape toTile(llvm::ArrayRef<int64_t> numbers);
/// That of a group whose kernel has one.
TileShape getTile(nn::GroupOp group);
/// @}

/// What a group computes, as far as its speed depends on it: the anchor with its attributes and types, `*` behind constants, and the operations
/// around it. Empty when there is no anchor.
std::string describeWork(nn::GroupOp group);

/// The ways worth measuring, as entries of a profile; the first is what the model chooses. The row that fits everything is none of them, unless it is
/// the only one.
llvm::SmallVector<kernel::PlanAttr> listChoices(nn::GroupOp group, kernel::TargetAttr target);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_COSTMODEL_H
