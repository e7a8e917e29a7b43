//===- Permute.cpp - Operations under another order of dimensions ----------===//
#include "dialects/nn/Permute.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/SymbolAttributeNames.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

RankedTensorType kiln::nn::permuteType(Type type, ArrayRef<int64_t> permutation) {
  return makeTensorType(applyPermutation(ArrayRef<AffineExpr>(getDims(type)), permutation), getElementTypeOrSelf(type));
}

SmallVector<int64_t> kiln::nn::toChannelsLast(int64_t rank) {
  SmallVector<int64_t> permutation{0};
  llvm::append_range(permutation, llvm::seq<int64_t>(2, rank));
  permutation.push_back(1);
  return permutation;
}

SmallVector<int64_t> kiln::nn::toChannelsFirst(int64_t rank) {
  return rank < 2 ? SmallVector<int64_t>{0} : invertPermutationVector(toChannelsLast(rank));
}

bool kiln::nn::permutesOnlyUnits(Type type, ArrayRef<int64_t> permutation) {
  DimExprs dims = getDims(type);
  int64_t previous = -1;
  for (int64_t dim : permutation) {
    if (getConstantDim(dims[dim]) == 1)
      continue;
    if (dim < previous)
      return false;
    previous = dim;
  }
  return true;
}

Value kiln::nn::makeTranspose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> composed(permutation);
  while (auto inner = value.getDefiningOp<TransposeOp>()) {
    composed = applyPermutation(inner.getPermutation(), composed);
    value = inner.getInput();
  }
  if (isIdentityPermutation(composed))
    return value;
  return TransposeOp::create(builder, loc, permuteType(value.getType(), composed), value, composed);
}

Operation *kiln::nn::buildPermuted(OpBuilder &builder, Permutable op, ArrayRef<int64_t> permutation) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool moves = cast<RankedTensorType>(operand.getType()).getRank() == static_cast<int64_t>(permutation.size());
    operands.push_back(moves ? makeTranspose(builder, op.getLoc(), operand, permutation) : operand);
  }
  Operation *permuted = builder.clone(*op);
  permuted->setOperands(operands);
  for (OpResult result : permuted->getResults())
    result.setType(permuteType(result.getType(), permutation));
  cast<Permutable>(permuted).permuteAttributes(permutation);
  return permuted;
}

//===- Attributes ----------------------------------------------------------===//

static int64_t movedAxis(int64_t axis, ArrayRef<int64_t> permutation) { return llvm::find(permutation, axis) - permutation.begin(); }

static AffineMap movedResults(AffineMap map, ArrayRef<int64_t> permutation) {
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), applyPermutation(map.getResults(), permutation), map.getContext());
}

void SliceOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  setStarts(movedResults(getStarts(), permutation));
  setSteps(applyPermutation(getSteps(), permutation));
}

void PadOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  setLow(movedResults(getLow(), permutation));
  setHigh(movedResults(getHigh(), permutation));
  setInterior(applyPermutation(getInterior(), permutation));
}

void ResizeOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  setScales(applyPermutation(getScales(), permutation));
  if (!getRoi())
    return;
  // The region's starts, then its ends.
  size_t rank = permutation.size();
  SmallVector<double> roi = applyPermutation(getRoi()->take_front(rank), permutation);
  roi.append(applyPermutation(getRoi()->drop_front(rank), permutation));
  setRoi(roi);
}

void ReduceOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> axes;
  for (int64_t axis : getAxes())
    axes.push_back(movedAxis(axis, permutation));
  llvm::sort(axes);
  setAxes(axes);
}

#define KILN_MOVE_AXIS(OpTy)                                                                                           \
  void OpTy::permuteAttributes(ArrayRef<int64_t> permutation) { setAxis(movedAxis(getAxis(), permutation)); }
KILN_MOVE_AXIS(ConcatOp)
KILN_MOVE_AXIS(GatherElementsOp)
KILN_MOVE_AXIS(ScatterElementsOp)
KILN_MOVE_AXIS(IotaOp)
KILN_MOVE_AXIS(ArgReduceOp)
KILN_MOVE_AXIS(CumulativeOp)
KILN_MOVE_AXIS(TopKOp)
KILN_MOVE_AXIS(SoftmaxOp)
KILN_MOVE_AXIS(LogSoftmaxOp)
KILN_MOVE_AXIS(HardmaxOp)
#undef KILN_MOVE_AXIS

//===- Reshapes ------------------------------------------------------------===//

namespace {
/// Neighbouring dimensions of a reshape's operand that become neighbouring dimensions of its result.
struct Group {
  SmallVector<int64_t> from, to;
};
} // namespace

static bool isUnit(AffineExpr dim) { return getConstantDim(dim) == 1; }

/// Whether two dimensions are the same because the module demands it (`nn.constraints`).
static bool constrainedEqual(AffineMap constraints, AffineExpr a, AffineExpr b) {
  if (provablyEqual(a, b) || !constraints)
    return provablyEqual(a, b);
  // As import simplifies what it demands: the difference of a size and of another made of its half is a remainder.
  AffineExpr one = simplifyDim(a - b), other = simplifyDim(b - a);
  return llvm::any_of(constraints.getResults(), [&](AffineExpr zero) { return provablyEqual(zero, one) || provablyEqual(zero, other); });
}

bool kiln::nn::onlyRenamesSizes(ReshapeOp reshape) {
  DimExprs from = getDims(reshape.getInput().getType()), to = getDims(reshape.getType());
  auto module = reshape->getParentOfType<ModuleOp>();
  auto constraints = module ? module->getAttrOfType<AffineMapAttr>(constraintsAttrName) : AffineMapAttr();
  AffineMap zeros = constraints ? constraints.getValue() : AffineMap();
  return from.size() == to.size() && llvm::all_of(llvm::zip_equal(from, to), [&](auto pair) {
           return constrainedEqual(zeros, std::get<0>(pair), std::get<1>(pair));
         });
}

/// The smallest split of a reshape into independent groups, in order.
static FailureOr<SmallVector<Group>> splitReshape(ReshapeOp reshape, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  MLIRContext *context = reshape.getContext();
  SmallVector<Group> groups;
  if (onlyRenamesSizes(reshape)) {
    for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i)
      groups.push_back({{i}, {i}});
    return groups;
  }
  size_t i = 0, j = 0;
  auto take = [&](size_t fromEnd, size_t toEnd) {
    Group group;
    for (; i < fromEnd; ++i)
      group.from.push_back(i);
    for (; j < toEnd; ++j)
      group.to.push_back(j);
    groups.push_back(group);
  };
  while (i < from.size() && j < to.size()) {
    bool found = false;
    for (size_t total = 2; total <= from.size() - i + to.size() - j && !found; ++total)
      for (size_t count = 1; count < total && !found; ++count) {
        if (i + count > from.size() || j + total - count > to.size())
          continue;
        found = provablyEqual(getNumElements(from.slice(i, count), context), getNumElements(to.slice(j, total - count), context));
        if (found)
          take(i + count, j + total - count);
      }
    if (!found)
      return failure();
  }
  if (groups.empty() || !llvm::all_of(from.drop_front(i), isUnit) || !llvm::all_of(to.drop_front(j), isUnit))
    return failure();
  for (; i < from.size(); ++i)
    groups.back().from.push_back(i);
  for (; j < to.size(); ++j)
    groups.back().to.push_back(j);
  return groups;
}

/// The place of a group's dimensions after `place`, if they are still neighbours in the same order (dimensions of size one do not count).
static std::optional<int64_t> blockPlace(ArrayRef<int64_t> members, ArrayRef<AffineExpr> dims, ArrayRef<int64_t> place) {
  SmallVector<int64_t> places;
  for (int64_t member : members)
    if (!isUnit(dims[member]))
      places.push_back(place[member]);
  if (places.empty())
    return place[members.front()];
  for (size_t k = 1; k < places.size(); ++k) {
    if (places[k] < places[k - 1])
      return std::nullopt;
    for (size_t other = 0; other < dims.size(); ++other)
      if (!isUnit(dims[other]) && place[other] > places[k - 1] && place[other] < places[k])
        return std::nullopt;
  }
  return places.front();
}

/// The groups in the order of these places.
static SmallVector<Group> orderGroups(ArrayRef<Group> groups, ArrayRef<int64_t> places) {
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [i, place] : llvm::enumerate(places))
    order.push_back({place, i});
  llvm::sort(order);
  return llvm::map_to_vector(order, [&](auto entry) { return groups[entry.second]; });
}

/// The places of the groups, as long as the members of each stay neighbours.
static FailureOr<SmallVector<int64_t>> blockPlaces(ArrayRef<Group> groups, SmallVector<int64_t> Group::*members, ArrayRef<AffineExpr> dims,
                                                   ArrayRef<int64_t> place) {
  SmallVector<int64_t> places;
  for (const Group &group : groups) {
    std::optional<int64_t> at = blockPlace(group.*members, dims, place);
    if (!at)
      return failure();
    places.push_back(*at);
  }
  return places;
}

/// Places for groups whose members are no neighbours: that of the first or of the last one that is not of size one. A smaller transpose brings the other ones
/// there.
static SmallVector<int64_t> gatherPlaces(ArrayRef<Group> groups, ArrayRef<AffineExpr> dims, ArrayRef<int64_t> place, bool first) {
  SmallVector<int64_t> places;
  for (const Group &group : groups) {
    std::optional<int64_t> at;
    for (int64_t member : group.from)
      if (!isUnit(dims[member]))
        at = !at ? place[member] : first ? std::min(*at, place[member]) : std::max(*at, place[member]);
    places.push_back(at.value_or(place[group.from.front()]));
  }
  return places;
}

/// The transpose behind the reshape when the groups are in the order of these places.
static SmallVector<int64_t> outerTranspose(ArrayRef<Group> groups, ArrayRef<int64_t> places) {
  SmallVector<int64_t> placed;
  for (const Group &group : orderGroups(groups, places))
    placed.append(group.to);
  return invertPermutationVector(placed);
}

FailureOr<Value> kiln::nn::sinkTransposeThroughReshape(OpBuilder &builder, ReshapeOp reshape, TransposeOp inner) {
  DimExprs from = getDims(inner.getType()), to = getDims(reshape.getType());
  ArrayRef<int64_t> permutation = inner.getPermutation();
  auto groups = splitReshape(reshape, from, to);
  if (failed(groups))
    return failure();
  auto places = blockPlaces(*groups, &Group::from, from, permutation);
  bool gathers = failed(places);
  // Two transposes for one pay when the outer one is a layout's, which will meet its opposite.
  // An identity would leave the reshape of a transpose that was there before.
  auto pays = [&](bool first) {
    places = gatherPlaces(*groups, from, permutation, first);
    SmallVector<int64_t> outer = outerTranspose(*groups, *places);
    return !isIdentityPermutation(outer) && outer == toChannelsFirst(outer.size());
  };
  if (gathers && !pays(true) && !pays(false))
    return failure();
  SmallVector<int64_t> placed, gathered;
  for (const Group &group : orderGroups(*groups, *places)) {
    placed.append(group.to);
    for (int64_t member : group.from)
      gathered.push_back(permutation[member]);
  }
  Value source = gathers ? makeTranspose(builder, inner.getLoc(), inner.getInput(), gathered) : inner.getInput();
  DimExprs dims = applyPermutation(ArrayRef<AffineExpr>(to), placed);
  Value reshaped = ReshapeOp::create(builder, reshape.getLoc(), makeTensorType(dims, reshape.getType().getElementType()), source);
  return makeTranspose(builder, inner.getLoc(), reshaped, invertPermutationVector(placed));
}

FailureOr<Value> kiln::nn::hoistTransposeThroughReshape(OpBuilder &builder, TransposeOp outer, ReshapeOp reshape) {
  DimExprs from = getDims(reshape.getInput().getType()), to = getDims(reshape.getType());
  auto groups = splitReshape(reshape, from, to);
  if (failed(groups))
    return failure();
  auto places = blockPlaces(*groups, &Group::to, to, invertPermutationVector(outer.getPermutation()));
  if (failed(places))
    return failure();
  SmallVector<int64_t> permutation;
  for (const Group &group : orderGroups(*groups, *places))
    permutation.append(group.from);
  Value transposed = makeTranspose(builder, outer.getLoc(), reshape.getInput(), permutation);
  if (transposed.getType() == outer.getType())
    return transposed;
  return Value(ReshapeOp::create(builder, reshape.getLoc(), outer.getType(), transposed));
}
