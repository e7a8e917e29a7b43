//===- MatmulTiled.cpp - Matrix products in register tiles -----------------===//
//
// The left side is read in place, through transposes and slices. A constant right side is stored in panels
//   [batch, column / NR, k, column % NR], NR = the tile's columns; the last panel has only the vectors that it needs
// so that the innermost loop reads it front to back. One that is computed is packed into such panels at run time (gemm_packed); where few rows
// would not pay for that it is read in place.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Places.h"
#include "passes/target/groups/RowFusion.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Fewer rows do not pay for packing the right side.
static constexpr int64_t fewRows = 16;

static bool isReal(Value value) { return computesInF32(value.getType()); }

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
  PackedColumns packed(*getConstantDim(c.columns), c.tile);
  IndexExprs at(rank, k.constant(0));
  SmallVector<int64_t> shape;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, k.context()); };
  for (auto [i, position] : llvm::enumerate(dims)) {
    at[position] = dim(i);
    shape.push_back(*getConstantDim(c.batch[i]));
  }
  at[rank - 2] = dim(count + 1);
  at[rank - 1] = dim(count) * packed.width + dim(count + 2);
  shape.append({packed.panels, depth, packed.width});
  IndexExprs source;
  for (AffineExpr expr : view.at)
    source.push_back(simplifyDim(expr.replaceDims(at)));
  k.packConstant(view.argument, packed.pack(shape, AffineMap::get(count + 3, 0, source, k.context()), count));
  IndexExprs batch(c.batch);
  c.rhsAt = [&k, batch, size = packed.stored() * depth](ArrayRef<AffineExpr> at) { return k.linearize(batch, at) * size; };
  c.reduction.front().rhsStride = k.constant(packed.width);
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

namespace {
/// A product in f32 with operands that are linear views of buffers.
struct LinearMatmul {
  MatmulOp op;
  TracedView lhs, rhs;
  MatmulDims dims;
  unsigned rhsRank;
  bool constantRhs;

  static std::optional<LinearMatmul> match(GroupOp group, Operation *anchor) {
    auto op = dyn_cast_or_null<MatmulOp>(anchor);
    if (!op || !isReal(op.getLhs()) || !isReal(op.getRhs()) || !isReal(op.getResult()))
      return std::nullopt;
    // Tiles of nothing have no size.
    bool isEmpty = llvm::is_contained(op.getType().getShape(), 0);
    auto lhs = traceLinearView(op.getLhs()), rhs = traceLinearView(op.getRhs());
    if (!lhs || !rhs || isEmpty)
      return std::nullopt;
    bool constant = group.getInputs()[rhs->argument].getDefiningOp<ConstantOp>() != nullptr;
    return LinearMatmul{op, *lhs, *rhs, MatmulDims(op, *rhs), static_cast<unsigned>(cast<RankedTensorType>(op.getRhs().getType()).getRank()),
                        constant};
  }
  std::optional<int64_t> countRows() const {
    AffineExpr count = getAffineConstantExpr(1, lhs.offset.getContext());
    DimExprs extents = getDims(MatmulOp(op).getType());
    for (unsigned dim : dims.rows)
      count = count * extents[dim];
    return getConstantDim(simplifyDim(count));
  }
  /// Whether the right side can be stored in panels at compile time.
  bool isPackable() const {
    DimExprs extents = getDims(MatmulOp(op).getRhs().getType());
    auto isStatic = [&](unsigned dim) { return getConstantDim(extents[dim]).has_value(); };
    return constantRhs && llvm::all_of(dims.batch, isStatic) && isStatic(rhsRank - 1) && isStatic(rhsRank - 2) && isLinearIndex(rhs, rhsRank);
  }
  /// Whether each right side lies in rows that tiles take whole vectors of, and in the second-level cache while it is used: a copy in panels costs 4 to
  /// 35 % more than it gains.
  bool isReadInPlace(kernel::TargetAttr target) const {
    DimExprs extents = getDims(MatmulOp(op).getRhs().getType());
    auto depth = getConstantDim(extents[rhsRank - 2]), columns = getConstantDim(extents[rhsRank - 1]);
    bool areRows = linearCoefficient(rhs.offset, rhsRank - 1) == getAffineConstantExpr(1, rhs.offset.getContext());
    int64_t bytes = elementBytes(MatmulOp(op).getRhs().getType().getElementType());
    return areRows && depth && columns && *columns % std::max(1u, target.lanes(32)) == 0 && *depth * *columns * bytes <= target.getL2() / 2;
  }
  Contraction contraction(KernelBuilder &k) const;
};
} // namespace

Contraction LinearMatmul::contraction(KernelBuilder &k) const {
  MatmulOp matmul = op;
  DimExprs extents = getDims(matmul.getType());
  Contraction c;
  c.result = matmul.getResult();
  c.element = matmul.getType().getElementType();
  c.lhs = k.buffer(lhs.argument);
  c.rhs = k.buffer(rhs.argument);
  for (unsigned dim : dims.batch)
    c.batch.push_back(extents[dim]);
  for (unsigned dim : dims.rows)
    c.rows.push_back(extents[dim]);
  c.columns = extents.back();
  c.tile = chooseTile(k.group(), k.target(), countRows(), getConstantDim(c.columns), coefficientOf(lhs.offset, dims.rows.back()));
  c.lhsAt = [&k, dims = dims, offset = lhs.offset](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) {
    return offset.replaceDims(dims.index(batch, rows, k.constant(0)));
  };
  c.rhsAt = [&k, dims = dims, rhsRank = rhsRank, offset = rhs.offset](ArrayRef<AffineExpr> batch) {
    IndexExprs at(rhsRank, k.constant(0));
    for (auto [dim, i] : llvm::zip_equal(dims.batch, batch))
      at[dim] = i;
    return offset.replaceDims(at);
  };
  c.resultAt = [dims = dims](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column) { return dims.index(batch, rows, column); };
  AffineExpr depth = getDims(matmul.getLhs().getType()).back();
  c.reduction = {{depth, linearCoefficient(lhs.offset, dims.rank - 1), linearCoefficient(rhs.offset, rhsRank - 2)}};
  c.panelStride = c.laneStride = linearCoefficient(rhs.offset, rhsRank - 1);
  return c;
}

bool matchGemmTiled(GroupOp group, Operation *anchor, kernel::TargetAttr target, std::string &reason) {
  auto matmul = LinearMatmul::match(group, anchor);
  if (!matmul)
    return false;
  reason = matmul->isPackable() ? "f32 product with constant weights: panels made at compile time, accumulators in registers"
           : matmul->isReadInPlace(target)
               ? "f32 product of computed operands, the right side read in place, accumulators in registers"
               : "f32 product of few rows: both sides read in place, accumulators in registers";
  return true;
}

Contraction makeTiledMatmul(KernelBuilder &k, MatmulOp op) {
  auto matmul = LinearMatmul::match(k.group(), op);
  Contraction c = matmul->contraction(k);
  if (matmul->isPackable())
    packPanels(k, c, matmul->op.getRhs(), matmul->rhs, matmul->dims.batch, *getConstantDim(c.reduction.front().extent));
  return c;
}

FailureOr<LaunchInfo> lowerGemmTiled(KernelBuilder &k, Operation *anchor) { return lowerContraction(k, makeTiledMatmul(k, cast<MatmulOp>(anchor))); }

//===- Rows that a gather picks --------------------------------------------===//

bool matchGemmGathered(GroupOp group, Operation *anchor, kernel::TargetAttr, std::string &reason) {
  auto gather = dyn_cast_or_null<GatherOp>(anchor);
  auto product = gather && gather->hasOneUse() ? dyn_cast<MatmulOp>(*gather->user_begin()) : MatmulOp();
  reason = "f32 product of the rows that a gather picks: few, read where they lie";
  return product && product.getLhs() == gather.getResult() && isa<BlockArgument>(product.getRhs());
}

FailureOr<LaunchInfo> lowerGemmGathered(KernelBuilder &k, Operation *anchor) {
  auto gather = cast<GatherOp>(anchor);
  auto product = cast<MatmulOp>(*gather->user_begin());
  TracedView rhs = *traceLinearView(product.getRhs());
  DimExprs table = getDims(gather.getInput().getType());
  int64_t depth = *getConstantDim(table[1]);
  Contraction c;
  c.result = product.getResult();
  c.element = product.getType().getElementType();
  c.lhs = k.buffer(cast<BlockArgument>(gather.getInput()).getArgNumber());
  c.rhs = k.buffer(rhs.argument);
  c.rows = getDims(product.getType());
  c.columns = c.rows.pop_back_val();
  c.tile = chooseTile(k.group(), k.target(), getConstantDim(getNumElements(c.rows, k.context())), getConstantDim(c.columns), depth);
  c.reduction = {{table[1], k.constant(1), k.constant(1)}};
  packPanels(k, c, product.getRhs(), rhs, {}, depth);
  AffineMap count = getDenseMap(c.rows, k.context());
  c.lhsAt = [count](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows) { return count.getResult(0).replaceDims(rows); };
  c.gatheredRow = [&](ArrayRef<AffineExpr> rows) {
    CheckedIndices checked(k);
    AffineExpr row = checked.add(k.value(gather.getIndices(), rows), table[0]);
    return checked.orFirst(row) * depth;
  };
  c.resultAt = [](ArrayRef<AffineExpr>, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows);
    at.push_back(column);
    return at;
  };
  return lowerContraction(k, c);
}

//===- Vectors along the sum -----------------------------------------------===//

bool matchGemmDots(GroupOp group, Operation *anchor, kernel::TargetAttr target, std::string &reason) {
  auto matmul = LinearMatmul::match(group, anchor);
  if (!matmul || target.lanes(32) < 4)
    return false;
  DimExprs rhs = getDims(matmul->op.getRhs().getType());
  bool oneColumn = getConstantDim(rhs.back()) == 1, fewComputed = !matmul->isPackable() && matmul->countRows().value_or(fewRows) < fewRows;
  AffineExpr one = getAffineConstantExpr(1, group.getContext());
  if (!(oneColumn || fewComputed) || linearCoefficient(matmul->lhs.offset, matmul->dims.rank - 1) != one ||
      linearCoefficient(matmul->rhs.offset, matmul->rhsRank - 2) != one)
    return false;
  reason = oneColumn ? "f32 product with one column: vectors along the sum" : "f32 product of few rows, both sides contiguous along the sum";
  return true;
}

FailureOr<LaunchInfo> lowerGemmDots(KernelBuilder &k, Operation *anchor) {
  Contraction c = LinearMatmul::match(k.group(), anchor)->contraction(k);
  c.tile.lanes = k.target().lanes(32);
  return lowerDotContraction(k, c);
}

bool matchGemmPacked(GroupOp group, Operation *anchor, kernel::TargetAttr target, std::string &reason) {
  auto matmul = LinearMatmul::match(group, anchor);
  if (!matmul || matmul->isPackable() || matmul->isReadInPlace(target) || matmul->countRows().value_or(fewRows) < fewRows)
    return false;
  reason = "f32 product of computed operands: the right side is packed at run time, accumulators in registers";
  return true;
}

FailureOr<LaunchInfo> lowerGemmPacked(KernelBuilder &k, Operation *anchor) {
  return lowerPackedContraction(k, LinearMatmul::match(k.group(), anchor)->contraction(k));
}

} // namespace kiln
