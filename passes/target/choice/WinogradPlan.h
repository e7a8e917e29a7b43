//===- WinogradPlan.h - What Winograd's convolution costs ------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_WINOGRADPLAN_H
#define KILN_PASSES_TARGET_CHOICE_WINOGRADPLAN_H

#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/choice/TileShape.h"
#include <optional>

namespace kiln {

/// The products cancel in the inverse transform, so their rounding errors count more than those of a direct sum: shorter chains.
inline constexpr int64_t winogradChain = 16;

/// What the sides of images count as where only run time knows them, and the least for which a form should be no slower than the direct one: assumptions
/// about the images that models are given, not measured numbers.
inline constexpr int64_t typicalSide = 640, smallSide = 160;

/// A 3x3 convolution of stride 1.
struct ConvExtents {
  /// Of the result; estimates of what is known at run time only.
  int64_t images, height, width;
  int64_t in, out;
  /// In which the transformed elements are computed and kept.
  mlir::Type element;
  /// Of the input as it is stored: what a step of the direct form multiplies. Null: `element`.
  mlir::Type stored = {};
};
/// Of the types of its input and result, channels last. A batch that is known at run time only counts as one image; lines and pixels count as those of an
/// image with sides of `side`.
ConvExtents getExtents(mlir::Type input, mlir::Type output, int64_t side = typicalSide);
ConvExtents getExtents(nn::WinogradConvOp conv);

/// How the tiles of the result are walked. Tiles go in blocks that fit the second-level cache, each of which meets all transformed filters; with
/// few tiles (`byColumns`) they are one block, and the filters are transformed on the way, a part of the input channels of one panel at a time.
struct WinogradPlan {
  /// The register tile; its rows are tiles of the result.
  TileShape shape;
  /// Tiles of a block, a multiple of shape.rows.
  int64_t blockTiles;
  /// Elements from a tile to the next in the transformed input.
  int64_t inputStride;
  bool byColumns = false;
  /// Input channels whose filters are in the second-level cache while all places meet them; by columns only.
  int64_t depth = 0;
  /// Estimated time, in multiply-adds of a vector.
  double cost = 0;
};

/// The best plan of either kind, or of the kind that is asked for.
WinogradPlan planWinograd(kernel::TargetAttr target, const ConvExtents &conv, int64_t tile, std::optional<bool> byColumns = std::nullopt);

/// @name The plan as that of a group
/// @{
kernel::PlanAttr makePlan(kernel::TargetAttr target, const WinogradPlan &plan, int64_t tile);
/// The plan that the convolution has, if it is for that kind of kernel.
KernelMatch matchPlanned(nn::WinogradConvOp conv, kernel::TargetAttr target, bool byColumns, const llvm::Twine &reason);
WinogradPlan readPlan(nn::GroupOp group, nn::WinogradConvOp conv);
/// The columns of a panel of the transformed filters; 0 if the kernel transforms them.
int64_t getPanelColumns(nn::WinogradConvOp conv);
/// Why its numbers do not fit the convolution, as KernelRow::findFault says it.
std::string findWinogradFault(nn::GroupOp group, mlir::Operation *conv, kernel::PlanAttr plan);
/// @}

/// The same measure for the direct form.
double estimateDirect(kernel::TargetAttr target, const ConvExtents &conv);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_WINOGRADPLAN_H
