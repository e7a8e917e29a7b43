//===- DotTile.h - Products with few columns, in vectors along the sum -----===//
#ifndef KILN_PASSES_TARGET_CHOICE_DOTTILE_H
#define KILN_PASSES_TARGET_CHOICE_DOTTILE_H

#include "dialects/kernel/Kernel.h"

namespace kiln {

/// The lanes of vectors along a sum, of which `run` elements lie side by side on both sides: a power of two.
int64_t chooseDotLanes(kernel::TargetAttr target, mlir::Type element, int64_t run);

/// The cost of a row of such a product with `columns` columns and sums of `length` products, in multiplications of a vector.
double estimateDots(int64_t columns, int64_t length, int64_t lanes);

/// The pixels that a kernel sums at once in a line of `line` of them (INT64_MAX: known at run time only): at most as many as vectors have lanes, which one
/// vector then has the sums of, in blocks as even as can be.
int64_t choosePixelsAtOnce(int64_t line, int64_t lanes);

} // namespace kiln

#endif // KILN_PASSES_TARGET_CHOICE_DOTTILE_H
