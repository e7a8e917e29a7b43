//===- DecomposeConvTranspose.cpp - ConvTranspose as pad and conv ----------===//
//
// In general: the input with zeros between its elements, convolved with the reversed kernel.
//
// With a stride s, most of these zeros can be left out (W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016). Element
// q * s + r of the result, counted from where the first kernel begins, is
//   sum over j of input[q - j] * kernel[r + s * j]
// so each phase r is a convolution of the input with every s-th element of the kernel, and a reshape puts the phases, which are channels, side by side.
// Phases with equally many elements are one convolution. If s divides the kernel's size, all are; else there are two ranges of them in each dimension.
//
// Zeros times weights that are not finite would be NaN: with those, each place of the kernel has a pointwise convolution, and the results are added.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/Permute.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// Kernels of more places than this are convolved in one piece, whatever their weights are.
static constexpr int64_t mostPlaces = 128;

/// [C, M/g, k...] to the forward convolution's [M, C/g, k...] with each kernel reversed: groups split out, swapped, merged.
static Value forwardWeight(OpBuilder &builder, ConvTransposeOp op, Value weight) {
  DimExprs dims = getDims(weight.getType());
  Type element = getElementTypeOrSelf(weight);
  int64_t groups = op.getGroups();
  size_t rank = dims.size();
  SmallVector<int64_t> steps(rank, 1);
  SmallVector<AffineExpr> starts(rank, getAffineConstantExpr(0, op.getContext()));
  for (size_t i = 2; i < rank; ++i) {
    steps[i] = -1;
    starts[i] = dims[i] - 1;
  }
  auto startMap = AffineMap::get(0, 0, starts, op.getContext());
  Value flipped = SliceOp::create(builder, op.getLoc(), cast<RankedTensorType>(weight.getType()), weight, startMap, steps);

  DimExprs split{getAffineConstantExpr(groups, op.getContext()), dims[0].floorDiv(groups), dims[1]};
  split.append(dims.begin() + 2, dims.end());
  Value grouped = ReshapeOp::create(builder, op.getLoc(), makeTensorType(split, element), flipped);
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  std::swap(permutation[1], permutation[2]);
  std::swap(split[1], split[2]);
  Value swapped = TransposeOp::create(builder, op.getLoc(), makeTensorType(split, element), grouped, permutation);
  DimExprs merged{split[0] * split[1]};
  merged.append(split.begin() + 2, split.end());
  return ReshapeOp::create(builder, op.getLoc(), makeTensorType(merged, element), swapped);
}

/// A map of symbols with these results.
static AffineMap symbolMapOf(MLIRContext *context, ArrayRef<AffineExpr> exprs) {
  unsigned symbols = 0;
  for (AffineExpr expr : exprs)
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
  return AffineMap::get(0, symbols, exprs, context);
}

/// The spatial dimensions of a value with zeros between their elements, and `low` of them in front. They fill what `extents` asks for; cuts are negative.
static Value spreadOut(OpBuilder &builder, ConvTransposeOp op, Value value, ArrayRef<AffineExpr> low, ArrayRef<AffineExpr> extents) {
  DimExprs dims = getDims(value.getType());
  size_t first = op.getLayout() == Layout::ChannelsFirst ? 2 : 1;
  SmallVector<AffineExpr> before(dims.size(), getAffineConstantExpr(0, op.getContext())), behind(before);
  SmallVector<int64_t> interior(dims.size(), 0);
  for (size_t i = 0; i < low.size(); ++i) {
    AffineExpr dilated = (dims[first + i] - 1) * op.getStrides()[i] + 1;
    interior[first + i] = op.getStrides()[i] - 1;
    before[first + i] = simplifyDim(low[i]);
    behind[first + i] = simplifyDim(extents[i] - dilated - low[i]);
    dims[first + i] = simplifyDim(extents[i]);
  }
  Type element = getElementTypeOrSelf(value);
  Value none = SplatOp::create(builder, op.getLoc(), RankedTensorType::get({}, element), builder.getZeroAttr(element));
  return PadOp::create(builder, op.getLoc(), makeTensorType(dims, element), value, none, symbolMapOf(op.getContext(), before),
                       symbolMapOf(op.getContext(), behind), interior, PadMode::Constant);
}

/// Whether zeros between and around the input's elements would become NaN.
static bool hasInfiniteWeights(ConvTransposeOp op) {
  ElementsAttr constant = getConstant(op.getWeight());
  return constant && isa<FloatType>(op.getType().getElementType()) && !isFinite(constant);
}

/// The sum of a pointwise convolution for each place of the kernel, whose results are spread out to where it reaches.
static Value addPlaces(OpBuilder &builder, ConvTransposeOp op) {
  ArrayRef<int64_t> kernel = cast<RankedTensorType>(op.getWeight().getType()).getShape();
  int64_t spatial = kernel.size() - 2, places = ShapedType::getNumElements(kernel.drop_front(2));
  size_t first = op.getLayout() == Layout::ChannelsFirst ? 2 : 1, channels = first == 2 ? 1 : op.getType().getRank() - 1;
  DimExprs output = getDims(op.getType()), pointwise = getDims(op.getInput().getType()), one = getDims(op.getWeight().getType());
  Type element = op.getType().getElementType();
  pointwise[channels] = output[channels];
  std::fill(one.begin() + 2, one.end(), getAffineConstantExpr(1, op.getContext()));
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0), steps(kernel.size(), 1);
  Value sum;
  for (int64_t place = 0; place < places; ++place) {
    SmallVector<AffineExpr> starts(kernel.size(), getAffineConstantExpr(0, op.getContext())), low(spatial);
    for (int64_t i = spatial - 1, rest = place; i >= 0; rest /= kernel[2 + i], --i) {
      int64_t at = rest % kernel[2 + i];
      starts[2 + i] = getAffineConstantExpr(at, op.getContext());
      low[i] = getAffineConstantExpr(at * op.getDilations()[i] - op.getPads()[i], op.getContext());
    }
    Value weight = SliceOp::create(builder, op.getLoc(), makeTensorType(one, element), op.getWeight(), AffineMap::get(0, 0, starts, op.getContext()), steps);
    Value product = ConvOp::create(builder, op.getLoc(), makeTensorType(pointwise, element), op.getInput(), forwardWeight(builder, op, weight), ones, ones,
                                   zeros, op.getGroups(), op.getLayout());
    Value part = spreadOut(builder, op, product, low, ArrayRef(output).slice(first, spatial));
    sum = sum ? Value(AddOp::create(builder, op.getLoc(), op.getType(), sum, part)) : part;
  }
  return sum;
}

//===- Phases ---------------------------------------------------------------===//

/// Depthwise convolutions of so many phases at most are one for each: a kernel for them has one result for each channel.
static constexpr int64_t mostDepthwisePhases = 16;

/// More convolutions than this are not worth their code.
static constexpr int64_t mostConvolutions = 64;

namespace {
/// Phases of one dimension from `first` on, which have as many elements of the kernel.
struct PhaseRange {
  int64_t first, count, taps;
};

/// The convolutions of a ConvTranspose's phases, channels_last.
class PhaseConvs {
public:
  PhaseConvs(OpBuilder &builder, ConvTransposeOp op);
  /// Whether there is something to leave out, and every phase has elements of the kernel.
  static bool fits(ConvTransposeOp op);
  Value build();

private:
  Value makeConv(ArrayRef<PhaseRange> ranges);
  Value makeWeight(ArrayRef<PhaseRange> ranges);
  Value joinPhases(unsigned dim, SmallVector<PhaseRange> &ranges);
  SmallVector<PhaseRange> listRanges(unsigned dim) const;
  AffineExpr number(int64_t value) const { return builder.getAffineConstantExpr(value); }
  Value reshape(Value value, ArrayRef<AffineExpr> dims) {
    return ReshapeOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(value)), value);
  }
  Value transpose(Value value, ArrayRef<int64_t> order) {
    DimExprs dims = getDims(value.getType()), moved;
    for (int64_t dim : order)
      moved.push_back(dims[dim]);
    return TransposeOp::create(builder, loc, makeTensorType(moved, getElementTypeOrSelf(value)), value, order);
  }
  Value slice(Value value, ArrayRef<AffineExpr> starts, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> steps) {
    return SliceOp::create(builder, loc, makeTensorType(sizes, getElementTypeOrSelf(value)), value, symbolMapOf(op.getContext(), starts), steps);
  }

  OpBuilder &builder;
  Location loc;
  ConvTransposeOp op;
  unsigned spatial;
  /// [N, x..., C] with zeros around, which all convolutions share: `reach` elements are before what the last phase begins with.
  Value input;
  DimExprs inputDims;
  SmallVector<int64_t> reach;
  /// The sizes of the result in x.
  DimExprs extents;
  int64_t groups;
  AffineExpr inPerGroup, outPerGroup;
  /// Of each dimension: the first q that is kept, and the end.
  SmallVector<int64_t> firstCell;
  DimExprs endCell;
};
} // namespace

bool PhaseConvs::fits(ConvTransposeOp op) {
  ArrayRef<int64_t> kernel = cast<RankedTensorType>(op.getWeight().getType()).getShape().drop_front(2), strides = op.getStrides();
  int64_t convolutions = 1;
  bool spreads = false;
  for (auto [size, stride, dilation] : llvm::zip_equal(kernel, strides, op.getDilations())) {
    if (stride > 1 && (size < stride || (dilation != 1 && size != 1)))
      return false;
    spreads |= stride > 1;
    convolutions *= size % stride + 1;
  }
  return spreads && convolutions <= mostConvolutions;
}

PhaseConvs::PhaseConvs(OpBuilder &builder, ConvTransposeOp op)
    : builder(builder), loc(op.getLoc()), op(op), spatial(static_cast<unsigned>(op.getStrides().size())), input(op.getInput()), groups(op.getGroups()) {
  bool isLast = op.getLayout() == Layout::ChannelsLast;
  if (!isLast)
    input = transpose(input, toChannelsLast(spatial + 2));
  inputDims = getDims(input.getType());
  extents = DimExprs(ArrayRef(getDims(op.getType())).slice(isLast ? 1 : 2, spatial));
  DimExprs weight = getDims(op.getWeight().getType()), padded(inputDims);
  inPerGroup = simplifyDim(weight[0].floorDiv(groups));
  outPerGroup = weight[1];
  SmallVector<AffineExpr> before(spatial + 2, number(0)), behind(before);
  for (unsigned i = 0; i < spatial; ++i) {
    int64_t stride = op.getStrides()[i], pad = op.getPads()[i];
    reach.push_back((llvm::divideCeilSigned(*getConstantDim(weight[i + 2]), stride) - 1) * op.getDilations()[i]);
    firstCell.push_back(llvm::divideFloorSigned(pad, stride));
    endCell.push_back(simplifyDim((extents[i] + pad).ceilDiv(stride)));
    before[i + 1] = number(reach.back() - firstCell.back());
    behind[i + 1] = simplifyDim(endCell.back() - inputDims[i + 1]);
    padded[i + 1] = simplifyDim(endCell.back() - firstCell.back() + reach.back());
  }
  if (llvm::all_of(llvm::concat<AffineExpr>(before, behind), [](AffineExpr amount) { return getConstantDim(amount) == 0; }))
    return;
  Type element = getElementTypeOrSelf(input);
  Value zero = SplatOp::create(builder, loc, RankedTensorType::get({}, element), cast<TypedAttr>(builder.getZeroAttr(element)));
  input = PadOp::create(builder, loc, makeTensorType(padded, element), input, zero, symbolMapOf(op.getContext(), before), symbolMapOf(op.getContext(), behind),
                        SmallVector<int64_t>(spatial + 2, 0), PadMode::Constant);
  inputDims = padded;
}

/// Phases with equally many elements lie side by side in each part of the kernel only where each part begins with the first of them or ends with the last one;
/// others are ranges of their own.
SmallVector<PhaseRange> PhaseConvs::listRanges(unsigned dim) const {
  int64_t size = cast<RankedTensorType>(ConvTransposeOp(op).getWeight().getType()).getDimSize(2 + dim), stride = ConvTransposeOp(op).getStrides()[dim];
  int64_t phases = 1;
  for (int64_t each : ConvTransposeOp(op).getStrides())
    phases *= each;
  bool isDepthwise = groups > 1 && getConstantDim(inPerGroup) == 1 && getConstantDim(outPerGroup) == 1 && phases <= mostDepthwisePhases;
  SmallVector<PhaseRange> ranges;
  int64_t first = 0, alone = isDepthwise ? stride : size % stride;
  for (; first < alone; ++first)
    ranges.push_back({first, 1, llvm::divideCeilSigned(size - first, stride)});
  if (first < stride)
    ranges.push_back({first, stride - first, size / stride});
  return ranges;
}

/// [C, M / groups, k...] -> [groups, C / groups, M / groups, taps, phases, ...] -> [groups * phases * M / groups, C / groups, taps...], reversed.
Value PhaseConvs::makeWeight(ArrayRef<PhaseRange> ranges) {
  DimExprs whole = getDims(op.getWeight().getType()), cells{number(groups), inPerGroup, outPerGroup}, kept(cells), merged{number(groups)};
  SmallVector<AffineExpr> starts(2, number(0)), phaseStarts(3, number(0));
  SmallVector<int64_t> steps(2, 1), phaseSteps(3, 1), order{0}, taps;
  for (auto [i, range] : llvm::enumerate(ranges)) {
    int64_t at = 3 + 2 * static_cast<int64_t>(i), stride = op.getStrides()[i];
    // One phase is every s-th element; several are a part of each run of s.
    bool isOne = range.count == 1;
    starts.push_back(number(isOne ? range.first + stride * (range.taps - 1) : 0));
    steps.push_back(isOne ? -stride : 1);
    whole[i + 2] = number(range.taps * (isOne ? 1 : stride));
    cells.append({number(range.taps), number(isOne ? 1 : stride)});
    phaseStarts.append({number(isOne ? 0 : range.taps - 1), number(isOne ? 0 : range.first)});
    phaseSteps.append({isOne ? 1 : -1, 1});
    kept.append({number(range.taps), number(range.count)});
    order.push_back(at + 1);
    taps.push_back(at);
    merged.front() = merged.front() * range.count;
  }
  order.append({2, 1});
  order.append(taps);
  merged.front() = simplifyDim(merged.front() * outPerGroup);
  merged.push_back(inPerGroup);
  for (const PhaseRange &range : ranges)
    merged.push_back(number(range.taps));
  Value runs = reshape(slice(op.getWeight(), starts, whole, steps), cells);
  return reshape(transpose(slice(runs, phaseStarts, kept, phaseSteps), order), merged);
}

/// [N, q..., groups, phases..., M / groups] of these ranges.
Value PhaseConvs::makeConv(ArrayRef<PhaseRange> ranges) {
  Value weight = makeWeight(ranges), part = input;
  Type element = ConvTransposeOp(op).getType().getElementType();
  SmallVector<AffineExpr> starts(spatial + 2, number(0));
  DimExprs read(inputDims), flat{inputDims.front()}, split;
  for (unsigned i = 0; i < spatial; ++i) {
    int64_t own = (ranges[i].taps - 1) * ConvTransposeOp(op).getDilations()[i];
    starts[i + 1] = number(reach[i] - own);
    flat.push_back(simplifyDim(endCell[i] - firstCell[i]));
    read[i + 1] = simplifyDim(flat.back() + own);
  }
  if (read != inputDims)
    part = slice(input, starts, read, SmallVector<int64_t>(spatial + 2, 1));
  split = flat;
  flat.push_back(getDims(weight.getType()).front());
  split.push_back(number(groups));
  for (const PhaseRange &range : ranges)
    split.push_back(number(range.count));
  split.push_back(outPerGroup);
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  Value conv = ConvOp::create(builder, loc, makeTensorType(flat, element), part, weight, ones, ConvTransposeOp(op).getDilations(), zeros, groups,
                              Layout::ChannelsLast);
  return reshape(conv, split);
}

/// The same of all phases of the dimensions from `dim` on, and these ranges of those before.
Value PhaseConvs::joinPhases(unsigned dim, SmallVector<PhaseRange> &ranges) {
  if (dim == spatial)
    return makeConv(ranges);
  SmallVector<Value> parts;
  for (const PhaseRange &range : listRanges(dim)) {
    ranges.push_back(range);
    parts.push_back(joinPhases(dim + 1, ranges));
    ranges.pop_back();
  }
  if (parts.size() == 1)
    return parts.front();
  int64_t axis = spatial + 2 + dim;
  DimExprs dims = getDims(parts.front().getType());
  dims[axis] = number(ConvTransposeOp(op).getStrides()[dim]);
  return ConcatOp::create(builder, loc, makeTensorType(dims, getElementTypeOrSelf(parts.front())), parts, builder.getI64IntegerAttr(axis));
}

/// Puts the phases side by side, [N, q, s, ..., groups, M / groups] -> [N, q * s, ..., M], and cuts off what the result does not have.
Value PhaseConvs::build() {
  SmallVector<PhaseRange> ranges;
  Value phases = joinPhases(0, ranges);
  DimExprs merged{inputDims.front()}, kept(merged);
  SmallVector<AffineExpr> starts{number(0)};
  SmallVector<int64_t> order{0};
  for (unsigned i = 0; i < spatial; ++i) {
    int64_t stride = op.getStrides()[i];
    order.append({1 + i, spatial + 2 + i});
    merged.push_back(simplifyDim((endCell[i] - firstCell[i]) * stride));
    starts.push_back(number(op.getPads()[i] - firstCell[i] * stride));
    kept.push_back(extents[i]);
  }
  order.append({spatial + 1, 2 * spatial + 2});
  for (DimExprs *dims : {&merged, &kept})
    dims->push_back(simplifyDim(outPerGroup * groups));
  starts.push_back(number(0));
  Value result = reshape(transpose(phases, order), merged);
  if (merged != kept)
    result = slice(result, starts, kept, SmallVector<int64_t>(spatial + 2, 1));
  return op.getLayout() == Layout::ChannelsLast ? result : transpose(result, toChannelsFirst(spatial + 2));
}

FailureOr<SmallVector<Value>> ConvTransposeOp::decompose(OpBuilder &builder) {
  auto weight = cast<RankedTensorType>(getWeight().getType());
  if (!weight.hasStaticShape())
    return failure();
  if (hasInfiniteWeights(*this) && ShapedType::getNumElements(weight.getShape().drop_front(2)) <= mostPlaces)
    return SmallVector<Value>{addPlaces(builder, *this)};
  if (PhaseConvs::fits(*this))
    return SmallVector<Value>{PhaseConvs(builder, *this).build()};
  DimExprs output = getDims(getType());
  size_t spatial = weight.getRank() - 2, first = getLayout() == Layout::ChannelsFirst ? 2 : 1;
  SmallVector<AffineExpr> low, extents;
  for (size_t i = 0; i < spatial; ++i) {
    // The dilated input needs (k - 1) * dilation on both sides less the cut; the high side is what the result's extent asks for.
    int64_t reach = (weight.getDimSize(2 + i) - 1) * getDilations()[i];
    low.push_back(getAffineConstantExpr(reach - getPads()[i], getContext()));
    extents.push_back(output[first + i] + reach);
  }
  Value spread = spreadOut(builder, *this, getInput(), low, extents);
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  return SmallVector<Value>{ConvOp::create(builder, getLoc(), getType(), spread, forwardWeight(builder, *this, getWeight()), ones, getDilations(), zeros,
                                           getGroups(), getLayout())};
}
