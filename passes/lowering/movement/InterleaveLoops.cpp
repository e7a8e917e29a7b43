//===- InterleaveLoops.cpp - Few rows woven into one -----------------------===//
//
//   out[.., e, d] = x[.., d, e]   for d in 0 .. 2, 4 or 8
//
// as channel shuffles do: one vector of each row along e, woven in registers, gives as many vectors of the result, which are contiguous.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Scalar.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/groups/Views.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// The two dimensions of the result that are swapped in the operand.
struct Weave {
  unsigned along, last;
  int64_t rows;
};
} // namespace

static std::optional<Weave> findWeave(GroupOp group) {
  Value result = group.getTerminator()->getOperand(0);
  auto isMoved = [](Operation &op) { return isa<IndexMap, YieldOp>(op); };
  if (group.getNumResults() != 1 || !llvm::all_of(group.getBody().front(), isMoved))
    return std::nullopt;
  auto view = traceLinearView(result);
  SmallVector<unsigned> wide;
  DimExprs dims = getDims(result.getType());
  for (auto [i, dim] : llvm::enumerate(dims))
    if (getConstantDim(dim) != 1)
      wide.push_back(i);
  if (!view || wide.size() < 2)
    return std::nullopt;
  Weave weave{wide[wide.size() - 2], wide.back(), getConstantDim(dims[wide.back()]).value_or(0)};
  bool few = weave.rows == 2 || weave.rows == 4 || weave.rows == 8;
  return few && coefficientOf(view->offset, weave.along) == 1 ? std::optional(weave) : std::nullopt;
}

KernelMatch matchInterleaveLoops(GroupOp group, Operation *, kernel::TargetAttr target) {
  if (unsigned lanes = lanesOf(target, getElementTypeOrSelf(group.getResult(0).getType())); lanes < 4)
    return refuse("a vector has " + Twine(lanes) + " elements, expected at least 4");
  if (!findWeave(group))
    return refuse("expected views alone that give 2, 4 or 8 rows element by element in turn");
  return accept("a few rows woven into one: vectors of each, interleaved in registers");
}

FailureOr<LaunchInfo> lowerInterleaveLoops(KernelBuilder &k, Operation *) {
  Value result = k.group().getTerminator()->getOperand(0);
  Weave weave = *findWeave(k.group());
  DimExprs dims = getDims(result.getType());
  Type element = getElementTypeOrSelf(result.getType());
  AffineExpr tasks = forEachTask(k, keepDims(k, dims, 0, weave.along), {}, [&](ArrayRef<AffineExpr> task) {
    k.vectorLoop(dims[weave.along], k.vectorLanes(), "i", [&](AffineExpr e, Lanes lanes) {
      IndexExprs at(task);
      at[weave.along] = e;
      SmallVector<Value> rows;
      for (int64_t d = 0; d < weave.rows; ++d) {
        at[weave.last] = k.constant(d);
        if (lanes.count == 1)
          k.storeResults(nullptr, nullptr, at, lanes);
        else
          rows.push_back(k.value(result, at, lanes));
      }
      at[weave.last] = k.constant(0);
      if (lanes.count == 1)
        return;
      // A dim that is zero here stands for the lanes.
      AffineExpr lane = k.index(k.emitConstant(0)), start = k.index(k.emit(k.resultOffset(0, at)));
      auto weaveRows = [&](ArrayRef<Value> vectors) { return interleaveRows(k, vectors); };
      for (auto [i, row] : llvm::enumerate(moveLanes(k, rows, weaveRows))) {
        AffineExpr offset = start + static_cast<int64_t>(i * lanes.count) + lane;
        k.storeBuffer(k.resultBuffer(0), element, offset, row, Lanes{cast<AffineDimExpr>(lane).getPosition(), lanes.count});
      }
    });
  });
  return moveInfo(k, tasks);
}

} // namespace kiln
