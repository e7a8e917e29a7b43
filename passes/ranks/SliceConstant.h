//===- SliceConstant.h - A part of a constant --------------------------------===//
#ifndef KILN_PASSES_RANKS_SLICECONSTANT_H
#define KILN_PASSES_RANKS_SLICECONSTANT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/ranks/Layouts.h"

namespace kiln {

/// The part of a constant that a rank has. It borrows the bytes of the whole one (dialects/nn/ConstantPart.h) and remembers the cut.
mlir::ElementsAttr sliceConstant(mlir::ElementsAttr value, const Cut &cut, const Grid &grid, int64_t rank);

/// Part `index` of `parts` equal ones along a dimension. Bytes that are next to each other in a constant that is no part are borrowed, not copied.
mlir::ElementsAttr sliceConstant(mlir::ElementsAttr value, unsigned dim, int64_t parts, int64_t index);

/// The indices [first, first + count) of the first dimension.
mlir::ElementsAttr sliceRows(mlir::ElementsAttr value, int64_t first, int64_t count);

} // namespace kiln

#endif // KILN_PASSES_RANKS_SLICECONSTANT_H
