//===- ReduceLoops.cpp - Reductions ----------------------------------------===//
//
//   for each kept index: out = combine of in over the reduced dimensions. The vector runs along the last dimension: within a sum when it is
//   reduced, over neighbouring results when it is kept. A maximum and a minimum of one tensor take one walk.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/LoopMerging.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
constexpr int64_t chainLength = 256;

struct Reduction {
  KernelBuilder &k;
  mutable ReduceOp op;
  /// The anchors, `op` first.
  SmallVector<ReduceOp, 2> all;
  SmallVector<MergedLoop> kept, reduced;
  unsigned rank;
  Type element;

  IndexExprs at(ArrayRef<AffineExpr> keptAt, ArrayRef<AffineExpr> reducedAt) const {
    IndexExprs index(rank, k.constant(0));
    for (auto [loop, i] : llvm::zip_equal(kept, keptAt))
      index[loop.dim] = i;
    for (auto [loop, i] : llvm::zip_equal(reduced, reducedAt))
      index[loop.dim] = i;
    return index;
  }
  Value load(ArrayRef<AffineExpr> keptAt, ArrayRef<AffineExpr> reducedAt, Lanes lanes) const {
    return k.value(op.getInput(), at(keptAt, reducedAt), lanes);
  }
  /// How all of them combine: a minimum beside a maximum is minus the largest of the negative numbers.
  ReduceKind kind() const { return all.size() > 1 ? ReduceKind::Max : op.getKind(); }
  Value turned(ReduceOp each, Value x) const { return each.getKind() == kind() ? x : Value(arith::NegFOp::create(k.builder(), k.loc(), x)); }
  SmallVector<Value> loadTerms(ArrayRef<AffineExpr> keptAt, ArrayRef<AffineExpr> reducedAt, Lanes lanes) const {
    Value x = load(keptAt, reducedAt, lanes);
    return llvm::map_to_vector(all, [&](ReduceOp each) { return turned(each, x); });
  }
  SmallVector<Value> startValues(unsigned lanes) const { return SmallVector<Value>(all.size(), reductionIdentity(k, kind(), element, lanes)); }
  /// Sum and product of narrow integers and halves accumulate as they are computed: halves in f32.
  SmallVector<Value> combineWith(ValueRange x, ValueRange y) const {
    SmallVector<Value> combined;
    for (auto [left, right] : llvm::zip_equal(x, y))
      combined.push_back(combine(k, kind(), element, left, right));
    return combined;
  }

  /// Nested loops over reduced dims from `depth` on; vectors only across results.
  SmallVector<Value> nest(ArrayRef<AffineExpr> keptAt, IndexExprs &reducedAt, ValueRange carried, Lanes lanes, bool vectorInner) const {
    unsigned depth = reducedAt.size();
    if (depth == reduced.size())
      return combineWith(carried, loadTerms(keptAt, reducedAt, lanes));
    if (vectorInner && depth + 1 == reduced.size())
      return combineWith(carried, reduceRow(k, kind(), element, reduced[depth].extent, k.vectorLanes(), all.size(), [&](AffineExpr i, Lanes within) {
        IndexExprs full(reducedAt);
        full.push_back(i);
        return loadTerms(keptAt, full, within);
      }));
    auto inner = [&](AffineExpr i, ValueRange next) {
      reducedAt.push_back(i);
      SmallVector<Value> result = nest(keptAt, reducedAt, next, lanes, vectorInner);
      reducedAt.pop_back();
      return result;
    };
    AffineExpr extent = reduced[depth].extent;
    SmallVector<Value> start(carried);
    if (!isLongSum(extent))
      return k.loop(k.constant(0), extent, 1, "r", start, inner);
    return k.loop(k.constant(0), extent, chainLength, "block", start, [&](AffineExpr first, ValueRange sum) {
      AffineExpr end = k.index(k.minimum(k.emit(first + chainLength), k.emit(extent)));
      return combineWith(sum, k.loop(first, end, 1, "r", startValues(lanes.count), inner));
    });
  }
  /// Such a sum is made of sums of blocks: rounding errors grow with the length of a chain.
  bool isLongSum(AffineExpr extent) const {
    auto size = getConstantDim(extent);
    return isa<FloatType>(element) && (op.getKind() == ReduceKind::Sum || op.getKind() == ReduceKind::Mean) && (!size || *size > 2 * chainLength);
  }
  Value finish(Value total, unsigned lanes) const {
    if (op.getKind() != ReduceKind::Mean)
      return total;
    AffineExpr count = k.constant(1);
    for (const MergedLoop &loop : reduced)
      count = count * loop.extent;
    Value wide = arith::IndexCastOp::create(k.builder(), k.loc(), k.builder().getI64Type(), k.emit(simplifyDim(count)));
    Type type = computeType(element);
    Value n = isa<FloatType>(type) ? Value(arith::SIToFPOp::create(k.builder(), k.loc(), type, wide)) : wide;
    if (n.getType() != type)
      n = arith::TruncIOp::create(k.builder(), k.loc(), type, n);
    return (Scalar(k.builder(), k.loc(), total, element) / Scalar(k.builder(), k.loc(), k.broadcast(n, lanes), element)).value();
  }
  void result(ArrayRef<AffineExpr> keptAt, Lanes lanes, bool vectorInner) const {
    IndexExprs reducedAt;
    SmallVector<Value> totals = nest(keptAt, reducedAt, startValues(lanes.count), lanes, vectorInner);
    for (auto [each, total] : llvm::drop_begin(llvm::zip_equal(all, totals)))
      k.setValue(ReduceOp(each).getResult(), turned(each, total));
    k.storeResults(op.getResult(), finish(turned(op, totals.front()), lanes.count), at(keptAt, IndexExprs(reduced.size(), k.constant(0))), lanes);
  }
};
} // namespace

FailureOr<LaunchInfo> lowerReduceLoops(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ReduceOp>(anchor);
  DimExprs dims = getDims(op.getInput().getType());
  SmallVector<bool> isReduced(dims.size());
  for (int64_t axis : op.getAxes())
    isReduced[axis] = true;
  // Kept dims merge only when the epilogue's reads and the result go on evenly as well.
  SmallVector<Value> reads{op.getInput(), op.getResult()};
  llvm::append_range(reads, k.group().getTerminator()->getOperands());
  auto all = llvm::to_vector_of<ReduceOp, 2>(k.group().getBody().front().getOps<ReduceOp>());
  Reduction r{k, op, all, {}, {}, static_cast<unsigned>(dims.size()), op.getType().getElementType()};
  bool keepsLast = false;
  for (const MergedLoop &loop : mergeLoops(k, dims, isReduced, reads)) {
    (loop.reduced ? r.reduced : r.kept).push_back(loop);
    keepsLast = !loop.reduced;
  }
  IndexExprs tasks;
  for (const MergedLoop &loop : r.kept)
    tasks.push_back(loop.extent);
  bool across = keepsLast && !r.kept.empty();
  if (across)
    tasks.pop_back();
  if (tasks.empty() && across) {
    // One long row of results: split it so that threads share it; blocks of whole vectors.
    int64_t block = 4 * std::max(1u, k.vectorLanes());
    tasks.push_back(r.kept.back().extent.ceilDiv(block));
    k.taskLoop(tasks, [&](ArrayRef<AffineExpr> task) {
      AffineExpr first = k.index(k.emit(task[0] * block));
      AffineExpr count = k.index(k.minimum(k.emitConstant(block), k.emit(r.kept.back().extent - first)));
      k.vectorLoop(count, k.vectorLanes(), "i", [&](AffineExpr i, Lanes lanes) { r.result(IndexExprs{first + i}, lanes, false); });
    });
  } else {
    bool dummy = tasks.empty();
    IndexExprs extents = dummy ? IndexExprs{k.constant(1)} : tasks;
    k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
      if (!across)
        return r.result(dummy ? ArrayRef<AffineExpr>() : task, Lanes{}, true);
      k.vectorLoop(r.kept.back().extent, k.vectorLanes(), "i", [&](AffineExpr i, Lanes lanes) {
        IndexExprs keptAt(task);
        keptAt.push_back(i);
        r.result(keptAt, lanes, false);
      });
    });
  }
  AffineExpr elements = getNumElements(dims, k.context());
  return LaunchInfo{countTasks(k, tasks), elements, elements * 4};
}

} // namespace kiln
