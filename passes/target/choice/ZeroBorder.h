//===- ZeroBorder.h - Zeros around the picture of a convolution ------------===//
//
// A tap of a window that lies in the zeros around the picture adds nothing. Large dilations have many such taps:
//
//   padded line   0 0 0 0 0 0 x x x x x x x x x 0 0 0 0 0 0        3 taps, dilation 6
//   result 0      t           t           .                        the first tap lies in the zeros
//   result 8                      .           t           t        the last one does
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_TARGET_CHOICE_ZEROBORDER_H
#define KILN_PASSES_TARGET_CHOICE_ZEROBORDER_H

#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/target/choice/TileShape.h"

namespace kiln {

/// For each spatial dimension of a channels_last convolution's input, the zeros before the picture and the elements of the picture, if tiles of that shape that
/// pass over the taps outside of it are worthwhile. Empty if they are not, if nothing pads the input, or if a weight is not finite, whose product with zero is
/// NaN.
llvm::SmallVector<int64_t, 4> findZeroBorder(nn::GroupOp group, nn::ConvOp conv, TileShape tile);

/// The part of all products that tiles of that shape compute if they pass over taps outside of the picture, for a convolution whose input is an nn.pad; 1
/// without one, or if only run time knows the sizes.
double getSeenShare(nn::ConvOp conv, TileShape tile);

/// Says why a plan's border is not that of the input; empty when it is.
std::string findBorderFault(nn::GroupOp group, mlir::Operation *anchor, kernel::PlanAttr plan);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_ZEROBORDER_H
