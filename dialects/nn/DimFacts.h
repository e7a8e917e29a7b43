//===- DimFacts.h - Bounds of sizes ---------------------===//
#ifndef KILN_DIALECTS_NN_DIMFACTS_H
#define KILN_DIALECTS_NN_DIMFACTS_H

#include "dialects/nn/Dims.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln::nn {

/// The largest number that a size, a tensor's bytes or the workspace may be: a run with larger ones ends with a status before anything is computed.
inline constexpr int64_t mostSize = int64_t(1) << 62;

/// The lower and upper bound of a number; nullopt if unknown.
struct DimRange {
  std::optional<int64_t> least, most;
};

/// Whether an expression has more than `parts` parts when it is written out. Equal subexpressions are shared, so an expression that is built in a few
/// steps may be exponentially large.
bool hasMoreParts(mlir::AffineExpr expr, unsigned parts);

/// Known facts about symbols, none of which is negative.
class DimFacts {
public:
  DimFacts() = default;
  /// Adds what every run of the module checks: the bounds of its symbols, and its constraints that an expression is not negative.
  explicit DimFacts(mlir::ModuleOp module);
  /// Adds that the symbol is in the range, which may be partly known.
  void bound(unsigned symbol, DimRange range);
  /// Adds that the expression is not negative.
  void add(mlir::AffineExpr notNegative);

  DimRange getRange(mlir::AffineExpr expr) const;
  /// Whether a <= b for all values of the symbols. False means: not proven.
  bool areOrdered(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// The same for a < b.
  bool isBelow(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// The same number, without parts that depend on known signs.
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  /// The maximum and the minimum of two numbers.
  mlir::AffineExpr getLarger(mlir::AffineExpr a, mlir::AffineExpr b) const;
  mlir::AffineExpr getSmaller(mlir::AffineExpr a, mlir::AffineExpr b) const;

  /// @name Forgetting
  /// @{
  /// The number of symbols and facts that are known, and a way back to it.
  std::pair<size_t, size_t> count() const { return {symbols.size(), notNegative.size()}; }
  void goBackTo(std::pair<size_t, size_t> counts) {
    symbols.truncate(std::min(counts.first, symbols.size()));
    notNegative.truncate(counts.second);
  }
  /// @}

private:
  /// A lower bound of b - a; nullopt if unknown.
  std::optional<int64_t> getLeastDifference(mlir::AffineExpr a, mlir::AffineExpr b) const;
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
