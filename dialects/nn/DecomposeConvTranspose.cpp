//===- DecomposeConvTranspose.cpp - ConvTranspose as pad and conv ----------===//
//
// In general: the input with zeros between its elements, convolved with the reversed kernel. Where the stride is the kernel's size no two
// kernels overlap: each input element makes a patch of its own, a pointwise convolution with a channel for every place of the patch.
// Zeros times weights that are not finite would be NaN: with those, each place of the kernel has a pointwise convolution, and the results are added.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"
#include <cmath>

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

/// Whether the results of neighbouring input elements neither overlap nor leave gaps, and nothing is cut off.
static bool makesPatches(ConvTransposeOp op) {
  DimExprs input = getDims(op.getInput().getType()), output = getDims(op.getType()), kernel = getDims(op.getWeight().getType());
  if (op.getGroups() != 1 || op.getLayout() != Layout::ChannelsFirst || llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }))
    return false;
  return llvm::all_of(llvm::seq<size_t>(2, input.size()), [&](size_t i) {
    int64_t size = *getConstantDim(kernel[i]);
    return op.getStrides()[i - 2] == size && (op.getDilations()[i - 2] == 1 || size == 1) && provablyEqual(output[i], input[i] * size);
  });
}

/// [N, C, s...] -> pointwise -> [N, k... * M, s...] -> [N, k..., M, s...] -> [N, M, s0, k0, s1, k1, ...] -> [N, M, s0 * k0, ...]
static Value makePatches(OpBuilder &builder, ConvTransposeOp op) {
  DimExprs input = getDims(op.getInput().getType()), kernel = getDims(op.getWeight().getType());
  int64_t spatial = input.size() - 2;
  Type element = op.getType().getElementType();
  SmallVector<int64_t> kernelFirst = llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2));
  kernelFirst.append({1, 0});
  AffineExpr channels = getNumElements(ArrayRef(kernel).drop_front(1), op.getContext());
  auto permuted = [&](Value value, ArrayRef<int64_t> order) -> Value {
    DimExprs dims = getDims(value.getType()), moved;
    for (int64_t dim : order)
      moved.push_back(dims[dim]);
    return TransposeOp::create(builder, op.getLoc(), makeTensorType(moved, element), value, order);
  };
  DimExprs pointwise{channels, kernel[0]}, wide{input[0], channels}, split{input[0]};
  pointwise.append(spatial, getAffineConstantExpr(1, op.getContext()));
  wide.append(input.begin() + 2, input.end());
  split.append(kernel.begin() + 2, kernel.end());
  split.push_back(kernel[1]);
  split.append(input.begin() + 2, input.end());
  Value weight = ReshapeOp::create(builder, op.getLoc(), makeTensorType(pointwise, element), permuted(op.getWeight(), kernelFirst));
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0), order{0, spatial + 1};
  Value product = ConvOp::create(builder, op.getLoc(), makeTensorType(wide, element), op.getInput(), weight, ones, ones, zeros, 1, op.getLayout());
  for (int64_t i = 0; i < spatial; ++i)
    order.append({spatial + 2 + i, 1 + i});
  Value patches = ReshapeOp::create(builder, op.getLoc(), makeTensorType(split, element), product);
  return ReshapeOp::create(builder, op.getLoc(), op.getType(), permuted(patches, order));
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
  if (!constant || !isa<FloatType>(op.getType().getElementType()))
    return false;
  ConstantData data(constant);
  bool isFinite = true;
  data.forEachDouble(0, data.numElements(), [&](double weight) { isFinite &= std::isfinite(weight); });
  return !isFinite;
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

FailureOr<SmallVector<Value>> ConvTransposeOp::decompose(OpBuilder &builder) {
  auto weight = cast<RankedTensorType>(getWeight().getType());
  if (!weight.hasStaticShape())
    return failure();
  if (makesPatches(*this))
    return SmallVector<Value>{makePatches(builder, *this)};
  if (hasInfiniteWeights(*this) && ShapedType::getNumElements(weight.getShape().drop_front(2)) <= mostPlaces)
    return SmallVector<Value>{addPlaces(builder, *this)};
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
