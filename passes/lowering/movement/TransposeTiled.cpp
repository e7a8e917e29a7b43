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
#include "passes/target/choice/RegisterBudget.h"
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/lowering/builder/LoopMerging.h"
#include "passes/target/groups/Views.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

using namespace nn;

namespace {
/// A view, of what may be computed element by element, that runs contiguously along dimension `along` of the result instead of the last one.
struct TransposedRead {
  Value view;
  unsigned along, last;
};
} // namespace

static bool isUnit(AffineExpr dim) { return getConstantDim(dim) == 1; }

/// Values that are looked at to find what one is computed from: those that share operands lead to the same ones by many ways.
static constexpr unsigned mostLooked = 64;

/// Where the elements lie that an element of `value` is computed from; false where that is not known.
static bool collectReads(Value value, ArrayRef<AffineExpr> at, SmallVectorImpl<AffineExpr> &offsets, unsigned &looked) {
  if (++looked > mostLooked)
    return false;
  if (auto traced = traceViews(value, at)) {
    offsets.push_back(simplifyDim(traced->offset));
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa<SplatOp>(op))
    return true;
  AffineMap map = isa<IndexMap>(op) ? cast<IndexMap>(op).getIndexMap() : AffineMap();
  if (!map && !isa<ScalarBody>(op))
    return false;
  IndexExprs source(at);
  if (map) {
    source.clear();
    for (AffineExpr expr : map.getResults())
      source.push_back(expr.replaceDims(at));
  }
  auto read = [&](Value operand) {
    bool isScalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    return collectReads(operand, isScalar ? ArrayRef<AffineExpr>() : source, offsets, looked);
  };
  return map ? read(op->getOperand(0)) : llvm::all_of(op->getOperands(), read);
}

static std::optional<TransposedRead> readAcross(Value view, ArrayRef<AffineExpr> dims) {
  const auto *last = llvm::find_if(llvm::reverse(dims), [](AffineExpr dim) { return !isUnit(dim); }).base();
  IndexExprs at;
  for (unsigned i = 0; i < dims.size(); ++i)
    at.push_back(getAffineDimExpr(i, view.getContext()));
  SmallVector<AffineExpr> offsets;
  unsigned looked = 0;
  if (last == dims.begin() || !collectReads(view, at, offsets, looked))
    return std::nullopt;
  // Elements that lie side by side along a dimension, or are the same.
  auto isSideBySide = [&](unsigned dim) {
    return llvm::all_of(offsets, [&](AffineExpr offset) {
      auto stride = coefficientOf(offset, dim);
      return stride == 0 || stride == 1;
    });
  };
  auto isLinear = [&](AffineExpr offset) {
    return llvm::all_of(llvm::seq<unsigned>(0, dims.size()), [&](unsigned dim) { return bool(linearCoefficient(offset, dim)); });
  };
  TransposedRead read{view, 0, static_cast<unsigned>(last - dims.begin() - 1)};
  if (!llvm::all_of(offsets, isLinear) || isSideBySide(read.last))
    return std::nullopt;
  for (; read.along < read.last; ++read.along)
    if (!isUnit(dims[read.along]) && isSideBySide(read.along) &&
        llvm::any_of(offsets, [&](AffineExpr offset) { return coefficientOf(offset, read.along) == 1; }))
      return read;
  return std::nullopt;
}

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

/// The side of the squares: as many lanes as the vectors and both dimensions have.
static unsigned chooseSide(GroupOp group, const TransposedRead &read, kernel::TargetAttr target) {
  DimExprs dims = getDims(group.getResult(0).getType());
  // The square is in registers, and half of them are for what is computed with it.
  unsigned side = std::min(getHalfOfRegisters(target), countLanes(group, target));
  for (unsigned dim : {read.along, read.last})
    if (auto size = getConstantDim(dims[dim]))
      side = std::min(side, llvm::bit_floor(static_cast<unsigned>(std::min<int64_t>(*size, side))));
  return side;
}

KernelMatch matchTransposeTiled(GroupOp group, Operation *, kernel::TargetAttr target) {
  auto read = findTransposedRead(group);
  if (!read)
    return refuse("expected one operand that is read across");
  unsigned side = llvm::bit_floor(chooseSide(group, *read, target));
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
/// A task's part of the two dimensions that are swapped.
struct SwappedLoops {
  KernelBuilder &k;
  Value view;
  unsigned along, last;
  int64_t side;

  void element(IndexExprs at, AffineExpr e, AffineExpr d, unsigned lanes) const {
    at[along] = e;
    at[last] = d;
    k.storeResults(nullptr, nullptr, at, Lanes{cast<AffineDimExpr>(d).getPosition(), lanes});
  }
  void square(IndexExprs at, AffineExpr e, AffineExpr d) const {
    SmallVector<Value> rows;
    unsigned lanes = static_cast<unsigned>(side);
    at[along] = e;
    for (int64_t i = 0; i < side; ++i) {
      at[last] = d + i;
      rows.push_back(k.value(view, at, Lanes{cast<AffineDimExpr>(e).getPosition(), lanes}));
    }
    at[last] = d;
    for (auto [j, row] : llvm::enumerate(transposeLanes(k, rows))) {
      at[along] = e + static_cast<int64_t>(j);
      k.storeResults(view, row, at, Lanes{cast<AffineDimExpr>(d).getPosition(), lanes});
    }
  }
  void run(const IndexExprs &at, AffineExpr firstE, AffineExpr endE, AffineExpr firstD, AffineExpr endD) const {
    auto whole = [&](AffineExpr first, AffineExpr end) { return k.index(k.emit(first + (end - first).floorDiv(side) * side)); };
    AffineExpr wholeE = whole(firstE, endE), wholeD = whole(firstD, endD);
    k.loop(firstD, wholeD, side, "i", [&](AffineExpr d) {
      k.loop(firstE, wholeE, side, "j", [&](AffineExpr e) { square(at, e, d); });
    });
    k.loop(wholeD, endD, 1, "i", [&](AffineExpr d) {
      k.loop(firstE, wholeE, 1, "j", [&](AffineExpr e) { element(at, e, d, 1); });
    });
    k.loop(wholeE, endE, 1, "j", [&](AffineExpr e) {
      k.loop(firstD, wholeD, side, "i", [&](AffineExpr d) { element(at, e, d, side); });
      k.loop(wholeD, endD, 1, "i", [&](AffineExpr d) { element(at, e, d, 1); });
    });
  }
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
  SwappedLoops swapped{k, read->view, read->along, loops.back().dim, side};
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
    swapped.run(at, firstE, endE, firstD, endD);
  });
  return moveInfo(k, getNumElements(extents, k.context()));
}

} // namespace kiln
