//===- MatmulTiled.cpp - Matrix products in register tiles -----------------===//
//
// The left side is read in place, through transposes and slices. A constant right side is stored in panels
//   [batch, column / NR, k, column % NR], NR = the tile's columns
// so that the innermost loop reads it front to back; one that is computed is read in place.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/ContractionLoops.h"
#include "passes/lowering/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

static bool isF32(Value value) { return getElementTypeOrSelf(value.getType()).isF32(); }

bool matchGemmTiled(GroupOp, Operation *anchor, kernel::TargetAttr target, std::string &reason) {
  auto matmul = dyn_cast_or_null<MatmulOp>(anchor);
  if (!matmul || !isF32(matmul.getLhs()) || !isF32(matmul.getRhs()) || !isF32(matmul.getResult()))
    return false;
  if (!traceLinearView(matmul.getLhs()) || !traceLinearView(matmul.getRhs()))
    return false;
  reason = "f32 product with linear operands: accumulators in registers";
  return true;
}

namespace {
/// The dimensions of a product: those that select a right side, those that do not, and the rest.
struct MatmulDims {
  unsigned rank;
  /// Result dims.
  SmallVector<unsigned> batch, rows;

  MatmulDims(MatmulOp op, const TracedView &rhs) : rank(cast<RankedTensorType>(op.getType()).getRank()) {
    bool shared = cast<RankedTensorType>(op.getRhs().getType()).getRank() == 2;
    AffineExpr zero = getAffineConstantExpr(0, op.getContext());
    for (unsigned i = 0; i + 1 < rank; ++i) {
      bool selects = i + 2 < rank && !shared && linearCoefficient(rhs.offset, i) != zero;
      (selects ? batch : rows).push_back(i);
    }
  }
  IndexExprs index(ArrayRef<AffineExpr> batchAt, ArrayRef<AffineExpr> rowsAt, AffineExpr last) const {
    IndexExprs at(rank);
    for (auto [dim, i] : llvm::zip_equal(batch, batchAt))
      at[dim] = i;
    for (auto [dim, i] : llvm::zip_equal(rows, rowsAt))
      at[dim] = i;
    at.back() = last;
    return at;
  }
};
} // namespace

/// Stores a constant right side in panels and describes how they lie. `dims` are the batch dims of the right side's tensor.
static void packPanels(KernelBuilder &k, Contraction &c, Value rhs, const TracedView &view, ArrayRef<unsigned> dims, int64_t depth) {
  unsigned rank = cast<RankedTensorType>(rhs.getType()).getRank(), count = dims.size();
  int64_t width = c.tile.columns(), panels = (*getConstantDim(c.columns) + width - 1) / width;
  IndexExprs at(rank, k.constant(0));
  SmallVector<int64_t> shape;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  for (auto [i, position] : llvm::enumerate(dims)) {
    at[position] = dim(i);
    shape.push_back(*getConstantDim(c.batch[i]));
  }
  at[rank - 2] = dim(count + 1);
  at[rank - 1] = dim(count) * width + dim(count + 2);
  shape.append({panels, depth, width});
  IndexExprs source;
  for (AffineExpr expr : view.at)
    source.push_back(simplifyAffineExpr(expr.replaceDims(at), count + 3, 0));
  k.packConstant(view.argument, kernel::PackAttr::get(k.context(), shape, AffineMap::get(count + 3, 0, source, k.context())));
  IndexExprs batch(c.batch);
  c.rhsAt = [&k, batch, size = panels * depth * width](ArrayRef<AffineExpr> at) { return k.linearize(batch, at) * size; };
  c.reduction.front().rhsStride = k.constant(width);
  c.panelStride = k.constant(depth);
  c.laneStride = k.constant(1);
  c.padded = true;
}

/// Whether the view's index expressions are linear, as a packed order must be.
static bool isLinearIndex(const TracedView &view, unsigned rank) {
  return llvm::all_of(view.at, [&](AffineExpr expr) {
    return expr.isPureAffine() && llvm::all_of(llvm::seq(rank), [&](unsigned i) { return coefficientOf(expr, i).has_value(); });
  });
}

FailureOr<LaunchInfo> lowerGemmTiled(KernelBuilder &k, Operation *anchor) {
  auto op = cast<MatmulOp>(anchor);
  TracedView lhs = *traceLinearView(op.getLhs()), rhs = *traceLinearView(op.getRhs());
  MatmulDims dims(op, rhs);
  DimExprs extents = getDims(op.getType());
  AffineExpr depth = getDims(op.getLhs().getType()).back();
  unsigned rhsRank = cast<RankedTensorType>(op.getRhs().getType()).getRank();
  Contraction c;
  c.result = op.getResult();
  c.element = op.getType().getElementType();
  c.lhs = k.buffer(lhs.argument);
  c.rhs = k.buffer(rhs.argument);
  for (unsigned dim : dims.batch)
    c.batch.push_back(extents[dim]);
  for (unsigned dim : dims.rows)
    c.rows.push_back(extents[dim]);
  c.columns = extents.back();
  c.tile = chooseTile(k.target(), getConstantDim(getNumElements(c.rows, k.context())), getConstantDim(c.columns));
  c.lhsAt = [&k, dims, offset = lhs.offset](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) {
    return offset.replaceDims(dims.index(batch, rows, k.constant(0)));
  };
  c.resultAt = [dims](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column) { return dims.index(batch, rows, column); };
  c.reduction = {{depth, linearCoefficient(lhs.offset, dims.rank - 1), linearCoefficient(rhs.offset, rhsRank - 2)}};
  auto columns = getConstantDim(c.columns), length = getConstantDim(depth);
  bool staticBatch = llvm::all_of(c.batch, [](AffineExpr extent) { return getConstantDim(extent).has_value(); });
  if (k.isConstant(rhs.argument) && columns && length && staticBatch && isLinearIndex(rhs, rhsRank)) {
    packPanels(k, c, op.getRhs(), rhs, dims.batch, *length);
    return lowerContraction(k, c);
  }
  c.rhsAt = [&k, dims, rhsRank, offset = rhs.offset](ArrayRef<AffineExpr> batch) {
    IndexExprs at(rhsRank, k.constant(0));
    for (auto [dim, i] : llvm::zip_equal(dims.batch, batch))
      at[dim] = i;
    return offset.replaceDims(at);
  };
  c.panelStride = c.laneStride = linearCoefficient(rhs.offset, rhsRank - 1);
  return lowerContraction(k, c);
}

} // namespace kiln
