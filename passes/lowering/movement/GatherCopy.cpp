//===- GatherCopy.cpp - Elements and slices at computed indices ------------===//
//
//   gather:           out[o, j, i] = in[o, indices[j], i]       one check a run over i
//   gather_elements:  out[at]      = in[at with indices[at] along the axis]
//   gather_nd:        out[b, j, i] = in[b, indices[b, j, :], i]
//
// Negative indices count from the end. An index out of bounds sets the status and nothing is read.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/target/choice/Kernels.h"

using namespace mlir;

namespace kiln {

using namespace nn;

KernelMatch matchGatherCopy(GroupOp, Operation *anchor, kernel::TargetAttr) {
  if (auto op = dyn_cast<GatherNdOp>(anchor); op && !getConstantDim(getDims(op.getIndices().getType()).back()))
    return refuse("only run time knows how many numbers an index has");
  return accept("gather: checked indices, slices copied in vectors");
}

/// Tasks over the dimensions before `slice` (all but the last of them when nothing follows), then loops over the rest of that.
/// `locate` turns a result index, whose dims from `slice` on are zero, into one of the input and checks it; `inputSlice` is where the slice
/// lies in the input.
static AffineExpr gatherSlices(KernelBuilder &k, Value input, Value result, unsigned slice, unsigned inputSlice,
                               function_ref<IndexExprs(ArrayRef<AffineExpr>, CheckedIndices &)> locate) {
  DimExprs dims = getDims(result.getType());
  unsigned rank = dims.size();
  bool single = getConstantDim(getNumElements(ArrayRef(dims).drop_front(slice), k.context())) == 1;
  unsigned tasks = single && slice > 0 ? slice - 1 : slice;
  return forEachTask(k, keepDims(k, dims, 0, tasks), {}, [&](ArrayRef<AffineExpr> outer) {
    forEachElement(k, keepDims(k, dims, tasks, slice), [&](ArrayRef<AffineExpr> middle, Lanes) {
      IndexExprs at(middle);
      std::copy(outer.begin(), outer.begin() + tasks, at.begin());
      CheckedIndices checked(k);
      IndexExprs from = locate(at, checked);
      checked.ifInBounds([&] {
        // The slice's own dims go on evenly in the input as they do in the result: both are its innermost dims.
        forEachIndex(k, keepDims(k, dims, slice, rank), mergedReads(k, {}), [&](ArrayRef<AffineExpr> inner, Lanes lanes) {
          IndexExprs to(at), source(from);
          for (unsigned i = slice; i < rank; ++i) {
            to[i] = inner[i];
            source[inputSlice + i - slice] = inner[i];
          }
          k.storeResults(result, k.value(input, source, lanes), to, lanes);
        });
      });
    });
  });
}

static AffineExpr gather(KernelBuilder &k, GatherOp op) {
  unsigned axis = op.getAxis(), count = op.getIndices().getType().getRank();
  DimExprs input = getDims(op.getInput().getType());
  return gatherSlices(k, op.getInput(), op.getResult(), axis + count, axis + 1, [&](ArrayRef<AffineExpr> at, CheckedIndices &checked) {
    IndexExprs from(input.size(), k.constant(0));
    std::copy(at.begin(), at.begin() + axis, from.begin());
    from[axis] = checked.add(k.value(op.getIndices(), at.slice(axis, count)), input[axis]);
    return from;
  });
}

static AffineExpr gatherElements(KernelBuilder &k, GatherElementsOp op) {
  DimExprs input = getDims(op.getInput().getType());
  return gatherSlices(k, op.getInput(), op.getResult(), input.size(), input.size(), [&](ArrayRef<AffineExpr> at, CheckedIndices &checked) {
    IndexExprs from(at);
    from[op.getAxis()] = checked.add(k.value(op.getIndices(), at), input[op.getAxis()]);
    return from;
  });
}

static AffineExpr gatherNd(KernelBuilder &k, GatherNdOp op) {
  DimExprs input = getDims(op.getInput().getType()), indices = getDims(op.getIndices().getType());
  unsigned batch = op.getBatchDims(), tuple = *getConstantDim(indices.back()), places = indices.size() - 1;
  return gatherSlices(k, op.getInput(), op.getResult(), places, batch + tuple, [&](ArrayRef<AffineExpr> at, CheckedIndices &checked) {
    IndexExprs from(input.size(), k.constant(0));
    std::copy(at.begin(), at.begin() + batch, from.begin());
    for (unsigned i = 0; i < tuple; ++i) {
      IndexExprs place(at.take_front(places));
      place.push_back(k.constant(i));
      from[batch + i] = checked.add(k.value(op.getIndices(), place), input[batch + i]);
    }
    return from;
  });
}

FailureOr<LaunchInfo> lowerGatherCopy(KernelBuilder &k, Operation *anchor) {
  if (auto op = dyn_cast<GatherOp>(anchor))
    return moveInfo(k, gather(k, op));
  if (auto op = dyn_cast<GatherElementsOp>(anchor))
    return moveInfo(k, gatherElements(k, op));
  return moveInfo(k, gatherNd(k, cast<GatherNdOp>(anchor)));
}

} // namespace kiln
