//===- LoopMerging.cpp - Neighbouring dimensions as one loop ---------------===//
#include "passes/lowering/builder/LoopMerging.h"
#include "passes/target/groups/Places.h"

using namespace mlir;

namespace kiln {

using namespace nn;

void KernelBuilder::collectOffsets(Value tensor, ArrayRef<AffineExpr> at, llvm::SetVector<AffineExpr> &offsets) {
  ReadPlaces seen;
  collectOffsets(tensor, at, offsets, seen);
}

void KernelBuilder::collectOffsets(Value tensor, ArrayRef<AffineExpr> at, llvm::SetVector<AffineExpr> &offsets, ReadPlaces &seen) {
  // A value with several users in the group is read at an index once.
  SmallVector<IndexExprs, 1> &places = seen[tensor];
  if (llvm::is_contained(places, at))
    return;
  places.emplace_back(at);
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    offsets.insert(elementOffset(argument, at));
    return;
  }
  Operation *op = tensor.getDefiningOp();
  if (overrides.count(tensor) || isa<SplatOp>(op))
    return;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    offsets.insert(at[iota.getAxis()]);
    return;
  }
  if (isa<DimValuesOp>(op)) {
    offsets.insert(at.begin(), at.end());
    return;
  }
  if (auto view = dyn_cast<IndexMap>(op))
    if (AffineMap map = view.getIndexMap()) {
      IndexExprs source;
      for (AffineExpr expr : map.getResults())
        source.push_back(expr.replaceDims(at));
      return collectOffsets(op->getOperand(0), source, offsets, seen);
    }
  if (isa<ReshapeOp>(op)) {
    // The coordinates before a reshape are divisions of the offset: only that offset going on evenly keeps them right.
    offsets.insert(linearize(getDims(tensor.getType()), at));
    offsets.insert(at.begin(), at.end());
    return;
  }
  if (!isa<ScalarBody>(op)) {
    offsets.insert(linearize(getDims(tensor.getType()), at));
    return;
  }
  for (Value operand : op->getOperands())
    collectOffsets(operand, at, offsets, seen);
}

void KernelBuilder::collectStores(Value yielded, ArrayRef<AffineExpr> at, llvm::SetVector<AffineExpr> &offsets) {
  for (auto [i, value] : llvm::enumerate(groupOp.getTerminator()->getOperands()))
    if (value == yielded && getPlace(groupOp, groupOp.getInputs().size() + i))
      offsets.insert(resultOffset(i, at));
}

SmallVector<MergedLoop> mergeLoops(KernelBuilder &builder, ArrayRef<AffineExpr> dims, ArrayRef<bool> reduced, ArrayRef<Value> tensors) {
  IndexExprs at;
  for (size_t i = 0; i < dims.size(); ++i)
    at.push_back(builder.placeholder());
  llvm::SetVector<AffineExpr> offsets;
  IndexExprs keptAt(at);
  for (size_t i = 0; i < reduced.size(); ++i)
    if (reduced[i])
      keptAt[i] = builder.constant(0);
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    builder.collectOffsets(tensor, i == 0 ? at : keptAt, offsets);
    builder.collectStores(tensor, i == 0 ? at : keptAt, offsets);
  }
  auto position = [&](unsigned i) { return cast<AffineDimExpr>(at[i]).getPosition(); };
  auto mergeable = [&](unsigned outer, unsigned inner, AffineExpr extent) {
    return llvm::all_of(offsets, [&](AffineExpr offset) {
      AffineExpr c = linearCoefficient(offset, position(outer)), d = linearCoefficient(offset, position(inner));
      return c && d && provablyEqual(c, d * extent);
    });
  };
  SmallVector<MergedLoop> loops;
  for (unsigned i = 0; i < dims.size(); ++i) {
    bool isReduced = !reduced.empty() && reduced[i];
    if (getConstantDim(dims[i]) == 1)
      continue;
    if (!loops.empty() && loops.back().reduced == isReduced && mergeable(loops.back().dim, i, dims[i])) {
      loops.back().extent = simplifyDim(loops.back().extent * dims[i]);
      loops.back().dim = i;
      continue;
    }
    loops.push_back({dims[i], i, isReduced});
  }
  return loops;
}

IndexExprs expandIndex(KernelBuilder &builder, unsigned rank, ArrayRef<MergedLoop> loops, ArrayRef<AffineExpr> at) {
  IndexExprs index(rank, builder.constant(0));
  for (auto [loop, i] : llvm::zip_equal(loops, at))
    index[loop.dim] = i;
  return index;
}

} // namespace kiln
