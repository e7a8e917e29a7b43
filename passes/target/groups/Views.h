//===- Views.h - Values seen through views --------------------------------===//
#ifndef KILN_PASSES_TARGET_GROUPS_VIEWS_H
#define KILN_PASSES_TARGET_GROUPS_VIEWS_H

#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"

namespace kiln {

using IndexExprs = llvm::SmallVector<mlir::AffineExpr>;

/// How much `expr` grows when loop dim `dim` grows by one; nullopt when that is not one constant.
std::optional<int64_t> coefficientOf(mlir::AffineExpr expr, unsigned dim);
/// The same as an expression (of symbols, say); null when `expr` is not linear in the dim.
mlir::AffineExpr linearCoefficient(mlir::AffineExpr expr, unsigned dim);

/// A tensor seen through views: which block argument it is, and where.
struct TracedView {
  unsigned argument;
  IndexExprs at;
  /// The element's offset in the argument's buffer.
  mlir::AffineExpr offset;
};
/// nullopt when something computes on the way.
std::optional<TracedView> traceViews(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> at);
/// traceViews at (d0, d1, ...), if the offset is linear in all of them.
std::optional<TracedView> traceLinearView(mlir::Value tensor);

/// Whether a value is a constant, seen from inside of a group, too.
bool isConstant(mlir::Value value);

/// Whether the filters of a convolution are seen through a view that has output channels side by side, as OrderFilters makes them.
bool areOrderedFilters(mlir::Value filters);

/// The value that a buffer is made for: reshapes are other names for it.
mlir::Value seeThroughReshapes(mlir::Value tensor);

} // namespace kiln

#endif // KILN_PASSES_TARGET_GROUPS_VIEWS_H
