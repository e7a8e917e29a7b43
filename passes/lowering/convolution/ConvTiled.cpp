//===- ConvTiled.cpp - Convolutions as matrix products ---------------------===//
//
//   result[n, y, x, o] = sum over (i, j, c) of input[n, y * s + i * d, x * s + j * d, c] * weight[o, c, i, j]
//
// is a matrix product whose rows are the output pixels and whose left side is never stored: only offsets differ. Needs channels_last without
// padding. The weight is stored as [group, out channel / NR, kernel..., in channel, out channel % NR]; the last panel has only the vectors that it
// needs.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/convolution/ConvTiled.h"
#include "dialects/nn/Scalar.h"
#include "passes/target/choice/BoundedWeights.h"
#include "passes/target/choice/ByteTile.h"
#include "passes/target/choice/CostModel.h"
#include "passes/target/choice/Kernels.h"
#include "passes/target/choice/StepTile.h"
#include "passes/target/choice/ZeroBorder.h"
#include "passes/target/groups/Places.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// The rows of the product: pixels of the result; nullopt: known at run time only.
static std::optional<int64_t> countPixels(ConvOp conv) {
  DimExprs extents = getDims(conv.getType());
  return getConstantDim(getNumElements(ArrayRef(extents).drop_back(), conv.getContext()));
}

std::optional<int64_t> elementsPerTap(ConvOp conv) {
  auto input = dyn_cast<BlockArgument>(conv.getInput());
  if (!input || conv.getLayout() != Layout::ChannelsLast)
    return std::nullopt;
  IndexExprs at;
  unsigned spatial = static_cast<unsigned>(conv.getStrides().size());
  for (unsigned i = 0; i < spatial + 2; ++i)
    at.push_back(getAffineDimExpr(i, conv.getContext()));
  auto pixel = linearCoefficient(getElementOffset(input, at), spatial);
  return pixel ? getConstantDim(simplifyDim(pixel * conv.getDilations().back())) : std::nullopt;
}

/// Elements that a step takes a whole part of: the channels, or those of a line of the window where they lie side by side. Steps and such channels are powers
/// of two, so that one of them divides the other.
static int64_t countTogetherInLine(ConvOp conv) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(conv.getWeight().getType()).getShape();
  bool joins = llvm::isPowerOf2_64(shape[1]) && elementsPerTap(conv) == shape[1];
  return joins ? shape[1] * shape.back() : shape[1];
}

/// The dimension of the weight whose neighbours a step takes side by side.
static unsigned stepDimension(ConvOp conv) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(conv.getWeight().getType()).getShape();
  return shape[1] == 1 ? static_cast<unsigned>(shape.size()) - 1 : 1;
}

/// The target's step for such elements; null when it has none.
static kernel::StepAttr findStep(ConvOp conv, kernel::TargetAttr target) {
  Type input = conv.getInput().getType().getElementType(), weight = conv.getWeight().getType().getElementType();
  auto shape = cast<RankedTensorType>(conv.getWeight().getType());
  int64_t columns = shape.getDimSize(0) / conv.getGroups(), length = shape.getDimSize(0) ? shape.getNumElements() / shape.getDimSize(0) : 0;
  SumShape sums{countPixels(conv), countTogetherInLine(conv), length, columns};
  kernel::StepAttr step = kiln::findStep(target, input, weight, conv.getType().getElementType(), sums);
  return chooseBoundedStep(step, conv.getWeight(), stepDimension(conv));
}

/// The same whatever the weights are.
static std::string findWindowFault(ConvOp conv, kernel::StepAttr step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Type input = conv.getInput().getType().getElementType(), weight = conv.getWeight().getType().getElementType(), result = conv.getType().getElementType();
  bool isReal = (computesInF32(input) && computesInF32(result) && isWeightElement(weight)) || multipliesInF64(input, weight, result);
  if (conv.getLayout() != Layout::ChannelsLast)
    stream << "the layout is " << stringifyLayout(conv.getLayout()) << ", expected channels_last";
  else if (llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }))
    llvm::interleaveComma(conv.getPads(), stream << "the input is padded by ");
  else if (!step && !isReal)
    stream << "it is for f32, f16 and bf16, or f64 alone, the input is " << input << " and the result " << result;
  else if (llvm::is_contained(conv.getType().getShape(), 0))
    stream << "the result has no elements";
  else if (!isa<BlockArgument>(conv.getInput()))
    stream << "the input is computed by " << conv.getInput().getDefiningOp()->getName();
  return text;
}

std::string findTilingFault(GroupOp group, ConvOp conv, kernel::StepAttr step) {
  auto weight = dyn_cast<BlockArgument>(conv.getWeight());
  std::string fault = findWindowFault(conv, step);
  return !fault.empty() || (weight && group.isConstantInput(weight.getArgNumber())) ? fault : "the weight is not constant";
}

std::string findOrderedFault(ConvOp conv) {
  if (std::string fault = findWindowFault(conv, {}); !fault.empty())
    return fault;
  auto filters = areOrderedFilters(conv.getWeight()) ? traceLinearView(conv.getWeight()) : std::nullopt;
  if (!filters || linearCoefficient(filters->offset, 0) != getAffineConstantExpr(1, conv.getContext()))
    return "the filters do not have output channels side by side";
  return "";
}

namespace {
struct ConvShape {
  ConvOp op;
  unsigned spatial;
  int64_t groups, inPerGroup, outPerGroup;
  SmallVector<int64_t> kernel;
  DimExprs output;

  explicit ConvShape(ConvOp conv)
      : op(conv), spatial(conv.getStrides().size()), groups(conv.getGroups()), output(getDims(conv.getType())) {
    ArrayRef<int64_t> weight = cast<RankedTensorType>(conv.getWeight().getType()).getShape();
    outPerGroup = weight[0] / groups;
    inPerGroup = weight[1];
    kernel.assign(weight.begin() + 2, weight.end());
  }
  int64_t taps() const {
    int64_t count = 1;
    for (int64_t size : kernel)
      count *= size;
    return count;
  }
};
} // namespace

static TileShape chooseConvTile(ConvShape shape, kernel::TargetAttr target) {
  MLIRContext *context = shape.op.getContext();
  auto input = cast<BlockArgument>(shape.op.getInput());
  IndexExprs at;
  for (unsigned i = 0; i < shape.spatial + 2; ++i)
    at.push_back(getAffineDimExpr(i, context));
  AffineExpr pixel = linearCoefficient(getElementOffset(input, at), shape.spatial);
  auto pixels = getConstantDim(getNumElements(ArrayRef(shape.output).drop_back(), context));
  return chooseTile(target, shape.op.getType().getElementType(), pixels, shape.outPerGroup,
                    getConstantDim(simplifyDim(pixel * shape.op.getStrides().back())));
}

KernelMatch matchConvTiled(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  if (std::string why = findTilingFault(group, conv); !why.empty())
    return refuse(why);
  std::string type = llvm::to_string(computeType(conv.getType().getElementType()));
  PlanNumbers numbers = planProduct(target, chooseConvTile(ConvShape(conv), target));
  numbers.border = findZeroBorder(group, conv, toTile(numbers.tile));
  return accept("channels_last " + type + " convolution " +
                    (conv.getGroups() == 1 ? "with constant weights: output pixels are the rows of a matrix product"
                                           : "in groups: one matrix product a group") +
                    (numbers.border.empty() ? "" : "; tiles pass over taps in the zeros around the input"),
                numbers);
}

namespace {
/// A step of several rows: its channels, of one or several neighbouring taps.
struct TileRun {
  kernel::StepAttr step;
  int64_t taps, channels;

  TileRun(kernel::StepAttr step, const ConvShape &shape, int64_t depth)
      : step(step), taps(std::max<int64_t>(1, depth / shape.inPerGroup)), channels(std::min(depth, shape.inPerGroup)) {}
};
} // namespace

/// The order of the weight's dimensions behind the panels for such a step,
///   [kernel..., kw / taps, C / channels, column / 16, kw % taps, c / T, column % 16, c % T],
/// and what these give for the source: `out` is the first column of the panel. T elements of a sum lie together in a row of a tile.
static void orderTiles(const TileRun &run, const ConvShape &shape, int64_t width, AffineExpr out, function_ref<AffineExpr()> next,
                       SmallVector<int64_t> &order, IndexExprs &source) {
  int64_t together = countTogether(run.step), lanes = run.step.getLanes();
  for (int64_t size : ArrayRef(shape.kernel).drop_back()) {
    order.push_back(size);
    source.push_back(next());
  }
  order.append({shape.kernel.back() / run.taps, shape.inPerGroup / run.channels, width / lanes, run.taps, run.channels / together, lanes, together});
  AffineExpr tap = next() * run.taps, channel = next() * run.channels;
  out = out + next() * lanes;
  source.push_back(tap + next());
  channel = channel + next() * together;
  source[0] = out + next();
  source[1] = channel + next();
}

/// The order for steps of rows side by side: [column, kernel..., channel].
static void orderColumns(const ConvShape &shape, int64_t width, AffineExpr out, function_ref<AffineExpr()> next, SmallVector<int64_t> &order,
                         IndexExprs &source) {
  order.push_back(width);
  source[0] = out + next();
  for (int64_t size : shape.kernel) {
    order.push_back(size);
    source.push_back(next());
  }
  order.push_back(shape.inPerGroup);
  source[1] = next();
}

/// A step of several products takes the bytes of its channels side by side, for one column after the other.
static void packWeight(KernelBuilder &k, Contraction &c, const ConvShape &shape) {
  PackedColumns packed(shape.outPerGroup, c.tile);
  int64_t depth = shape.taps() * shape.inPerGroup, together = c.instruction ? c.instruction.getDepth() : 1;
  bool grouped = shape.groups > 1;
  unsigned position = 0;
  auto next = [&] { return getAffineDimExpr(position++, k.context()); };
  SmallVector<int64_t> order;
  AffineExpr out = k.constant(0);
  if (grouped) {
    order.push_back(shape.groups);
    out = next() * shape.outPerGroup;
  }
  order.push_back(packed.panels);
  out = out + next() * packed.width;
  IndexExprs source(2);
  if (c.instruction && isRowStep(c.instruction)) {
    orderColumns(shape, packed.width, out, next, order, source);
  } else if (c.depth) {
    orderTiles(TileRun(c.instruction, shape, c.depth), shape, packed.width, out, next, order, source);
  } else if (together > shape.inPerGroup && shape.inPerGroup > 0) {
    // [kernel..., kw / taps, column, kw % taps, channel]
    for (int64_t size : ArrayRef(shape.kernel).drop_back()) {
      order.push_back(size);
      source.push_back(next());
    }
    int64_t taps = together / shape.inPerGroup;
    order.append({shape.kernel.back() / taps, packed.width, taps, shape.inPerGroup});
    AffineExpr tap = next() * taps;
    source[0] = out + next();
    source.push_back(tap + next());
    source[1] = next();
  } else {
    for (int64_t size : shape.kernel) {
      order.push_back(size);
      source.push_back(next());
    }
    order.append({shape.inPerGroup / together, packed.width});
    source[1] = next() * together;
    source[0] = out + next();
    if (c.instruction) {
      order.push_back(together);
      source[1] = source[1] + next();
    }
  }
  unsigned argument = cast<BlockArgument>(ConvOp(shape.op).getWeight()).getArgNumber();
  AffineMap map = AffineMap::get(position, 0, source, k.context());
  k.packConstant(argument, c.instruction ? kernel::PackAttr::get(k.context(), order, map) : packed.pack(order, map, grouped ? 1 : 0));
  c.rhs = k.buffer(argument);
  c.evenPanels = bool(c.instruction);
  AffineExpr zero = k.constant(0);
  int64_t stored = c.evenPanels ? packed.panels * packed.width : packed.stored();
  c.rhsAt = [zero, grouped, size = stored * depth](ArrayRef<AffineExpr> batch) { return grouped ? batch.front() * size : zero; };
  c.panelStride = k.constant(depth);
  c.laneStride = k.constant(1);
  c.padded = true;
}

/// The loops over the kernel's window and the channels: strides in the input and in the packed weight.
/// A step has `together` channels, or all channels of several neighbouring taps.
static SmallVector<ReductionLoop> makeReduction(KernelBuilder &k, const ConvShape &shape, int64_t width, int64_t together) {
  SmallVector<ReductionLoop> loops;
  ArrayRef<int64_t> dilations = ConvOp(shape.op).getDilations();
  auto input = cast<BlockArgument>(ConvOp(shape.op).getInput());
  // Sums may be of nothing.
  int64_t taps = shape.inPerGroup ? std::max<int64_t>(1, together / shape.inPerGroup) : 1, channels = together / taps;
  channels = shape.inPerGroup ? std::min(channels, shape.inPerGroup) : channels;
  int64_t packed = shape.inPerGroup * taps * width;
  loops.push_back({k.constant(shape.inPerGroup / channels), simplifyDim(k.elementStride(input, shape.spatial + 1) * channels), k.constant(width * channels)});
  for (unsigned i = shape.spatial; i-- > 0; taps = 1) {
    int64_t size = shape.kernel[i] / taps;
    loops.insert(loops.begin(), {k.constant(size), simplifyDim(k.elementStride(input, i + 1) * dilations[i] * taps), k.constant(packed)});
    packed *= size;
  }
  return mergeReduction(loops);
}

/// The zeros around the input as those of the loops that walk along the window. A dimension whose loop is joined with another one has none.
static SmallVector<Border> makeBorders(KernelBuilder &k, const ConvShape &shape, ArrayRef<ReductionLoop> reduction) {
  SmallVector<Border> borders;
  DenseI64ArrayAttr border = k.group().getPlan()->getBorder();
  ConvOp conv = shape.op;
  for (unsigned i = 0; border && i < shape.spatial; ++i) {
    AffineExpr along = simplifyDim(k.elementStride(cast<BlockArgument>(conv.getInput()), i + 1) * conv.getDilations()[i]);
    for (auto [number, loop] : llvm::enumerate(reduction))
      if (shape.kernel[i] > 1 && loop.lhsStride == along && loop.extent == k.constant(shape.kernel[i]))
        borders.push_back({i + 1, static_cast<unsigned>(number), border[2 * i], border[2 * i + 1], conv.getStrides()[i], conv.getDilations()[i]});
  }
  return borders;
}

Contraction makeTiledConv(KernelBuilder &k, ConvOp op, kernel::StepAttr step) {
  ConvShape shape(op);
  Contraction c;
  c.result = op.getResult();
  c.element = op.getType().getElementType();
  c.instruction = step;
  auto input = cast<BlockArgument>(op.getInput());
  c.lhs = k.buffer(input.getArgNumber());
  if (shape.groups > 1)
    c.batch.push_back(k.constant(shape.groups));
  c.rows.assign(shape.output.begin(), shape.output.end() - 1);
  c.columns = k.constant(shape.outPerGroup);
  c.tile = getTile(k.group());
  c.lhsAt = [&k, shape, input](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows) {
    IndexExprs at(rows);
    for (unsigned i = 0; i < shape.spatial; ++i)
      at[i + 1] = at[i + 1] * ConvOp(shape.op).getStrides()[i];
    at.push_back(batch.empty() ? k.constant(0) : batch.front() * shape.inPerGroup);
    return k.elementOffset(input, at);
  };
  c.resultAt = [shape](ArrayRef<AffineExpr> batch, ArrayRef<AffineExpr> rows, AffineExpr column) {
    IndexExprs at(rows);
    at.push_back(batch.empty() ? column : batch.front() * shape.outPerGroup + column);
    return at;
  };
  c.depth = k.group().getPlan()->getDepth();
  packWeight(k, c, shape);
  c.reduction = makeReduction(k, shape, c.tile.columns(), c.depth ? c.depth : step ? step.getDepth() : 1);
  c.borders = makeBorders(k, shape, c.reduction);
  return c;
}

//===- Steps of several products -------------------------------------------===//

bool hasDenseChannels(ConvOp conv) {
  auto input = cast<BlockArgument>(conv.getInput());
  IndexExprs at;
  unsigned channels = static_cast<unsigned>(conv.getStrides().size()) + 1;
  for (unsigned i = 0; i <= channels; ++i)
    at.push_back(getAffineDimExpr(i, conv.getContext()));
  return linearCoefficient(getElementOffset(input, at), channels) == getAffineConstantExpr(1, conv.getContext());
}

KernelMatch matchConvSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  kernel::StepAttr step = findStep(conv, target);
  if (!step)
    return refuse(describeMissingStep(conv.getInput().getType(), conv.getWeight().getType(), conv.getType()));
  if (std::string why = findTilingFault(group, conv, step); !why.empty())
    return refuse(why);
  ConvShape shape(conv);
  if (countTogetherInLine(conv) % step.getDepth() != 0)
    return refuse("there are " + Twine(shape.inPerGroup) + " input channels, expected a multiple of " + Twine(step.getDepth()));
  if (!hasDenseChannels(conv))
    return refuse("the input's channels do not lie side by side");
  PlanNumbers numbers = planStepConvolution(target, step, countPixels(conv), shape.outPerGroup, shape.inPerGroup * shape.taps());
  return accept("channels_last convolution with constant weights: " + describeStep(step) + describeBounds(step, conv.getWeight(), stepDimension(conv)),
                std::move(numbers));
}

std::string findConvStepFault(GroupOp group, Operation *anchor, kernel::PlanAttr plan) {
  auto conv = cast<ConvOp>(anchor);
  std::string fault = findStepFault(kernel::getTarget(group), plan, conv.getInput().getType().getElementType(), conv.getWeight().getType().getElementType(),
                                    conv.getType().getElementType(), countTogetherInLine(conv));
  return fault.empty() ? findBoundsFault(plan, conv.getWeight(), stepDimension(conv)) : fault;
}

FailureOr<LaunchInfo> lowerConvSteps(KernelBuilder &k, Operation *anchor) {
  auto conv = cast<ConvOp>(anchor);
  return lowerContraction(k, makeTiledConv(k, conv, getStep(k.group())));
}

KernelMatch matchConvTileSteps(GroupOp group, Operation *anchor, kernel::TargetAttr target) {
  auto conv = cast<ConvOp>(anchor);
  kernel::StepAttr step = findTileStep(target, conv.getInput().getType(), conv.getWeight().getType(), conv.getType());
  if (!step)
    return refuse(describeMissingTileStep(conv.getInput().getType(), conv.getWeight().getType()));
  if (std::string why = findTilingFault(group, conv, step); !why.empty())
    return refuse(why);
  if (!hasDenseChannels(conv))
    return refuse("the input's channels do not lie side by side");
  ConvShape shape(conv);
  // Where the taps of a line lie side by side, a step may have several of them.
  bool joins = elementsPerTap(conv) == shape.inPerGroup;
  int64_t depth = chooseTileDepth(step, shape.inPerGroup * (joins ? shape.kernel.back() : 1), shape.inPerGroup);
  std::optional<int64_t> rows = countPixels(conv);
  if (std::string why = findTileFault(step, rows, depth); !why.empty())
    return refuse(why);
  return accept("channels_last convolution with constant weights: " + describeTileStep(step, depth),
                planTileProduct(target, step, rows, shape.outPerGroup, depth));
}

FailureOr<LaunchInfo> lowerConvTileSteps(KernelBuilder &k, Operation *anchor) {
  auto conv = cast<ConvOp>(anchor);
  return lowerContraction(k, makeTiledConv(k, conv, getTileStep(k.group())));
}

FailureOr<LaunchInfo> lowerConvTiled(KernelBuilder &k, Operation *anchor) { return lowerContraction(k, makeTiledConv(k, cast<ConvOp>(anchor))); }

} // namespace kiln
