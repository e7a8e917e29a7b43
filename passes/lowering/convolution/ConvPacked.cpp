//===- ConvPacked.cpp - Convolutions whose filters are not constant --------===//
//
//   result[n, y, x, o] = sum over (i, j, c) of input[n, y * s + i * d, x * s + j * d, c] * filters[o, i, j, c]
//
// is the product that ConvTiled.cpp computes, whose right side has a row for each (i, j, c) and a column for each o. Channels and filters may be known at run
// time only.
//
// Filters that the caller has packed lie in panels, which depend on no size. Each group has panels of its own, one behind the other. A step of several products
// takes neighbouring channels, whose number must be known to be a multiple of these.
//
// Filters that a run computes lie in rows of all output channels (OrderFilters.cpp), which are read in place.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/convolution/ConvPacked.h"
#include "dialects/nn/NNContractionOps.h"
#include "passes/lowering/contraction/ContractionLoops.h"
#include "passes/lowering/contraction/MatmulTiled.h"
#include "passes/lowering/convolution/ConvTiled.h"
#include "passes/lowering/convolution/OpenConv.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/groups/PackedInputs.h"

using namespace mlir;

namespace kiln {

using namespace nn;

//===- Filters that the caller has packed ----------------------------------===//

bool hasPackedFilters(Operation *anchor) {
  auto conv = dyn_cast_or_null<ConvOp>(anchor);
  if (!conv)
    return false;
  // Within a group, or before there is one.
  auto argument = dyn_cast<BlockArgument>(conv.getWeight());
  auto group = argument ? dyn_cast<GroupOp>(argument.getOwner()->getParentOp()) : GroupOp();
  return group ? isPackedInput(group, argument.getArgNumber()) : isPacked(conv.getWeight());
}

/// Why no kernel for packed filters computes it; empty: one does.
static std::string findPackedFault(ConvOp conv) {
  if (!isa<BlockArgument>(conv.getWeight()))
    return "the packed weight is seen through a view";
  if (conv.getLayout() != Layout::ChannelsLast || llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }))
    return "it is for channels_last without padding";
  if (!isa<BlockArgument>(conv.getInput()))
    return ("the input is computed by " + conv.getInput().getDefiningOp()->getName().getStringRef()).str();
  DimExprs dims = getDims(conv.getWeight().getType());
  if (!llvm::all_of(ArrayRef(dims).drop_front(2), [](AffineExpr dim) { return getConstantDim(dim).has_value(); }))
    return "the size of the window is known at run time only";
  return llvm::is_contained(conv.getType().getShape(), 0) ? "the result has no elements" : "";
}

KernelMatch matchConvPacked(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  if (!llvm::all_of(TypeRange{conv.getInput().getType(), conv.getWeight().getType(), conv.getType()}, computesInF32))
    return refuse("it is for f32, f16 and bf16");
  if (std::string why = findPackedFault(conv); !why.empty())
    return refuse(why);
  TileShape tile = chooseTile(target, conv.getType().getElementType(), std::nullopt, std::nullopt, std::nullopt);
  if (!OpenConv(conv).rowsApart())
    tile = limitRows(tile);
  return accept("channels_last f32 convolution whose filters the caller has packed: output pixels are the rows of a matrix product", planProduct(target, tile));
}

KernelMatch matchConvPackedSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  auto typeOf = [](Value value) { return getElementTypeOrSelf(value.getType()); };
  kernel::StepAttr step = findStep(target, typeOf(conv.getInput()), typeOf(conv.getWeight()), typeOf(conv));
  if (!step)
    return refuse(describeMissingStep(conv.getInput().getType(), conv.getWeight().getType(), conv.getType()));
  if (std::string why = findPackedFault(conv); !why.empty())
    return refuse(why);
  OpenConv packed(conv);
  // Import has a run ask that bytes have a multiple of four channels.
  bool areQuads = isByte(conv.getInput().getType().getElementType()) && step.getDepth() == 4;
  if (!areQuads && getConstantDim(simplifyDim(packed.inPerGroup % step.getDepth())) != 0)
    return refuse("the input channels are not known to be a multiple of " + Twine(step.getDepth()));
  PlanNumbers numbers = planStepProduct(target, step, std::nullopt, std::nullopt, std::nullopt);
  if (!packed.rowsApart())
    numbers.tile = toNumbers(limitRows(toTile(numbers.tile)));
  return accept("channels_last convolution whose filters the caller has packed: " + describeStep(step), std::move(numbers));
}

std::string findPackedStepFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto conv = cast<ConvOp>(anchor);
  return findStepFault(kernel::getTarget(group), plan, conv.getInput().getType().getElementType(), conv.getWeight().getType().getElementType(),
                       conv.getType().getElementType(), 0);
}

static FailureOr<LaunchInfo> lowerPacked(KernelBuilder &k, ConvOp op, kernel::StepAttr step) {
  OpenConv conv(op);
  unsigned weight = cast<BlockArgument>(op.getWeight()).getArgNumber();
  Contraction c = conv.pixels(k);
  c.instruction = step;
  int64_t width = c.tile.columns(), together = step ? step.getDepth() : 1;
  if (failed(setPanels(k.group(), weight, width, together)))
    return failure();
  c.rhs = k.buffer(weight);
  AffineExpr depth = conv.inPerGroup;
  for (int64_t size : conv.kernel)
    depth = depth * size;
  c.reduction = conv.reduction(k, width, together);
  AffineExpr ofGroup = simplifyDim(conv.outPerGroup.ceilDiv(width) * width * depth), zero = k.constant(0);
  c.rhsAt = [zero, ofGroup](ArrayRef<AffineExpr> batch) { return batch.empty() ? zero : batch.front() * ofGroup; };
  c.panelStride = simplifyDim(depth);
  c.padded = c.evenPanels = c.allHeights = true;
  return lowerContraction(k, c);
}

FailureOr<LaunchInfo> lowerConvPacked(KernelBuilder &k, Operation *anchor) { return lowerPacked(k, cast<ConvOp>(anchor), {}); }

FailureOr<LaunchInfo> lowerConvPackedSteps(KernelBuilder &k, Operation *anchor) { return lowerPacked(k, cast<ConvOp>(anchor), getStep(k.group())); }

//===- Filters that a run computes -----------------------------------------===//

PrologueSupport loadsOrderedFilters(Operation *anchor, unsigned operand) {
  auto conv = dyn_cast<ConvOp>(anchor);
  return conv && operand == 1 && areOrderedFilters(conv.getWeight()) ? PrologueSupport::Views : PrologueSupport::None;
}

KernelMatch matchConvOrdered(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  if (std::string why = findOrderedFault(conv); !why.empty())
    return refuse(why);
  OpenConv open(conv);
  DimExprs extents = getDims(conv.getType());
  auto pixels = getConstantDim(getNumElements(ArrayRef(extents).drop_back(), conv.getContext()));
  std::optional<int64_t> apart = open.rowsApart();
  TileShape tile = chooseTile(target, conv.getType().getElementType(), pixels, getConstantDim(open.outPerGroup), apart);
  return accept("channels_last f32 convolution with computed filters, which are read in place: output pixels are the rows of a matrix product",
                planProduct(target, apart ? tile : limitRows(tile)));
}

FailureOr<LaunchInfo> lowerConvOrdered(KernelBuilder &k, Operation *anchor) {
  auto op = cast<ConvOp>(anchor);
  OpenConv conv(op);
  TracedView filters = *traceLinearView(op.getWeight());
  Contraction c = conv.pixels(k);
  c.rhs = k.buffer(filters.argument);
  for (unsigned i = 0; i < conv.spatial; ++i)
    c.reduction.push_back({k.constant(conv.kernel[i]), conv.tapStride(k, i), linearCoefficient(filters.offset, i + 2)});
  c.reduction.push_back({conv.inPerGroup, k.elementStride(conv.input, conv.spatial + 1), linearCoefficient(filters.offset, 1)});
  c.reduction = mergeReduction(c.reduction);
  c.rhsAt = [&k, offset = filters.offset, conv](ArrayRef<AffineExpr> batch) {
    IndexExprs at(conv.spatial + 2, k.constant(0));
    if (!batch.empty())
      at[0] = batch.front() * conv.outPerGroup;
    return offset.replaceDims(at);
  };
  c.panelStride = k.constant(1);
  return lowerContraction(k, c);
}

} // namespace kiln
