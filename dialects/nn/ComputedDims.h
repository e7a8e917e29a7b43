//===- ComputedDims.h - Symbols that the model computes ---------------------===//
//
// The last symbols of a module may be counts that only the data tells (DataSized operations). Memory for them is planned before the run,
// by the most that they can be: an expression of the symbols that the caller gives.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_COMPUTEDDIMS_H
#define KILN_DIALECTS_NN_COMPUTEDDIMS_H

#include "dialects/nn/Dims.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln::nn {

class ComputedDims {
public:
  /// What `nn.symbols` and `nn.computed_symbols` of the module say.
  explicit ComputedDims(mlir::ModuleOp module);
  /// `given` symbols come from the caller; bounds[i] is the most that symbol `given` + i can be.
  ComputedDims(unsigned given, llvm::ArrayRef<mlir::AffineExpr> bounds) : numGiven(given), bounds(bounds) {}

  bool empty() const { return bounds.empty(); }
  unsigned given() const { return numGiven; }
  unsigned total() const { return numGiven + bounds.size(); }
  bool isComputed(unsigned symbol) const { return symbol >= numGiven && symbol < total(); }
  mlir::AffineExpr getBound(unsigned symbol) const { return bounds[symbol - numGiven]; }

  /// Whether a computed symbol stands in the expression.
  bool isIn(mlir::AffineExpr expr) const;
  /// Adds the computed symbols of the expression.
  void collect(mlir::AffineExpr expr, llvm::SmallVectorImpl<unsigned> &symbols) const;
  /// The most that the expression can be, in terms of the given symbols; null when that is not known.
  mlir::AffineExpr getUpperBound(mlir::AffineExpr expr) const { return getRange(expr).second; }
  /// The most elements that a tensor of these dimensions can have; null when that is not known.
  mlir::AffineExpr getMostElements(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context) const;

private:
  /// Least and most; null: not known.
  std::pair<mlir::AffineExpr, mlir::AffineExpr> getRange(mlir::AffineExpr expr) const;
  std::pair<mlir::AffineExpr, mlir::AffineExpr> getProductRange(mlir::AffineExpr lhs, mlir::AffineExpr rhs) const;

  unsigned numGiven = 0;
  llvm::SmallVector<mlir::AffineExpr> bounds;
};

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_COMPUTEDDIMS_H
