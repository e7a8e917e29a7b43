//===- SquareLoops.h - Elements that are read across, in squares of lanes --===//
//
//   out[.., e, .., d] = f(x[.., d, .., e])
//
// A square has as many vectors along e as each has lanes. They are loaded as x lies, transposed in registers and stored along d, so each line of the cache is
// read once, also where the elements along d lie a power of two apart and share a set of it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_PASSES_LOWERING_MOVEMENT_SQUARELOOPS_H
#define KILN_PASSES_LOWERING_MOVEMENT_SQUARELOOPS_H

#include "passes/lowering/builder/KernelBuilder.h"

namespace kiln {

/// A view, of what may be computed element by element, that runs contiguously along dimension `along` of the result instead of `last`, its last one.
struct TransposedRead {
  mlir::Value view;
  unsigned along, last;
};

/// How `view`, of these dimensions, is read across; nullopt: it is not, or what it reads is not known.
std::optional<TransposedRead> readAcross(mlir::Value view, llvm::ArrayRef<mlir::AffineExpr> dims);

/// The side of the squares: a power of two of at most as many lanes as vectors and both dimensions have, and half as many as there are registers.
unsigned chooseSide(nn::GroupOp group, const TransposedRead &read, kernel::TargetAttr target);

/// Loops over squares, and over single elements where an extent is no multiple of their side.
class SquareLoops {
public:
  struct Range {
    mlir::AffineExpr first, end;
  };
  SquareLoops(KernelBuilder &k, int64_t side) : k(k), side(side) {}
  virtual ~SquareLoops() = default;
  void run(Range e, Range d);
  /// Places [0, extent) of both. Where an extent is known, the last square begins so that it ends with it, and repeats some elements of the one before.
  void runOverlapping(mlir::AffineExpr extentE, mlir::AffineExpr extentD);

protected:
  /// The value at (e, d); `lanes` are along one of the two.
  virtual mlir::Value load(mlir::AffineExpr e, mlir::AffineExpr d, Lanes lanes) = 0;
  /// Stores what `load` gave for lanes along d.
  virtual void store(mlir::Value row, mlir::AffineExpr e, mlir::AffineExpr d, Lanes lanes) = 0;
  /// Loads and stores elements along d, or a single one.
  virtual void element(mlir::AffineExpr e, mlir::AffineExpr d, Lanes lanes) { store(load(e, d, lanes), e, d, lanes); }

  KernelBuilder &k;
  int64_t side;

private:
  void square(mlir::AffineExpr e, mlir::AffineExpr d);
};

} // namespace kiln

#endif // KILN_PASSES_LOWERING_MOVEMENT_SQUARELOOPS_H
