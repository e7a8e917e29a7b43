//===- StepTile.h - Products by steps of several rows ----------------------===//
//
// A step of several rows has registers of its own, which hold tiles: rows of the left side, as many columns of the right side as it has lanes, and their
// sums. The kernel headers' functions for such steps (runtime/include/kiln/tiles.h) keep the sums of two by two tiles.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_STEPTILE_H
#define KILN_PASSES_TARGET_CHOICE_STEPTILE_H

#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"
#include <optional>

namespace kiln {

/// Tiles of sums side by side, and below each other.
constexpr int64_t tilesAtOnce = 2;

/// What plans of such kernels have.
constexpr unsigned PlanTileSteps = PlanTile | PlanChunk | PlanDepth | PlanPrefetch;

/// What they are for: the type of the left side.
inline bool isByteOrHalf(mlir::Type lhs) { return lhs.isUnsignedInteger(8) || lhs.isBF16() || lhs.isF16(); }

/// The target's step of several rows for such elements and the type that the result is computed in; null: it has none.
kernel::StepAttr findTileStep(kernel::TargetAttr target, mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// That of the plan of a group whose anchor multiplies its first two operands.
kernel::StepAttr getTileStep(nn::GroupOp group);

/// Neighbouring elements of a sum that lie side by side in a row of a tile of the right side: those of the bits of a sum.
int64_t countTogether(kernel::StepAttr step);

/// The products of a step, which may be fewer than it has room for: no step goes beyond the `length` elements of the left side that lie side by side.
/// They are a multiple of countTogether(step) that divides `length` and either divides `unit`, of which `length` is a multiple, or is a multiple of it if
/// `unit` is one of countTogether(step), too.
/// 0: there is no such number.
int64_t chooseTileDepth(kernel::StepAttr step, int64_t length, int64_t unit);

/// Why a product with so many rows (nullopt: known at run time only) is no work for the step, with `depth` of its products; empty: it is.
std::string findTileFault(kernel::StepAttr step, std::optional<int64_t> rows, int64_t depth);

/// The plan for a product with so many rows and columns.
PlanNumbers planTileProduct(kernel::TargetAttr target, kernel::StepAttr step, std::optional<int64_t> rows, int64_t columns, int64_t depth);

/// What is wrong with an edited plan, whose numbers are not those that `fit` has chosen: only the rows of the tile and the chunk may differ.
std::string findTilePlanFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);

/// Why there is none for operands of such types.
std::string describeMissingTileStep(mlir::Type lhs, mlir::Type rhs);

/// The reason for such a kernel.
std::string describeTileStep(kernel::StepAttr step, int64_t depth);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_STEPTILE_H
