//===- PointwiseProducts.h - Convolutions of single pixels as products -----===//
#ifndef KILN_PASSES_TARGET_LAYOUT_POINTWISEPRODUCTS_H
#define KILN_PASSES_TARGET_LAYOUT_POINTWISEPRODUCTS_H

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Whether the operation has windows in a picture, so that it works with channels_last.
bool isSpatial(mlir::Operation *op);

/// Makes channels_first convolutions in groups, of single pixels, products of the weight and all pixels, where no other convolution would have the pixels in
/// channels_last: transposes there and back would take longer than the convolution.
void makePointwiseProducts(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_PASSES_TARGET_LAYOUT_POINTWISEPRODUCTS_H
