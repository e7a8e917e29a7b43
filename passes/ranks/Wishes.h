//===- Wishes.h - What the user says of how tensors are cut -----------------===//
#ifndef KILN_PASSES_RANKS_WISHES_H
#define KILN_PASSES_RANKS_WISHES_H

#include "passes/ranks/Layouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace kiln {

/// Cuts that the search must take. A wish is PATTERN=DIM,DIM...: for each axis of the grid a dimension, or `-` for none. PATTERN is the name of an input, an
/// output or an ONNX node, with at most one `*`. Inputs and outputs are whole without a wish, but for caches that are updated in place: they are cut
/// at dimension 1, their heads, where that gives equal parts.
class RankWishes {
public:
  static mlir::FailureOr<RankWishes> read(mlir::func::FuncOp function, const Grid &grid, llvm::ArrayRef<std::string> texts);

  int cutOfArgument(unsigned argument, unsigned axis) const { return arguments[argument][axis]; }
  int cutOfResult(unsigned result, unsigned axis) const { return results[result][axis]; }
  /// Whether an operation may be cut so along the axis.
  bool allow(mlir::Operation *op, unsigned axis, llvm::ArrayRef<int> results) const;

private:
  struct Wish {
    std::string pattern, text;
    Cut cut;
    bool used = false;
  };
  mlir::LogicalResult parse(mlir::func::FuncOp function, const Grid &grid, llvm::StringRef text);
  mlir::LogicalResult apply(mlir::func::FuncOp function, const Grid &grid);
  void cutCaches(mlir::func::FuncOp function, const Grid &grid);

  std::vector<Wish> wishes;
  std::vector<Cut> arguments, results;
  llvm::DenseMap<mlir::Operation *, Cut> nodes;
};

} // namespace kiln

#endif // KILN_PASSES_RANKS_WISHES_H
