//===- AttentionMasks.cpp - Masks that follow from the places alone --------===//
#include "passes/graph/AttentionMasks.h"

#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "passes/graph/Terms.h"

#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// Constants larger than this are not looked through,
static constexpr int64_t mostElements = 1 << 26;
/// and neither are masks of more operations: sums whose operands are shared have no end.
static constexpr unsigned mostOperations = 64;

//===- Constants -----------------------------------------------------------===//

/// Whether a mask of rows x columns is causal, with its first row at position `past`. The last row determines the window.
static std::optional<CausalMask> matchBand(int64_t rows, int64_t columns, int64_t past, function_ref<bool(int64_t, int64_t)> sees) {
  int64_t first = 0, last = rows - 1 + past;
  while (first < columns && !sees(rows - 1, first))
    ++first;
  if (first > last)
    return std::nullopt;
  CausalMask mask;
  if (first > 0)
    mask.window = last - first + 1;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (sees(i, j) != (j <= i + past && (!mask.window || j > i + past - *mask.window)))
        return std::nullopt;
  return mask;
}

/// A constant whose elements may differ; null if its data was omitted when the IR was printed.
static ElementsAttr getStoredConstant(Value value) { return value.getDefiningOp<ConstantOp>() ? getConstant(value) : ElementsAttr(); }

std::optional<CausalMask> kiln::matchCausalBias(Value bias) {
  DimExprs dims = getDims(bias.getType());
  ElementsAttr constant = getStoredConstant(skipBroadcast(bias));
  auto type = constant ? cast<RankedTensorType>(constant.getShapedType()) : RankedTensorType();
  if (!constant || type.getRank() < 2 || getDims(type).back() != dims.back() || getDims(type).rbegin()[1] != dims.rbegin()[1])
    return std::nullopt;
  int64_t columns = type.getShape().back(), rows = type.getShape().rbegin()[1], elements = type.getNumElements();
  if (elements == 0 || columns < rows || elements > mostElements)
    return std::nullopt;
  ConstantData data(constant);
  for (int64_t i = 0; i < elements; ++i)
    if (double x = data.asDouble(i); x != 0.0 && x != -HUGE_VAL)
      return std::nullopt;
  std::optional<CausalMask> mask;
  for (int64_t matrix = 0; matrix < elements; matrix += rows * columns) {
    auto other = matchBand(rows, columns, columns - rows, [&](int64_t i, int64_t j) { return data.asDouble(matrix + i * columns + j) == 0.0; });
    if (!other || (mask && mask->window != other->window))
      return std::nullopt;
    mask = other;
  }
  return mask;
}

/// A constant, or the slice of one whose rows begin at the past.
static std::optional<CausalMask> matchConstantKeep(Value keep) {
  auto slice = keep.getDefiningOp<SliceOp>();
  Value source = slice ? slice.getInput() : keep;
  ElementsAttr constant = getStoredConstant(source);
  DimExprs dims = getDims(keep.getType());
  int64_t rank = dims.size();
  if (!constant || rank < 2)
    return std::nullopt;
  AffineExpr first = getAffineConstantExpr(0, keep.getContext()), past = first;
  if (slice) {
    past = slice.getStarts().getResult(rank - 2);
    if (slice.getStarts().getResult(rank - 1) != first || llvm::any_of(slice.getSteps().take_back(2), [](int64_t step) { return step != 1; }))
      return std::nullopt;
  }
  auto type = cast<RankedTensorType>(source.getType());
  int64_t rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  if (type.getNumElements() != rows * columns || rows * columns == 0 || rows * columns > mostElements)
    return std::nullopt;
  // Without a slice, the constant's own first row is at the past.
  if (!slice)
    past = getAffineConstantExpr(columns - rows, keep.getContext());
  if (!provablyEqual(dims[rank - 1], dims[rank - 2] + past))
    return std::nullopt;
  ConstantData data(constant);
  ArrayRef<char> bytes = data.bytes();
  return matchBand(rows, columns, slice ? 0 : columns - rows, [&](int64_t i, int64_t j) { return bytes[i * columns + j] != 0; });
}

//===- Comparisons ---------------------------------------------------------===//

namespace {
/// A linear function of each pair: `query` times the query's index, plus `key` times the key's, plus the rest.
struct Place {
  int64_t query = 0, key = 0;
  AffineExpr rest;
};

/// The keys that comparisons keep, by their distance behind the query's index.
struct Reach {
  DimExprs dims;
  AffineExpr lowest, highest;
  /// Operations that may still be looked through.
  mutable unsigned remaining;

  bool read(Value keep);

private:
  std::optional<Place> readPlace(Value value) const;
  std::optional<Place> readIndex(IotaOp iota, ArrayRef<AffineExpr> shape) const;
  bool add(Value smaller, Value larger, int64_t atLeast);
};
} // namespace

/// An index along one of the last two dimensions, whose shape was `shape` before it was broadcast.
std::optional<Place> Reach::readIndex(IotaOp iota, ArrayRef<AffineExpr> shape) const {
  DimExprs own = getDims(iota.getType());
  int64_t axis = iota.getAxis();
  auto spans = [&](int64_t fromEnd) {
    int64_t at = static_cast<int64_t>(shape.size()) - fromEnd;
    if (at < 0 || !provablyEqual(shape[at], own[axis]) || !provablyEqual(shape[at], dims[dims.size() - fromEnd]))
      return false;
    // A reshape may only have put ones around a vector.
    return ArrayRef(own) == shape ? axis == at : own.size() == 1 && llvm::count_if(shape, [](AffineExpr d) { return getConstantDim(d) != 1; }) == 1;
  };
  AffineExpr zero = getAffineConstantExpr(0, iota.getContext());
  if (spans(1))
    return Place{0, 1, zero};
  if (spans(2))
    return Place{1, 0, zero};
  return std::nullopt;
}

std::optional<Place> Reach::readPlace(Value value) const {
  value = skipBroadcast(value);
  if (!isa<IntegerType>(getElementTypeOrSelf(value)))
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_or_null<IotaOp>(op))
    return readIndex(iota, getDims(value.getType()));
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    if (auto iota = reshape.getInput().getDefiningOp<IotaOp>())
      return readIndex(iota, getDims(value.getType()));
  if (auto number = dyn_cast_or_null<DimValuesOp>(op); number && number.getMap().getNumResults() == 1)
    return Place{0, 0, number.getMap().getResult(0)};
  if (auto number = getUniformNumber(value))
    return Place{0, 0, getAffineConstantExpr(static_cast<int64_t>(*number), value.getContext())};
  if (!isa_and_nonnull<AddOp, SubOp>(op) || remaining == 0)
    return std::nullopt;
  --remaining;
  auto x = readPlace(op->getOperand(0)), y = readPlace(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  int64_t sign = isa<AddOp>(op) ? 1 : -1;
  return Place{x->query + sign * y->query, x->key + sign * y->key, simplifyDim(x->rest + y->rest * sign)};
}

/// larger - smaller >= atLeast.
bool Reach::add(Value smaller, Value larger, int64_t atLeast) {
  auto x = readPlace(smaller), y = readPlace(larger);
  if (!x || !y)
    return false;
  int64_t key = y->key - x->key, query = y->query - x->query;
  if (key != -query || (key != 1 && key != -1))
    return false;
  // key * (j - i) + rest >= atLeast
  AffineExpr rest = y->rest - x->rest;
  AffineExpr &bound = key == 1 ? lowest : highest;
  if (bound)
    return false;
  bound = simplifyDim(key == 1 ? atLeast - rest : rest - atLeast);
  return true;
}

bool Reach::read(Value keep) {
  keep = skipBroadcast(keep);
  Operation *op = keep.getDefiningOp();
  if (isa_and_nonnull<AndOp>(op)) {
    if (remaining == 0)
      return false;
    --remaining;
    return read(op->getOperand(0)) && read(op->getOperand(1));
  }
  if (isa_and_nonnull<LessOp, LessEqualOp>(op))
    return add(op->getOperand(0), op->getOperand(1), isa<LessOp>(op));
  if (isa_and_nonnull<GreaterOp, GreaterEqualOp>(op))
    return add(op->getOperand(1), op->getOperand(0), isa<GreaterOp>(op));
  return false;
}

static std::optional<CausalMask> matchComparedKeep(Value keep) {
  Reach reach{getDims(keep.getType()), {}, {}, mostOperations};
  int64_t rank = reach.dims.size();
  if (rank < 2 || !reach.read(keep) || !reach.highest || !provablyEqual(reach.dims[rank - 1], reach.dims[rank - 2] + reach.highest))
    return std::nullopt;
  if (!reach.lowest)
    return CausalMask{};
  auto window = getConstantDim(simplifyDim(reach.highest - reach.lowest + 1));
  return window && *window > 0 ? std::optional(CausalMask{*window}) : std::nullopt;
}

std::optional<CausalMask> kiln::matchCausalKeep(Value keep) {
  auto constant = matchConstantKeep(skipBroadcast(keep));
  return constant ? constant : matchComparedKeep(keep);
}
