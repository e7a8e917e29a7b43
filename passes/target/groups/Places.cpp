//===- Places.cpp - Values that lie inside larger buffers ------------------===//
#include "passes/target/groups/Places.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "passes/target/choice/KernelTable.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln {

using namespace nn;

AffineMap getPlace(GroupOp group, unsigned value) {
  ArrayAttr places = group.getPlacesAttr();
  auto place = places ? dyn_cast<AffineMapAttr>(places[value]) : AffineMapAttr();
  return place ? place.getValue() : AffineMap();
}

void setPlace(GroupOp group, unsigned value, AffineMap place) {
  Builder b(group.getContext());
  SmallVector<Attribute> places(group.getInputs().size() + group.getNumResults(), b.getUnitAttr());
  if (ArrayAttr known = group.getPlacesAttr())
    places.assign(known.begin(), known.end());
  places[value] = AffineMapAttr::get(place);
  group.setPlacesAttr(b.getArrayAttr(places));
}

bool isInPlace(GroupOp group, unsigned input) {
  std::optional<ArrayRef<int64_t>> inputs = group.getInPlace();
  return inputs && llvm::is_contained(*inputs, input);
}

void setInPlace(GroupOp group, unsigned input) {
  SmallVector<int64_t> inputs(group.getInPlace().value_or(ArrayRef<int64_t>()));
  inputs.push_back(input);
  group.setInPlace(inputs);
}

bool isView(GroupOp group) { return group.getView(); }
void setView(GroupOp group) { group.setView(true); }

bool needsNoKernel(GroupOp group) {
  if (isView(group))
    return true;
  // Operands that the group computes itself are still to be written.
  auto concat = dyn_cast_or_null<ConcatOp>(getAnchor(group));
  return concat && llvm::all_of(concat.getInputs(), [&](Value operand) {
           auto argument = dyn_cast<BlockArgument>(operand);
           return argument && isInPlace(group, argument.getArgNumber());
         });
}

/// Whether all that becomes of `value` stays at its index, on the side of the anchor that `support` speaks of.
static bool staysAtIndex(Value value, Operation *anchor, const DimExprs &dims, OverwriteSupport support, llvm::DenseSet<Value> &seen) {
  // A value that has been visited either stays or has ended the search.
  return !seen.insert(value).second || llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == anchor)
      return support == OverwriteSupport::Rows && use.getOperandNumber() == 0;
    if (isa<YieldOp>(user))
      return support == OverwriteSupport::Sides;
    return isa<ScalarBody>(user) && getDims(user->getResult(0).getType()) == dims && staysAtIndex(user->getResult(0), anchor, dims, support, seen);
  });
}

SmallVector<unsigned> getOverwritable(GroupOp group) {
  const KernelRow *row = findKernelRow(group.getKernel());
  SmallVector<unsigned> inputs;
  if (!row || row->overwrites == OverwriteSupport::None || group.getNumResults() != 1 || getPlace(group, group.getInputs().size()))
    return inputs;
  Operation *anchor = getAnchor(group);
  Type type = group.getResult(0).getType();
  DimExprs dims = getDims(type);
  // Rows along another dimension than the last are walked side by side.
  if (row->overwrites == OverwriteSupport::Rows)
    if (auto rows = dyn_cast<AlongAxis>(anchor); isa<SoftmaxOp, LogSoftmaxOp>(anchor) && rows.getAxis() + 1 != dims.size())
      return inputs;
  for (BlockArgument argument : group.getBody().getArguments()) {
    llvm::DenseSet<Value> seen;
    if (argument.getType() == type && !argument.use_empty() && !getPlace(group, argument.getArgNumber()) &&
        staysAtIndex(argument, anchor, dims, row->overwrites, seen))
      inputs.push_back(argument.getArgNumber());
  }
  return inputs;
}

AffineMap getDenseMap(ArrayRef<AffineExpr> dims, MLIRContext *context) {
  AffineExpr offset = getAffineConstantExpr(0, context);
  for (auto [i, dim] : llvm::enumerate(dims))
    offset = offset * dim + getAffineDimExpr(i, context);
  unsigned symbols = countSymbols(offset);
  return AffineMap::get(dims.size(), symbols, simplifyDim(offset));
}

AffineExpr getElementOffset(BlockArgument argument, ArrayRef<AffineExpr> at) {
  auto group = cast<GroupOp>(argument.getOwner()->getParentOp());
  AffineMap place = getPlace(group, argument.getArgNumber());
  if (!place)
    place = getDenseMap(getDims(argument.getType()), argument.getContext());
  return place.getResult(0).replaceDims(at);
}

} // namespace kiln
