//===- ScatterUpdates.cpp - Updates at computed indices --------------------===//
//
//   if (out != in) out = in;  for each update in order: out[index] = out[index] (+) update
//
// One task: updates of one place stand in the order of the model. An index out of bounds sets the status and nothing is written.
// The result may take over its input's buffer, as a cache of keys and values does that grows from run to run: then only updates are written.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Places.h"
#include "passes/lowering/builder/RowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchScatterUpdates(GroupOp, Operation *anchor, kernel::TargetAttr) {
  if (auto op = dyn_cast<ScatterNdOp>(anchor); op && !getConstantDim(getDims(op.getIndices().getType()).back()))
    return refuse("only run time knows how many numbers an index has");
  return accept("scatter: a copy, then the updates in order by one task");
}

namespace {
struct Scatter {
  KernelBuilder &k;
  Value result;
  ScatterReduction reduction;

  void copy(Value input) const {
    auto all = [&] {
      forEachIndex(k, getDims(result.getType()), mergedReads(k, input),
                   [&](ArrayRef<AffineExpr> at, Lanes lanes) { k.store(0, k.value(input, at, lanes), at, lanes); });
    };
    auto argument = dyn_cast<BlockArgument>(input);
    if (!argument || !llvm::is_contained(getOverwritable(cast<GroupOp>(argument.getOwner()->getParentOp())), argument.getArgNumber()))
      return all();
    OpBuilder &b = k.builder();
    Value same = kernel::SameBufferOp::create(b, k.loc(), b.getI1Type(), k.buffer(argument.getArgNumber()), k.resultBuffer(0));
    k.branch(arith::XOrIOp::create(b, k.loc(), same, arith::ConstantIntOp::create(b, k.loc(), b.getI1Type(), 1)), all);
  }
  void update(Value value, ArrayRef<AffineExpr> at, Lanes lanes) const {
    Type element = getElementTypeOrSelf(result.getType());
    auto meet = [&](ReduceKind kind) { return combine(k, kind, element, k.loadResult(0, at, lanes), value); };
    switch (reduction) {
    case ScatterReduction::None:
      break;
    case ScatterReduction::Add:
      value = meet(ReduceKind::Sum);
      break;
    case ScatterReduction::Mul:
      value = meet(ReduceKind::Prod);
      break;
    case ScatterReduction::Min:
      value = meet(ReduceKind::Min);
      break;
    case ScatterReduction::Max:
      value = meet(ReduceKind::Max);
      break;
    }
    k.store(0, value, at, lanes);
  }
};
} // namespace

/// Whether an index that changes along `dim` alone leaves the value of `tensor`, computed in the group, as it is.
static bool isConstantAlong(Value tensor, unsigned dim, llvm::DenseSet<std::pair<Value, unsigned>> &seen) {
  // What has been visited is constant, or has ended the search.
  if (!seen.insert({tensor, dim}).second)
    return true;
  Operation *op = tensor.getDefiningOp();
  if (getConstantDim(getDim(tensor.getType(), dim)) == 1 || isa_and_nonnull<SplatOp>(op))
    return true;
  if (auto iota = dyn_cast_or_null<IotaOp>(op))
    return iota.getAxis() != dim;
  if (isa_and_nonnull<ScalarBody>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isConstantAlong(operand, dim, seen); });
  auto view = dyn_cast_or_null<IndexMap>(op);
  AffineMap map = view ? view.getIndexMap() : AffineMap();
  if (!map)
    return false;
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(dim) && !isConstantAlong(op->getOperand(0), i, seen))
      return false;
  return true;
}

static bool isConstantAlong(Value tensor, unsigned dim) {
  llvm::DenseSet<std::pair<Value, unsigned>> seen;
  return isConstantAlong(tensor, dim, seen);
}

static void scatterElements(const Scatter &scatter, ScatterElementsOp op) {
  KernelBuilder &k = scatter.k;
  scatter.copy(op.getInput());
  AffineExpr extent = getDim(op.getType(), op.getAxis());
  DimExprs updates = getDims(op.getUpdates().getType());
  // Behind the axis, runs with one index move as vectors: rows of a cache.
  unsigned rank = updates.size(), run = rank;
  while (run > op.getAxis() + 1 && isConstantAlong(op.getIndices(), run - 1))
    --run;
  forEachElement(k, keepDims(k, updates, 0, run), [&](ArrayRef<AffineExpr> at, Lanes) {
    CheckedIndices checked(k);
    IndexExprs outer(at);
    AffineExpr place = checked.add(k.value(op.getIndices(), outer), extent);
    checked.ifInBounds([&] {
      forEachIndex(k, keepDims(k, updates, run, rank), op.getUpdates(), [&](ArrayRef<AffineExpr> inner, Lanes lanes) {
        IndexExprs from(outer);
        std::copy(inner.begin() + run, inner.end(), from.begin() + run);
        IndexExprs to(from);
        to[op.getAxis()] = place;
        scatter.update(k.value(op.getUpdates(), from, lanes), to, lanes);
      });
    });
  });
}

static void scatterNd(const Scatter &scatter, ScatterNdOp op) {
  KernelBuilder &k = scatter.k;
  scatter.copy(op.getInput());
  DimExprs indices = getDims(op.getIndices().getType()), updates = getDims(op.getUpdates().getType()), dims = getDims(op.getType());
  unsigned tuple = *getConstantDim(indices.back()), places = indices.size() - 1;
  forEachElement(k, keepDims(k, updates, 0, places), [&](ArrayRef<AffineExpr> outer, Lanes) {
    CheckedIndices checked(k);
    IndexExprs target(dims.size(), k.constant(0));
    for (unsigned i = 0; i < tuple; ++i) {
      IndexExprs place(outer.take_front(places));
      place.push_back(k.constant(i));
      target[i] = checked.add(k.value(op.getIndices(), place), dims[i]);
    }
    IndexExprs at(outer);
    checked.ifInBounds([&] {
      forEachIndex(k, keepDims(k, updates, places, updates.size()), op.getUpdates(), [&](ArrayRef<AffineExpr> inner, Lanes lanes) {
        IndexExprs from(at), to(target);
        for (unsigned i = places; i < updates.size(); ++i) {
          from[i] = inner[i];
          to[tuple + i - places] = inner[i];
        }
        scatter.update(k.value(op.getUpdates(), from, lanes), to, lanes);
      });
    });
  });
}

FailureOr<LaunchInfo> lowerScatterUpdates(KernelBuilder &k, Operation *anchor) {
  AffineExpr one = k.constant(1);
  k.taskLoop(one, [&](ArrayRef<AffineExpr>) {
    if (auto op = dyn_cast<ScatterElementsOp>(anchor))
      return scatterElements({k, op.getResult(), op.getReduction()}, op);
    auto op = cast<ScatterNdOp>(anchor);
    scatterNd({k, op.getResult(), op.getReduction()}, op);
  });
  return moveInfo(k, one);
}

} // namespace kiln
