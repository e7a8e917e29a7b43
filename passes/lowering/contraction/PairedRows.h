//===- PairedRows.h - Left sides for steps of several rows ------------------===//
#ifndef KILN_PASSES_LOWERING_CONTRACTION_PAIREDROWS_H
#define KILN_PASSES_LOWERING_CONTRACTION_PAIREDROWS_H

#include "passes/lowering/contraction/ContractionLoops.h"

namespace kiln {

/// A copy of the rows of a block in which the elements that a step takes lie side by side: those of the first row of a pair, then those of the second one, or
/// those of all rows. Each panel of columns reads it without putting them together again.
class PairedRows {
public:
  /// Nullopt where the steps have one row, where a task of `panels` panels would not use the copy of pairs often enough, or where it is too large.
  static std::optional<PairedRows> plan(KernelBuilder &k, const Contraction &c, int64_t panels);

  /// Copies rows that begin at `base` and these offsets from it in the left buffer. An odd last row is its own partner.
  void copy(mlir::AffineExpr base, llvm::ArrayRef<mlir::AffineExpr> offsets);
  /// Has the tile read the copy: `base` and `offsets` become those of the rows in it.
  void readFrom(TileEmitter &tile, mlir::AffineExpr &base, llvm::MutableArrayRef<mlir::AffineExpr> offsets) const;

private:
  PairedRows(KernelBuilder &k, const Contraction &c, int64_t steps) : k(&k), c(&c), steps(steps) {}
  void takeRows(mlir::AffineExpr base, llvm::ArrayRef<mlir::AffineExpr> offsets);
  /// So many steps of each row from `from` and its offset on, whose elements lie side by side, to the steps from `to` on.
  void takeSteps(mlir::StringAttr take, mlir::AffineExpr from, mlir::AffineExpr to, llvm::ArrayRef<mlir::AffineExpr> offsets, int64_t count);
  /// Elements of a step, of both rows.
  int64_t elements() const { return 2 * c->instruction.getDepth(); }

  KernelBuilder *k;
  const Contraction *c;
  /// Of a sum.
  int64_t steps;
  mlir::Value array;
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_CONTRACTION_PAIREDROWS_H
