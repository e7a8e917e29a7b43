//===- ComputedDims.h - Symbols that the model computes ---------------------===//
//
// The last symbols of a module may be counts that depend on the data (DataSized operations). Memory is planned before the run, by their upper bounds,
// which are expressions of the symbols that the caller gives.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_COMPUTEDDIMS_H
#define KILN_DIALECTS_NN_COMPUTEDDIMS_H

#include "dialects/nn/Dims.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln::nn {

class ComputedDims {
public:
  /// Reads `nn.symbols` and `nn.computed_symbols` of the module.
  explicit ComputedDims(mlir::ModuleOp module);
  /// The caller gives the first `given` symbols. bounds[i] is the upper bound of symbol `given` + i.
  ComputedDims(unsigned given, llvm::ArrayRef<mlir::AffineExpr> bounds) : numGiven(given), bounds(bounds) {}

  bool empty() const { return bounds.empty(); }
  unsigned given() const { return numGiven; }
  unsigned total() const { return numGiven + bounds.size(); }
  bool isComputed(unsigned symbol) const { return symbol >= numGiven && symbol < total(); }
  mlir::AffineExpr getBound(unsigned symbol) const { return bounds[symbol - numGiven]; }
  /// The given symbol that is the bound of a computed one and that a run raises where it is too small; nullopt where the bound always holds.
  std::optional<unsigned> findRaised(unsigned symbol) const;
  /// Whether a run raises a given symbol.
  bool isRaised(unsigned symbol) const { return llvm::is_contained(raised, symbol); }

  /// Whether the expression contains a computed symbol.
  bool isIn(mlir::AffineExpr expr) const;
  /// Adds the computed symbols of the expression to the set.
  void collect(mlir::AffineExpr expr, llvm::SmallVectorImpl<unsigned> &symbols) const;
  /// The upper bound of the expression, in terms of the given symbols; null if unknown.
  mlir::AffineExpr getUpperBound(mlir::AffineExpr expr) const { return getRange(expr).second; }
  /// The upper bound of the number of elements of a tensor with these dimensions; null if unknown.
  mlir::AffineExpr getMostElements(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context) const;

private:
  /// Lower and upper bound; null if unknown.
  std::pair<mlir::AffineExpr, mlir::AffineExpr> getRange(mlir::AffineExpr expr) const;
  std::pair<mlir::AffineExpr, mlir::AffineExpr> getProductRange(mlir::AffineExpr lhs, mlir::AffineExpr rhs) const;

  unsigned numGiven = 0;
  llvm::SmallVector<mlir::AffineExpr> bounds;
  llvm::SmallVector<int64_t> raised;
};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_COMPUTEDDIMS_H
