//===- DecomposeConvTranspose.cpp - ConvTranspose as pad and conv ----------===//
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

FailureOr<SmallVector<Value>> ConvTransposeOp::decompose(OpBuilder &builder) {
  if (!cast<RankedTensorType>(getWeight().getType()).hasStaticShape())
    return failure();
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
