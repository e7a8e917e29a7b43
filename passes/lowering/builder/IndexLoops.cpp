//===- IndexLoops.cpp - Loops over a block of an index space ---------------===//
#include "passes/lowering/builder/IndexLoops.h"
#include "dialects/nn/ConstantData.h"
#include "passes/lowering/builder/LoopMerging.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

using namespace nn;

IndexExprs keepDims(KernelBuilder &k, ArrayRef<AffineExpr> dims, unsigned first, unsigned last) {
  IndexExprs kept(dims.size(), k.constant(1));
  for (unsigned i = first; i < last; ++i)
    kept[i] = dims[i];
  return kept;
}

SmallVector<Value> mergedReads(KernelBuilder &k, ArrayRef<Value> inputs) {
  SmallVector<Value> reads(inputs);
  llvm::append_range(reads, k.group().getTerminator()->getOperands());
  return reads;
}

static void nest(KernelBuilder &k, ArrayRef<MergedLoop> loops, IndexExprs &at, unsigned lanes, IndexBody body) {
  const MergedLoop &loop = loops.front();
  if (loops.size() == 1) {
    k.vectorLoop(loop.extent, lanes, "i", [&](AffineExpr i, Lanes within) {
      at[loop.dim] = i;
      body(at, within);
    });
    return;
  }
  k.loop(k.constant(0), loop.extent, 1, "j", [&](AffineExpr j) {
    at[loop.dim] = j;
    nest(k, loops.drop_front(), at, lanes, body);
  });
}

void forEachIndex(KernelBuilder &k, ArrayRef<AffineExpr> dims, ArrayRef<Value> tensors, IndexBody body, unsigned mostLanes) {
  SmallVector<MergedLoop> loops = mergeLoops(k, dims, {}, tensors);
  IndexExprs at(dims.size(), k.constant(0));
  if (loops.empty())
    return body(at, Lanes{});
  nest(k, loops, at, std::min(k.vectorLanes(), mostLanes), body);
}

void forEachElement(KernelBuilder &k, ArrayRef<AffineExpr> dims, IndexBody body) {
  SmallVector<MergedLoop> loops;
  for (auto [i, extent] : llvm::enumerate(dims))
    if (getConstantDim(extent) != 1)
      loops.push_back({extent, static_cast<unsigned>(i), false});
  IndexExprs at(dims.size(), k.constant(0));
  if (loops.empty())
    return body(at, Lanes{});
  nest(k, loops, at, 1, body);
}

void forEvenPieces(KernelBuilder &k, int64_t extent, int64_t most, function_ref<void(AffineExpr, unsigned)> body) {
  int64_t number = llvm::divideCeilSigned(extent, most), big = llvm::divideCeilSigned(extent, number), bigEnd = (extent - number * (big - 1)) * big;
  auto run = [&](int64_t from, int64_t to, int64_t count) {
    k.loop(k.constant(from), k.constant(to), count, "x", [&](AffineExpr x) { body(x, static_cast<unsigned>(count)); });
  };
  run(0, bigEnd, big);
  if (bigEnd < extent)
    run(bigEnd, extent, big - 1);
}

AffineExpr forEachTask(KernelBuilder &k, ArrayRef<AffineExpr> dims, ArrayRef<Value> tensors,
                       function_ref<void(ArrayRef<AffineExpr>)> body) {
  SmallVector<MergedLoop> loops;
  if (!tensors.empty())
    loops = mergeLoops(k, dims, {}, tensors);
  for (auto [i, extent] : llvm::enumerate(dims))
    if (tensors.empty() && getConstantDim(extent) != 1)
      loops.push_back({extent, static_cast<unsigned>(i), false});
  IndexExprs extents;
  for (const MergedLoop &loop : loops)
    extents.push_back(loop.extent);
  if (extents.empty())
    extents.push_back(k.constant(1));
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    IndexExprs at(dims.size(), k.constant(0));
    for (auto [i, loop] : llvm::enumerate(loops))
      at[loop.dim] = task[i];
    body(at);
  });
  return getNumElements(extents, k.context());
}

AffineExpr CheckedIndices::add(Value index, AffineExpr extent) {
  OpBuilder &b = k.builder();
  Location loc = k.loc();
  Value position = arith::IndexCastOp::create(b, loc, b.getIndexType(), index), zero = k.emitConstant(0), size = k.emit(extent);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, zero);
  Value wrapped = arith::SelectOp::create(b, loc, isNegative, arith::AddIOp::create(b, loc, position, size), position);
  Value isHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, wrapped, size);
  Value isLow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, wrapped, zero);
  Value fits = arith::AndIOp::create(b, loc, isLow, isHigh);
  inBounds = inBounds ? Value(arith::AndIOp::create(b, loc, inBounds, fits)) : fits;
  return k.index(wrapped);
}

void CheckedIndices::ifInBounds(function_ref<void()> body) {
  if (!inBounds)
    return body();
  k.branch(inBounds, body);
  Value yes = arith::ConstantIntOp::create(k.builder(), k.loc(), 1, 1);
  k.failIf(arith::XOrIOp::create(k.builder(), k.loc(), inBounds, yes), "KILN_STATUS_INDEX_OUT_OF_BOUNDS");
}

AffineExpr CheckedIndices::orFirst(AffineExpr place) {
  Value yes = arith::ConstantIntOp::create(k.builder(), k.loc(), 1, 1);
  k.failIf(arith::XOrIOp::create(k.builder(), k.loc(), inBounds, yes), "KILN_STATUS_INDEX_OUT_OF_BOUNDS");
  return k.index(arith::SelectOp::create(k.builder(), k.loc(), inBounds, k.emit(place), k.emitConstant(0)));
}

LaunchInfo moveInfo(KernelBuilder &k, AffineExpr tasks) {
  AffineExpr elements = k.constant(0), bytes = k.constant(0);
  for (Type type : k.group().getResultTypes()) {
    AffineExpr count = getNumElements(getDims(type), k.context());
    elements = elements + count;
    bytes = bytes + count * (2 * elementBytes(getElementTypeOrSelf(type)));
  }
  return LaunchInfo{simplifyDim(tasks), simplifyDim(elements), simplifyDim(bytes)};
}

} // namespace kiln
