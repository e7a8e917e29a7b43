//===- DecomposeConvTranspose.cpp - ConvTranspose as pad and conv ----------===//
//
// In general: the input with zeros between its elements, convolved with the reversed kernel. Where the stride is the kernel's size no two
// kernels overlap: each input element makes a patch of its own, a pointwise convolution with a channel for every place of the patch.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Dims.h"
#include "dialects/nn/NN.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

/// [C, M/g, k...] to the forward convolution's [M, C/g, k...] with each kernel reversed: groups split out, swapped, merged.
static Value forwardWeight(OpBuilder &builder, ConvTransposeOp op) {
  DimExprs dims = getDims(op.getWeight().getType());
  Type element = op.getWeight().getType().getElementType();
  int64_t groups = op.getGroups();
  size_t rank = dims.size();
  SmallVector<int64_t> steps(rank, 1);
  SmallVector<AffineExpr> starts(rank, getAffineConstantExpr(0, op.getContext()));
  for (size_t i = 2; i < rank; ++i) {
    steps[i] = -1;
    starts[i] = dims[i] - 1;
  }
  auto startMap = AffineMap::get(0, 0, starts, op.getContext());
  Value flipped = SliceOp::create(builder, op.getLoc(), op.getWeight().getType(), op.getWeight(), startMap, steps);

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

FailureOr<SmallVector<Value>> ConvTransposeOp::decompose(OpBuilder &builder) {
  if (!cast<RankedTensorType>(getWeight().getType()).hasStaticShape())
    return failure();
  if (makesPatches(*this))
    return SmallVector<Value>{makePatches(builder, *this)};
  DimExprs input = getDims(getInput().getType()), output = getDims(getType()), kernel = getDims(getWeight().getType());
  size_t rank = input.size(), spatial = rank - 2;
  size_t first = getLayout() == Layout::ChannelsFirst ? 2 : 1;
  AffineExpr zero = getAffineConstantExpr(0, getContext());
  SmallVector<AffineExpr> low(rank, zero), high(rank, zero);
  SmallVector<int64_t> interior(rank, 0);
  DimExprs padded = input;
  for (size_t i = 0; i < spatial; ++i) {
    // The dilated input needs (k - 1) * dilation on both sides less the cut; the high side is what the result's extent asks for.
    AffineExpr reach = (kernel[2 + i] - 1) * getDilations()[i];
    AffineExpr dilated = (input[first + i] - 1) * getStrides()[i] + 1;
    interior[first + i] = getStrides()[i] - 1;
    low[first + i] = simplifyDim(reach - getPads()[i]);
    high[first + i] = simplifyDim(output[first + i] + reach - dilated - low[first + i]);
    padded[first + i] = dilated + low[first + i] + high[first + i];
  }
  Type element = getType().getElementType();
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    unsigned symbols = 0;
    for (AffineExpr expr : exprs)
      expr.walk([&](AffineExpr e) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
          symbols = std::max(symbols, symbol.getPosition() + 1);
      });
    return AffineMap::get(0, symbols, exprs, getContext());
  };
  Value none = SplatOp::create(builder, getLoc(), RankedTensorType::get({}, element), builder.getZeroAttr(element));
  Value spread = PadOp::create(builder, getLoc(), makeTensorType(padded, element), getInput(), none, map(low), map(high), interior, PadMode::Constant);
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  return SmallVector<Value>{ConvOp::create(builder, getLoc(), getType(), spread, forwardWeight(builder, *this), ones, getDilations(), zeros,
                                           getGroups(), getLayout())};
}
