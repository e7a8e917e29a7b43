//===- PlaceResults.cpp - Kernels that write into larger buffers -----------===//
//
//   %a = nn.group(...) {conv} : -> 1x8x8x16                    %a = nn.group(...) {conv, places of %a: (n, y, x, c) -> ... + c}
//   %b = nn.group(...) {conv} : -> 1x8x8x48              =>    %b = nn.group(...) {conv, places of %b: (n, y, x, c) -> ... + c + 16}
//   %c = nn.group(%a, %b) {nn.concat axis 3} : 1x8x8x64        %c = nn.group(%a, %b) {nn.concat axis 3, in place: 0, 1}
//
// The operands of a concatenation, and the inside of a padded tensor, are boxes of its buffer: a kernel that ends with one store can as well
// store there. What is left of the group is the border, and operands that could not be placed. Consumers are visited first, so that a
// concatenation that is padded is itself a box of the padded tensor, and its operands are boxes of that box.
//
// The other way round, a slice that its readers could not compute while they load is a box of its source: they read it there.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ComputedDims.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"
#include "passes/Passes.h"
#include "passes/target/choice/KernelTable.h"
#include "passes/target/groups/Places.h"
#include "passes/target/groups/Views.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLACERESULTS
#include "passes/Passes.h.inc"

using namespace nn;

/// Whether the kernel of `group` reads its input `input` through functions that ask for its place.
static bool readsAnywhere(GroupOp group, unsigned input) {
  const KernelRow *row = findKernelRow(group.getKernel());
  if (!row || row->places < PlaceSupport::Sides)
    return false;
  if (row->places == PlaceSupport::Operands)
    return true;
  Operation *anchor = getAnchor(group);
  SmallVector<Value> work{group.getBody().getArgument(input)};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user == anchor)
        return false;
      if (isa<IndexMap>(user))
        work.push_back(user->getResult(0));
    }
  return true;
}

/// The end of the dims from `first` on whose product the other shape has as well, from its `otherFirst` on: the smallest such runs.
static std::pair<size_t, size_t> commonRun(ArrayRef<AffineExpr> from, size_t first, ArrayRef<AffineExpr> to, size_t otherFirst) {
  size_t i = first + 1, j = otherFirst + 1;
  AffineExpr left = from[first], right = to[otherFirst];
  while (!provablyEqual(left, right)) {
    auto have = getConstantDim(left), want = getConstantDim(right);
    bool smaller = have && want ? *have < *want : i - first <= j - otherFirst;
    if (smaller ? i < from.size() : j == to.size() && i < from.size())
      left = simplifyDim(left * from[i++]);
    else if (j < to.size())
      right = simplifyDim(right * to[j++]);
    else
      return {0, 0};
  }
  return {i, j};
}

/// The place of the same elements under another shape; null when they do not go on evenly across dimensions that the reshape merges or cuts.
static AffineMap reshapePlace(AffineMap place, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  SmallVector<AffineExpr> zeros(from.size(), getAffineConstantExpr(0, place.getContext()));
  AffineExpr offset = place.getResult(0).replaceDims(zeros);
  size_t i = 0, j = 0;
  while (true) {
    while (i < from.size() && getConstantDim(from[i]) == 1)
      ++i;
    while (j < to.size() && getConstantDim(to[j]) == 1)
      ++j;
    if (i == from.size() || j == to.size())
      break;
    auto [endFrom, endTo] = commonRun(from, i, to, j);
    AffineExpr stride = endFrom ? linearCoefficient(place.getResult(0), endFrom - 1) : AffineExpr(), outer = stride;
    for (size_t dim = endFrom; stride && dim-- > i;) {
      AffineExpr have = linearCoefficient(place.getResult(0), dim);
      if (!have || (getConstantDim(from[dim]) != 1 && !provablyEqual(have, outer)))
        return AffineMap();
      outer = simplifyDim(outer * from[dim]);
    }
    if (!stride)
      return AffineMap();
    for (size_t dim = endTo; dim-- > j; stride = simplifyDim(stride * to[dim]))
      offset = offset + getAffineDimExpr(dim, place.getContext()) * stride;
    i = endFrom;
    j = endTo;
  }
  if (i != from.size() || j != to.size())
    return AffineMap();
  AffineMap dense = getDenseMap(to, place.getContext());
  unsigned symbols = std::max(place.getNumSymbols(), dense.getNumSymbols());
  return AffineMap::get(to.size(), symbols, simplifyDim(offset));
}

namespace {
/// A use of a value that has to follow when the value moves: by a group's input, with the map that the input will have.
struct MovedUse {
  GroupOp group;
  unsigned input;
  AffineMap place;
};
} // namespace

/// The place of a view's result when its input has `place`: null when it is not linear.
static AffineMap viewPlace(GroupOp group, AffineMap place) {
  Value result = group.getTerminator()->getOperand(0);
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank(), symbols = place.getNumSymbols();
  SmallVector<AffineExpr> at;
  for (unsigned i = 0; i < rank; ++i)
    at.push_back(getAffineDimExpr(i, group.getContext()));
  std::optional<TracedView> view = traceViews(result, at);
  if (!view)
    return AffineMap();
  for (AffineExpr expr : view->at)
    symbols = std::max(symbols, countSymbols(expr));
  AffineExpr offset = simplifyDim(place.getResult(0).replaceDims(view->at));
  for (unsigned i = 0; i < rank; ++i)
    if (!linearCoefficient(offset, i))
      return AffineMap();
  return AffineMap::get(rank, symbols, offset);
}

/// All uses of `value` by groups, reshapes seen through; false when one cannot follow. `holder` is the group that will hold the value.
static bool collectUses(Value value, AffineMap place, GroupOp holder, SmallVectorImpl<MovedUse> &uses) {
  for (OpOperand &use : value.getUses()) {
    if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner())) {
      AffineMap moved = onlyRenamesSizes(reshape) ? place : reshapePlace(place, getDims(value.getType()), getDims(reshape.getType()));
      if (!moved || !collectUses(reshape.getResult(), moved, holder, uses))
        return false;
      continue;
    }
    auto group = dyn_cast<GroupOp>(use.getOwner());
    if (group && isView(group)) {
      AffineMap part = viewPlace(group, place);
      uses.push_back({group, use.getOperandNumber(), place});
      if (!part || !collectUses(group.getResult(0), part, holder, uses))
        return false;
      continue;
    }
    if (!group || (group != holder && !readsAnywhere(group, use.getOperandNumber())))
      return false;
    uses.push_back({group, use.getOperandNumber(), place});
  }
  return true;
}

/// Makes the producer of input `input` write to `place`, which is in the buffer of the group's result.
static bool placeInput(GroupOp group, unsigned input, AffineMap place) {
  Value value = group.getInputs()[input];
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (!onlyRenamesSizes(reshape))
      place = reshapePlace(place, getDims(reshape.getType()), getDims(reshape.getInput().getType()));
    if (!place)
      return false;
    value = reshape.getInput();
  }
  auto producer = value.getDefiningOp<GroupOp>();
  // A count may be known only after what is placed.
  if (ComputedDims(group->getParentOfType<ModuleOp>()).isIn(place.getResult(0)))
    return false;
  const KernelRow *row = producer ? findKernelRow(producer.getKernel()) : nullptr;
  if (!row || row->places == PlaceSupport::None)
    return false;
  unsigned result = producer.getInputs().size() + cast<OpResult>(value).getResultNumber();
  SmallVector<MovedUse> uses;
  if (getPlace(producer, result) || !collectUses(value, place, group, uses))
    return false;
  setPlace(producer, result, place);
  for (const MovedUse &use : uses)
    setPlace(use.group, use.input, use.place);
  setInPlace(group, input);
  return true;
}

/// The place of the box that begins at `start` of the group's result.
static AffineMap boxPlace(GroupOp group, ArrayRef<AffineExpr> start) {
  AffineMap whole = getPlace(group, group.getInputs().size());
  if (!whole)
    whole = getDenseMap(getDims(group.getResult(0).getType()), group.getContext());
  SmallVector<AffineExpr> at;
  unsigned symbols = whole.getNumSymbols();
  for (auto [i, first] : llvm::enumerate(start)) {
    at.push_back(getAffineDimExpr(i, group.getContext()) + first);
    symbols = std::max(symbols, countSymbols(first));
  }
  AffineExpr offset = simplifyDim(whole.getResult(0).replaceDims(at));
  return AffineMap::get(start.size(), symbols, offset);
}

/// The group's input that an operand of its anchor is, when nothing else in the group reads it.
static std::optional<unsigned> plainInput(Value operand) {
  auto argument = dyn_cast<BlockArgument>(operand);
  return argument && argument.hasOneUse() ? std::optional(argument.getArgNumber()) : std::nullopt;
}

static unsigned placeOperands(GroupOp group, ConcatOp concat) {
  unsigned placed = 0;
  SmallVector<AffineExpr> start(concat.getType().getRank(), getAffineConstantExpr(0, group.getContext()));
  AffineExpr &along = start[concat.getAxis()];
  for (Value operand : concat.getInputs()) {
    if (auto input = plainInput(operand))
      placed += placeInput(group, *input, boxPlace(group, start));
    along = simplifyDim(along + getDim(operand.getType(), concat.getAxis()));
  }
  return placed;
}

static unsigned placeOperands(GroupOp group, PadOp pad) {
  auto isBorder = [](AffineExpr amount) { return getConstantDim(amount).value_or(-1) >= 0; };
  auto input = plainInput(pad.getInput());
  if (!input || pad.getMode() != PadMode::Constant || llvm::any_of(pad.getInterior(), [](int64_t between) { return between != 0; }) ||
      !llvm::all_of(pad.getLow().getResults(), isBorder) || !llvm::all_of(pad.getHigh().getResults(), isBorder))
    return 0;
  return placeInput(group, *input, boxPlace(group, pad.getLow().getResults()));
}

/// Whether the value is written into the buffer of a choice, which the other branch writes, too, or of what a loop carries, which its steps write.
static bool isHeld(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<ChooseOp, LoopOp>(user) || (isa<ReshapeOp>(user) && isHeld(user->getResult(0))); });
}

static void placeResults(GroupOp group) {
  Operation *anchor = getAnchor(group);
  // With an epilogue the operands' values are not those of the result.
  if (!anchor || group.getNumResults() != 1 || isHeld(group.getResult(0)) || group.getTerminator()->getOperand(0) != anchor->getResult(0))
    return;
  unsigned placed = 0;
  if (auto concat = dyn_cast<ConcatOp>(anchor))
    placed = placeOperands(group, concat);
  else if (auto pad = dyn_cast<PadOp>(anchor))
    placed = placeOperands(group, pad);
  if (placed == 0)
    return;
  std::string rest = isa<PadOp>(anchor)      ? "padding written around its input, which is computed in place"
                     : needsNoKernel(group) ? "concatenation of operands that are all computed in place: nothing to do"
                                            : "concatenation: " + std::to_string(placed) + " operands are computed in place, the others copied";
  group.setReason(rest);
}

/// Whether vectors along the last dimension read neighbours.
static bool runsAlongLast(AffineMap place, Type type) {
  DimExprs dims = getDims(type);
  for (unsigned i = dims.size(); i-- > 0;)
    if (getConstantDim(dims[i]) != 1)
      return linearCoefficient(place.getResult(0), i) == getAffineConstantExpr(1, place.getContext());
  return true;
}

/// Lets all readers of a slice read its source.
static void viewSource(GroupOp group) {
  Value source = group.getInputs().size() == 1 ? group.getInputs().front() : Value();
  auto isMoved = [](Operation &op) { return isa<IndexMap, YieldOp>(op); };
  if (!source || getPlace(group, 1) || !llvm::all_of(group.getBody().front(), isMoved))
    return;
  while (auto reshape = source.getDefiningOp<ReshapeOp>())
    source = reshape.getInput();
  AffineMap place = getPlace(group, 0);
  if (!place)
    place = getDenseMap(getDims(group.getInputs().front().getType()), group.getContext());
  AffineMap part = viewPlace(group, place);
  SmallVector<MovedUse> uses;
  if (!part || source.getDefiningOp<ConstantOp>() || !runsAlongLast(part, group.getResult(0).getType()) ||
      !collectUses(group.getResult(0), part, GroupOp(), uses))
    return;
  for (const MovedUse &use : uses)
    setPlace(use.group, use.input, use.place);
  setView(group);
  group.setReason("its readers find it in its source: nothing to do");
}

/// What is computed from constants only (transformed filters) is computed when it is needed: it lives no longer than it must, and is in the
/// cache.
static void delayConstants(Block &block) {
  auto isConstant = [](Value input) { return input.getDefiningOp<ConstantOp>() != nullptr; };
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isa<GroupOp>(op) || op.use_empty() || !llvm::all_of(op.getOperands(), isConstant))
      continue;
    Operation *first = *op.user_begin();
    for (Operation *user : op.getUsers())
      first = user->isBeforeInBlock(first) ? user : first;
    op.moveBefore(first);
  }
}

/// Plans for operands that now lie elsewhere.
static void updatePlans(func::FuncOp function) {
  kernel::TargetAttr target = kernel::getTarget(function);
  function.walk([&](GroupOp group) {
    if (target && llvm::any_of(llvm::seq<unsigned>(0, group.getInputs().size()), [&](unsigned input) { return getPlace(group, input) != AffineMap(); }))
      updatePlan(group, target);
  });
}

namespace {
struct PlaceResults : impl::PlaceResultsBase<PlaceResults> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      delayConstants(function.getBody().front());
      for (Operation &op : llvm::reverse(function.getBody().front()))
        if (auto group = dyn_cast<GroupOp>(op)) {
          placeResults(group);
          viewSource(group);
        }
      updatePlans(function);
    }
  }
};
} // namespace

} // namespace kiln
