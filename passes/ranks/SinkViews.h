//===- SinkViews.h - Views beside their users --------------------------------===//
#ifndef KILN_PASSES_RANKS_SINKVIEWS_H
#define KILN_PASSES_RANKS_SINKVIEWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// Gives each use of a view or reshape a copy of its own, in front of the user. A view costs nothing in any part, so each use can have the part that it
/// wants, and a view that all layers share, as of masks and of angles, is no choice that the search for a cut must keep open over all of them.
void sinkViews(mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_PASSES_RANKS_SINKVIEWS_H
