//===- ElementwiseLoops.cpp - Groups without an anchor ---------------------===//
//
//   out[i] = f(a[i], b[i], ...) over the merged dimensions of the result; the innermost loop runs in vectors.
//
//===----------------------------------------------------------------------===//
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/LoopMerging.h"
#include "passes/lowering/builder/MovedBytes.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// Elements of one task when everything is one loop: long enough to pay for a call, the same for any number of threads.
static constexpr int64_t chunkElements = 4096;

/// A task with fewer elements takes less time than finding out where they lie.
static constexpr int64_t fewElements = 512;
/// As many tasks as any number of threads can share evenly enough.
static constexpr int64_t enoughTasks = 64;

/// How many of the innermost loops belong to a task: one, or more where its extent is small, if that leaves enough tasks.
static size_t countLoopsOfTask(ArrayRef<MergedLoop> loops) {
  size_t inside = 1;
  int64_t elements = getConstantDim(loops.back().extent).value_or(fewElements);
  while (elements < fewElements && inside + 1 < loops.size()) {
    int64_t tasks = 1;
    for (const MergedLoop &loop : loops.drop_back(inside + 1))
      tasks = std::min(enoughTasks, tasks * getConstantDim(loop.extent).value_or(enoughTasks));
    if (tasks < enoughTasks)
      break;
    elements *= getConstantDim(loops.drop_back(inside).back().extent).value_or(fewElements);
    ++inside;
  }
  return inside;
}

/// Reads the inputs of one element before the loops of a task that stores bytes: as far as C++ knows, such a store may change any of them.
static void readNumbersFirst(KernelBuilder &k) {
  if (!llvm::any_of(k.group().getResultTypes(), [](Type type) { return getElementTypeOrSelf(type).isInteger(8); }))
    return;
  for (BlockArgument input : k.group().getBody().getArguments()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.hasStaticShape() && type.getNumElements() == 1)
      k.setValue(input, k.value(input, IndexExprs(type.getRank(), k.constant(0))));
  }
}

FailureOr<LaunchInfo> lowerElementwiseLoops(KernelBuilder &k, Operation *) {
  auto yielded = llvm::to_vector(k.group().getTerminator()->getOperands());
  DimExprs dims = getDims(yielded.front().getType());
  // The results' own offsets take part: a buffer that is written is contiguous over merged dimensions by construction.
  SmallVector<MergedLoop> loops = mergeLoops(k, dims, {}, yielded);
  if (loops.empty())
    loops.push_back({k.constant(1), static_cast<unsigned>(dims.empty() ? 0 : dims.size() - 1), false});
  AffineExpr inner = loops.back().extent;
  size_t inside = countLoopsOfTask(loops);
  IndexExprs outer;
  for (const MergedLoop &loop : ArrayRef(loops).drop_back(inside))
    outer.push_back(loop.extent);
  bool chunked = outer.empty();
  if (chunked)
    outer.push_back(inner.ceilDiv(chunkElements));

  auto storeAt = [&](ArrayRef<AffineExpr> coordinates, Lanes lanes) {
    IndexExprs at = dims.empty() ? IndexExprs() : expandIndex(k, dims.size(), loops, coordinates);
    k.storeResults(nullptr, nullptr, at, lanes);
  };
  std::function<void(IndexExprs)> forLoopsOfTask = [&](IndexExprs coordinates) {
    auto next = [&](AffineExpr i) {
      IndexExprs longer(coordinates);
      longer.push_back(i);
      return longer;
    };
    if (coordinates.size() + 1 == loops.size())
      return k.vectorLoop(inner, k.vectorLanes(), "i", [&](AffineExpr i, Lanes lanes) { storeAt(next(i), lanes); });
    k.loop(k.constant(0), loops[coordinates.size()].extent, 1, "i", [&](AffineExpr i) { forLoopsOfTask(next(i)); });
  };
  k.taskLoop(outer, [&](ArrayRef<AffineExpr> task) {
    if (!dims.empty())
      readNumbersFirst(k);
    if (!chunked)
      return forLoopsOfTask(IndexExprs(task));
    auto size = getConstantDim(inner);
    if (size && *size <= chunkElements)
      return k.vectorLoop(inner, k.vectorLanes(), "i", [&](AffineExpr i, Lanes lanes) { storeAt(i, lanes); });
    // Whole vectors of this chunk, then what is left of the last one by elements.
    AffineExpr first = k.index(k.emit(task[0] * chunkElements));
    AffineExpr end = k.index(k.minimum(k.emit(first + chunkElements), k.emit(inner)));
    int64_t lanes = k.vectorLanes();
    AffineExpr covered = k.index(k.emit(first + (end - first).floorDiv(lanes) * lanes));
    if (lanes > 1)
      k.loop(first, covered, lanes, "i", [&](AffineExpr i) { storeAt(i, Lanes{cast<AffineDimExpr>(i).getPosition(), k.vectorLanes()}); });
    else
      covered = first;
    if (lanes == 1 || !size || *size % lanes)
      k.loop(covered, end, 1, "i", [&](AffineExpr i) { storeAt(i, Lanes{cast<AffineDimExpr>(i).getPosition(), 1}); });
  });
  AffineExpr tasks = k.constant(1);
  for (AffineExpr extent : outer)
    tasks = tasks * extent;
  return LaunchInfo{simplifyDim(tasks), getNumElements(dims, k.context()), countMovedBytes(k)};
}

} // namespace kiln
