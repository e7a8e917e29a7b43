//===- SliceConstant.h - A part of a constant --------------------------------===//
#ifndef KILN_PASSES_RANKS_SLICECONSTANT_H
#define KILN_PASSES_RANKS_SLICECONSTANT_H

#include "mlir/IR/BuiltinAttributes.h"

namespace kiln {

/// Part `index` of `parts` equal ones of a constant along a dimension. Parts whose bytes are next to each other are borrowed, not copied.
mlir::ElementsAttr sliceConstant(mlir::ElementsAttr value, unsigned dim, int64_t parts, int64_t index);

/// The indices [first, first + count) of the first dimension.
mlir::ElementsAttr sliceRows(mlir::ElementsAttr value, int64_t first, int64_t count);

} // namespace kiln

#endif // KILN_PASSES_RANKS_SLICECONSTANT_H
