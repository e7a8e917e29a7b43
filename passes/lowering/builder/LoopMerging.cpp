//===- LoopMerging.cpp - Neighbouring dimensions as one loop ---------------===//
#include "passes/lowering/builder/LoopMerging.h"

using namespace mlir;

namespace kiln {

using namespace nn;

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
