//===- TransposeTiled.cpp - Element-wise groups that read across -----------===//
//
//   out[.., e, .., d] = f(x[.., d, .., e], ...)
//
// runs over squares of lanes: rows of x are read along e, transposed in registers, and f runs along d, so that every access is contiguous.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Tuning.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/IndexLoops.h"
#include "passes/target/choice/Kernels.h"
#include "passes/lowering/builder/LoopMerging.h"
#include "passes/lowering/movement/SquareLoops.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The only read of the group that is transposed, if all others are contiguous or repeat an element.
static std::optional<TransposedRead> findTransposedRead(GroupOp group) {
  DimExprs dims = getDims(group.getResult(0).getType());
  std::optional<TransposedRead> found;
  for (Operation &op : group.getBody().front().without_terminator()) {
    bool isInner = llvm::all_of(op.getUsers(), [](Operation *user) { return isa<IndexMap>(user); });
    if (!isa<IndexMap>(op) || isInner || getDims(op.getResult(0).getType()) != dims)
      continue;
    auto read = readAcross(op.getResult(0), dims);
    if (read && found)
      return std::nullopt;
    if (read)
      found = read;
  }
  return found;
}

KernelMatch matchTransposeTiled(GroupOp group, Operation *, kernel::TargetAttr target) {
  auto read = findTransposedRead(group);
  if (!read)
    return refuse("expected one operand that is read across");
  unsigned side = chooseSide(group, *read, target);
  if (side < 4)
    return refuse("the squares would have " + Twine(side) + " elements a side, expected at least 4");
  PlanNumbers numbers{{side, 1, side}, {}};
  numbers.squares = {target.tuned(kernel::Tuned::SquaresAlong), target.tuned(kernel::Tuned::SquaresAcross)};
  return accept("reads an operand across: squares transposed in registers", std::move(numbers));
}

std::string findSquareFault(GroupOp, Operation *, kernel::PlanAttr plan) {
  ArrayRef<int64_t> tile = plan.getTile().asArrayRef();
  return tile[0] == tile[2] && tile[1] == 1 ? "" : "a tile is a square of one vector in each row";
}

namespace {
/// The group's results, whose squares are of a view that is read across.
struct SwappedResults : SquareLoops {
  IndexExprs at;
  Value view;
  unsigned along, last;

  SwappedResults(KernelBuilder &k, int64_t side, ArrayRef<AffineExpr> at, const TransposedRead &read)
      : SquareLoops(k, side), at(at), view(read.view), along(read.along), last(read.last) {}
  IndexExprs place(AffineExpr e, AffineExpr d) const {
    IndexExprs moved(at);
    moved[along] = e;
    moved[last] = d;
    return moved;
  }
  Value load(AffineExpr e, AffineExpr d, Lanes lanes) override { return k.value(view, place(e, d), lanes); }
  void store(Value row, AffineExpr e, AffineExpr d, Lanes lanes) override { k.storeResults(view, row, place(e, d), lanes); }
  void element(AffineExpr e, AffineExpr d, Lanes lanes) override { k.storeResults(nullptr, nullptr, place(e, d), lanes); }
};
} // namespace

FailureOr<LaunchInfo> lowerTransposeTiled(KernelBuilder &k, Operation *) {
  auto read = findTransposedRead(k.group());
  auto yielded = llvm::to_vector(k.group().getTerminator()->getOperands());
  DimExprs dims = getDims(yielded.front().getType());
  int64_t side = k.group().getPlan()->getTile()[0];
  ArrayRef<int64_t> squares = k.group().getPlan()->getSquares().asArrayRef();
  SmallVector<MergedLoop> loops = mergeLoops(k, dims, {}, yielded);
  // Merged loops keep the last of their dimensions: both that are swapped are still there.
  AffineExpr chunkE = k.constant(squares[0] * side), chunkD = k.constant(squares[1] * side), extentE, extentD = loops.back().extent;
  IndexExprs extents;
  for (const MergedLoop &loop : ArrayRef(loops).drop_back()) {
    if (loop.dim == read->along)
      extentE = loop.extent;
    else
      extents.push_back(loop.extent);
  }
  extents.push_back(simplifyDim(extentE.ceilDiv(chunkE)));
  extents.push_back(simplifyDim(extentD.ceilDiv(chunkD)));
  read->last = loops.back().dim;
  k.taskLoop(extents, [&](ArrayRef<AffineExpr> task) {
    IndexExprs at(dims.size(), k.constant(0));
    unsigned next = 0;
    for (const MergedLoop &loop : ArrayRef(loops).drop_back())
      if (loop.dim != read->along)
        at[loop.dim] = task[next++];
    auto part = [&](AffineExpr chunk, AffineExpr size, AffineExpr extent) {
      AffineExpr first = k.index(k.emit(chunk * size));
      return std::pair(first, k.index(k.minimum(k.emit(first + size), k.emit(extent))));
    };
    auto [firstE, endE] = part(task[next], chunkE, extentE);
    auto [firstD, endD] = part(task[next + 1], chunkD, extentD);
    SwappedResults(k, side, at, *read).run({firstE, endE}, {firstD, endD});
  });
  return moveInfo(k, getNumElements(extents, k.context()));
}

} // namespace kiln
