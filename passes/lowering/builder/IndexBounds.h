//===- IndexBounds.h - What places are proven to be at least ----------------===//
#ifndef KILN_PASSES_LOWERING_BUILDER_INDEXBOUNDS_H
#define KILN_PASSES_LOWERING_BUILDER_INDEXBOUNDS_H

#include "mlir/IR/AffineExpr.h"

namespace kiln {

/// Whether an expression of indices and sizes, which are at least 0, is proven to be so as well. Nothing is divided by less than 1.
bool isNeverNegative(mlir::AffineExpr expr);

} // namespace kiln

#endif // KILN_PASSES_LOWERING_BUILDER_INDEXBOUNDS_H
