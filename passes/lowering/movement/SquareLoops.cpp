//===- SquareLoops.cpp - Elements that are read across, in squares of lanes ===//
#include "passes/lowering/movement/SquareLoops.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/lowering/builder/LaneTranspose.h"
#include "passes/target/choice/RegisterBudget.h"
#include "passes/target/groups/Views.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {

using namespace nn;

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

std::optional<TransposedRead> readAcross(Value view, ArrayRef<AffineExpr> dims) {
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

unsigned chooseSide(GroupOp group, const TransposedRead &read, kernel::TargetAttr target) {
  DimExprs dims = getDims(read.view.getType());
  // The square is in registers, and half of them are for what is computed with it.
  unsigned side = std::min(getHalfOfRegisters(target), countLanes(group, target));
  for (unsigned dim : {read.along, read.last})
    if (auto size = getConstantDim(dims[dim]))
      side = std::min(side, llvm::bit_floor(static_cast<unsigned>(std::min<int64_t>(*size, side))));
  return llvm::bit_floor(side);
}

static Lanes along(AffineExpr variable, int64_t lanes) { return {cast<AffineDimExpr>(variable).getPosition(), static_cast<unsigned>(lanes)}; }

void SquareLoops::square(AffineExpr e, AffineExpr d) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < side; ++i)
    rows.push_back(load(e, d + i, along(e, side)));
  for (auto [j, row] : llvm::enumerate(transposeLanes(k, rows)))
    store(row, e + static_cast<int64_t>(j), d, along(d, side));
}

void SquareLoops::run(Range e, Range d) {
  auto whole = [&](Range range) { return k.index(k.emit(range.first + (range.end - range.first).floorDiv(side) * side)); };
  AffineExpr wholeE = whole(e), wholeD = whole(d);
  k.loop(d.first, wholeD, side, "i", [&](AffineExpr i) { k.loop(e.first, wholeE, side, "j", [&](AffineExpr j) { square(j, i); }); });
  k.loop(wholeD, d.end, 1, "i", [&](AffineExpr i) { k.loop(e.first, wholeE, 1, "j", [&](AffineExpr j) { element(j, i, along(i, 1)); }); });
  k.loop(wholeE, e.end, 1, "j", [&](AffineExpr j) {
    k.loop(d.first, wholeD, side, "i", [&](AffineExpr i) { element(j, i, along(i, side)); });
    k.loop(wholeD, d.end, 1, "i", [&](AffineExpr i) { element(j, i, along(i, 1)); });
  });
}

void SquareLoops::runOverlapping(AffineExpr extentE, AffineExpr extentD) {
  std::optional<int64_t> sizeE = getConstantDim(extentE), sizeD = getConstantDim(extentD);
  AffineExpr zero = k.constant(0);
  if (!sizeE || !sizeD || *sizeE < side || *sizeD < side)
    return run({zero, extentE}, {zero, extentD});
  auto forStarts = [&](int64_t size, StringRef name, function_ref<void(AffineExpr)> body) {
    k.loop(zero, k.constant(size), side, name, [&](AffineExpr start) {
      body(size % side == 0 ? start : k.index(k.minimum(k.emit(start), k.emitConstant(size - side))));
    });
  };
  forStarts(*sizeD, "i", [&](AffineExpr d) { forStarts(*sizeE, "j", [&](AffineExpr e) { square(e, d); }); });
}

} // namespace kiln
