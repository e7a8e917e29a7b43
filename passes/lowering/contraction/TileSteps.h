//===- TileSteps.h - The sums of two by two tiles by steps of several rows -===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_TILESTEPS_H
#define KILN_PASSES_LOWERING_CONTRACTION_TILESTEPS_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// Calls the functions of kiln/tiles.h for a block of rows after the other.
class TileSteps {
public:
  /// `c.instruction` is a step of several rows.
  TileSteps(KernelBuilder &k, const Contraction &c);

  /// A block has `rows` in its first tile, and `others` or none in its second one.
  void begin(mlir::AffineExpr rows, mlir::AffineExpr others);
  void end();
  /// The sums of a panel of `vectors` columns of tiles: the tiles' rows begin at offsets of the left buffer and lie `stride` apart.
  void sum(mlir::AffineExpr first, mlir::AffineExpr second, mlir::AffineExpr stride, mlir::AffineExpr rhs, unsigned vectors);
  /// Sums of a row of a tile, from a column of the panel on.
  mlir::Value load(int64_t tile, mlir::AffineExpr row, unsigned column, unsigned lanes);

private:
  void call(llvm::StringRef function, llvm::ArrayRef<mlir::Value> operands);
  void nest(unsigned depth, mlir::AffineExpr left, mlir::AffineExpr right, llvm::function_ref<void(mlir::AffineExpr, mlir::AffineExpr)> body);

  KernelBuilder &k;
  const Contraction &c;
  mlir::Value sums, rows, others;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_TILESTEPS_H
