//===- DotContraction.cpp - Products whose operands both run along the sum ---===//
//
//   result[i, j] = dot(lhs[i, :], rhs[:, j]), as many at a time as the tile has rows
//
// The vectors run along the sum: for one column (or a few rows) there is nothing to share that would pay for packing, and every load is contiguous.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/contraction/DotContraction.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

SmallVector<Value> emitDots(KernelBuilder &k, const Contraction &c, ArrayRef<AffineExpr> left, ArrayRef<AffineExpr> right) {
  unsigned lanes = c.tile.lanes;
  size_t count = std::max(left.size(), right.size());
  AffineExpr depth = c.reduction.front().extent, whole = simplifyDim(depth.floorDiv(lanes) * lanes);
  if (!getConstantDim(whole))
    whole = k.index(k.emit(whole));
  auto products = [&](AffineExpr i, Lanes along, ValueRange sums) {
    auto load = [&](Value buffer, ArrayRef<AffineExpr> bases) {
      return llvm::map_to_vector(bases, [&](AffineExpr base) { return k.loadBuffer(buffer, c.element, base + i, along); });
    };
    SmallVector<Value> a = load(c.lhs, left), b = load(c.rhs, right), next;
    for (size_t dot = 0; dot < count; ++dot) {
      Value x = a[a.size() == 1 ? 0 : dot], y = b[b.size() == 1 ? 0 : dot];
      if (along.count > 1)
        next.push_back(vector::FMAOp::create(k.builder(), k.loc(), x, y, sums[dot]));
      else
        next.push_back(arith::AddFOp::create(k.builder(), k.loc(), arith::MulFOp::create(k.builder(), k.loc(), x, y), sums[dot]));
    }
    return next;
  };
  auto sum = [&](AffineExpr from, AffineExpr to, unsigned width, ValueRange init) {
    return k.loop(from, to, width, "k", init, [&](AffineExpr i, ValueRange sums) {
      return products(i, Lanes{cast<AffineDimExpr>(i).getPosition(), width}, sums);
    });
  };
  SmallVector<Value> sums(count, k.number(c.element, 0, lanes));
  sums = sum(k.constant(0), whole, lanes, sums);
  for (Value &value : sums)
    value = reduceLanes(k, ReduceKind::Sum, getElementTypeOrSelf(value.getType()), value);
  return whole == depth ? sums : sum(whole, depth, 1, sums);
}

namespace {
/// One direction of the result is walked in tiles, the other is a task's coordinate.
struct DotLoops {
  KernelBuilder &k;
  const Contraction &c;
  SmallVector<RowDim> rowDims;
  bool alongRows;

  void emit(ArrayRef<AffineExpr> batch, IndexExprs rows, AffineExpr first, int64_t count) const {
    SmallVector<AffineExpr> left, right;
    SmallVector<IndexExprs> places;
    for (int64_t i = 0; i < count; ++i) {
      AffineExpr column = alongRows ? k.constant(0) : first + i;
      if (alongRows)
        rows.back() = first + i;
      IndexExprs all = expandRows(k, c, rowDims, rows);
      if (alongRows || i == 0)
        left.push_back(k.index(k.emit(c.lhsAt(batch, all))));
      if (!alongRows || i == 0)
        right.push_back(k.index(k.emit(c.rhsAt(batch) + column * c.panelStride)));
      places.push_back(c.resultAt(batch, all, column));
    }
    for (auto [place, value] : llvm::zip_equal(places, emitDots(k, c, left, right)))
      k.storeResults(c.result, value, place);
  }
  LaunchInfo run() const {
    int64_t together = c.tile.rows, dotsPerTask = together * k.group().getPlan()->getBlocks();
    AffineExpr extent = alongRows ? rowDims.back().extent : c.columns;
    IndexExprs extents(c.batch);
    for (const RowDim &dim : ArrayRef(rowDims).drop_back(alongRows ? 1 : 0))
      extents.push_back(dim.extent);
    extents.push_back(simplifyDim(extent.ceilDiv(dotsPerTask)));
    k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
      ArrayRef<AffineExpr> batch = task.take_front(c.batch.size());
      IndexExprs rows(task.drop_front(c.batch.size()).drop_back());
      if (alongRows)
        rows.push_back(k.constant(0));
      AffineExpr first = k.index(k.emit(task.back() * dotsPerTask));
      AffineExpr end = k.index(k.minimum(k.emit(first + dotsPerTask), k.emit(extent)));
      AffineExpr whole = k.index(k.emit(first + (end - first).floorDiv(together) * together));
      k.loop(first, whole, together, "dot", [&](AffineExpr i) { emit(batch, rows, i, together); });
      k.loop(whole, end, 1, "dot", [&](AffineExpr i) { emit(batch, rows, i, 1); });
    });
    return contractionInfo(k, c, extents);
  }
};
} // namespace

LaunchInfo lowerDotContraction(KernelBuilder &k, const Contraction &c) {
  return DotLoops{k, c, mergeRows(k, c), getConstantDim(c.columns) == 1}.run();
}

} // namespace kiln
