//===- DimFacts.h - What sizes are at least and at most ---------------------===//
#ifndef KILN_DIALECTS_NN_DIMFACTS_H
#define KILN_DIALECTS_NN_DIMFACTS_H

#include "dialects/nn/Dims.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln::nn {

/// The least and the most that a number can be; nothing: not known.
struct DimRange {
  std::optional<int64_t> least, most;
};

/// Whether an expression, written out, has more than `parts` parts. Expressions are shared where they are the same, so that what is written
/// down in few steps may have no end.
bool hasMoreParts(mlir::AffineExpr expr, unsigned parts);

/// What is known of symbols, none of which is negative.
class DimFacts {
public:
  DimFacts() = default;
  /// What runs of the module check: its symbols' bounds, and its constraints that something is not negative.
  explicit DimFacts(mlir::ModuleOp module);
  /// The symbol is in the range, which may be known of it in part already.
  void bound(unsigned symbol, DimRange range);
  /// The expression is not negative.
  void add(mlir::AffineExpr notNegative);

  DimRange getRange(mlir::AffineExpr expr) const;
  /// Whether a <= b for all values of the symbols. False means: not proven.
  bool areOrdered(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// The same number, without what depends on signs that are known.
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  /// The larger, the smaller of two numbers.
  mlir::AffineExpr getLarger(mlir::AffineExpr a, mlir::AffineExpr b) const;
  mlir::AffineExpr getSmaller(mlir::AffineExpr a, mlir::AffineExpr b) const;

private:
  DimRange getSymbolRange(unsigned symbol) const;
  DimRange getOwnRange(mlir::AffineExpr expr, unsigned splits) const;
  DimRange getTermRange(mlir::AffineExpr term, unsigned splits) const;
  /// Of a sum that has `factor` times the positive part of `x`, which is the term `part`.
  DimRange getSplitRange(mlir::AffineExpr sum, mlir::AffineExpr part, mlir::AffineExpr x, int64_t factor, unsigned splits) const;

  llvm::SmallVector<DimRange> symbols;
  llvm::SmallVector<mlir::AffineExpr> notNegative;
};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_DIMFACTS_H
