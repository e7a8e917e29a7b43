//===- BlockProducts.cpp - Products with weights that are dequantised by blocks ===//
//
//   %s = nn.reshape (nn.broadcast_to %scale to [blocks, block, N]) to [K, N]        (and zero points likewise)
//   %w = nn.dequantize %q, %s, %z                                                    (%q: a constant [K, N])
//   %r = nn.matmul %x, %w
//
// becomes nn.block_quantized_matmul of %x. Weights that fit four bits take four. Where each column has one scale, it is one block.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/BlockProducts.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/QuantizedProducts.h"
#include <cmath>

using namespace mlir;

namespace kiln {

using namespace nn;

/// The same numbers along the whole of a dimension: a block is all of it.
static std::optional<PerBlock> readPerColumn(Value value, unsigned axis) {
  auto type = cast<RankedTensorType>(value.getType());
  auto numbers = type.getRank() == 2 && type.hasStaticShape() ? getNumbersAlong(value, 1 - axis) : std::nullopt;
  if (!numbers)
    return std::nullopt;
  if (numbers->size() == 1)
    numbers->assign(type.getDimSize(1 - axis), numbers->front());
  return PerBlock{type.getDimSize(axis), std::move(*numbers)};
}

std::optional<PerBlock> readPerBlock(Value value, unsigned axis, GatherOp like) {
  if (auto perColumn = like ? std::nullopt : readPerColumn(value, axis))
    return perColumn;
  auto joined = value.getDefiningOp<ReshapeOp>();
  auto repeated = joined ? joined.getInput().getDefiningOp<BroadcastToOp>() : BroadcastToOp();
  if (!repeated || repeated.getType().getRank() != 3 || joined.getType().getRank() != 2)
    return std::nullopt;
  Value small = repeated.getInput();
  ArrayRef<int64_t> shape = repeated.getType().getShape();
  SmallVector<int64_t> single(shape);
  single[axis + 1] = 1;
  if (cast<RankedTensorType>(small.getType()).getShape() != ArrayRef(single))
    return std::nullopt;
  if (auto reshape = small.getDefiningOp<ReshapeOp>())
    small = reshape.getInput();
  if (like) {
    auto gather = small.getDefiningOp<GatherOp>();
    if (!gather || gather.getIndices() != like.getIndices() || gather.getAxis() != like.getAxis() || gather.getType().getRank() != 2)
      return std::nullopt;
    small = gather.getInput();
  }
  if (shape[axis] == ShapedType::kDynamic || shape[axis + 1] == ShapedType::kDynamic)
    return std::nullopt;
  ElementsAttr constant = getConstant(small);
  if (!constant)
    return std::nullopt;
  ConstantData data(constant);
  PerBlock result{shape[axis + 1], {}};
  int64_t blocks = shape[axis], columns = data.numElements() / blocks;
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t n = 0; n < columns; ++n)
      result.numbers.push_back(data.asDouble(axis == 0 ? b * columns + n : n * blocks + b));
  return result;
}

bool fitsFourBits(bool isUnsigned, int64_t number) { return isUnsigned ? number >= 0 && number < 16 : number >= -8 && number < 8; }

/// The weights as whole numbers from 0 on. `axis` is the one of the sum in the constant [K, N] or [N, K].
static BlockWeights readNumbers(ElementsAttr constant, unsigned axis, int64_t block, ArrayRef<double> zeros) {
  auto type = cast<RankedTensorType>(constant.getType());
  int64_t depth = type.getDimSize(axis), columns = type.getDimSize(1 - axis), blocks = depth / block;
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  ConstantData data(constant);
  auto values = data.as<int8_t>();
  auto at = [&](int64_t i) { return isUnsigned ? static_cast<int64_t>(static_cast<uint8_t>(values[i])) : static_cast<int64_t>(values[i]); };
  bool isNarrow = llvm::all_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return fitsFourBits(isUnsigned, at(i)); }) &&
                  llvm::all_of(zeros, [&](double zero) { return fitsFourBits(isUnsigned, static_cast<int64_t>(zero)); });
  int64_t bits = isNarrow ? 4 : 8, offset = isUnsigned ? 0 : int64_t(1) << (bits - 1);
  BlockWeights weights{columns, blocks, block, bits, std::vector<uint8_t>(depth * columns), std::vector<uint8_t>(blocks * columns)};
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < depth; ++k)
      weights.numbers[n * depth + k] = static_cast<uint8_t>(at(axis == 0 ? k * columns + n : n * depth + k) + offset);
    for (int64_t b = 0; b < blocks; ++b)
      weights.zeros[n * blocks + b] = static_cast<uint8_t>(static_cast<int64_t>(zeros[b * columns + n]) + offset);
  }
  weights.simplifyZeros();
  return weights;
}

namespace {
/// What is dequantised on the right side of a product, and the dimension of the sum in it.
struct RightSide {
  DequantizeOp dequantize;
  unsigned axis;
};
/// Weights in blocks with their scales [columns, blocks].
struct ScaledBlocks {
  BlockWeights weights;
  SmallVector<float> factors;
};
} // namespace

static RightSide findRightSide(MatmulOp op) {
  Value right = op.getRhs();
  unsigned axis = 0;
  if (auto transpose = right.getDefiningOp<TransposeOp>(); transpose && transpose.getType().getRank() == 2) {
    axis = transpose.getPermutation()[0] == 1;
    right = transpose.getInput();
  }
  return {right.getDefiningOp<DequantizeOp>(), axis};
}

/// The blocks of a constant matrix, dequantised by `side`; with a gather, the numbers of which are picked from it. On failure, the op's rewriter is told.
static FailureOr<ScaledBlocks> readBlocks(MatmulOp op, RightSide side, ElementsAttr constant, GatherOp gather, PatternRewriter &rewriter) {
  DequantizeOp dequantize = side.dequantize;
  unsigned axis = side.axis;
  auto type = constant ? cast<RankedTensorType>(constant.getType()) : RankedTensorType();
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(8) || !op.getType().getElementType().isF32() || type.getNumElements() == 0)
    return rewriter.notifyMatchFailure(op, "expected a right side of dequantised constant bytes");
  auto scales = readPerBlock(dequantize.getScale(), axis, gather), zeros = readPerBlock(dequantize.getZeroPoint(), axis, gather);
  if (scales && !llvm::all_of(scales->numbers, [](double scale) { return std::isfinite(scale); }))
    return rewriter.notifyMatchFailure(op, "expected finite scales");
  if (!scales || scales->block % weightsPerBlock != 0 || type.getDimSize(axis) % scales->block != 0)
    return rewriter.notifyMatchFailure(op, "expected constant scales for columns or blocks of a multiple of 16 weights");
  if (auto number = getSplatNumber(dequantize.getZeroPoint())) {
    zeros = PerBlock{scales->block, SmallVector<double>(scales->numbers.size(), *number)};
  } else if (zeros && zeros->block == type.getDimSize(axis) && scales->block != zeros->block) {
    SmallVector<double> repeated;
    for (size_t i = 0; i < scales->numbers.size(); i += zeros->numbers.size())
      llvm::append_range(repeated, zeros->numbers);
    zeros = PerBlock{scales->block, std::move(repeated)};
  }
  if (!zeros || zeros->block != scales->block || static_cast<int64_t>(scales->numbers.size()) * scales->block != type.getNumElements())
    return rewriter.notifyMatchFailure(op, "expected constant zero points for the same blocks");
  ScaledBlocks result{readNumbers(constant, axis, scales->block, zeros->numbers), {}};
  for (int64_t n = 0; n < result.weights.columns; ++n)
    for (int64_t b = 0; b < result.weights.blocks; ++b)
      result.factors.push_back(static_cast<float>(scales->numbers[b * result.weights.columns + n]));
  return result;
}

/// The product with these weights, or with the columns of them that are picked.
static void replaceByBlocks(MatmulOp op, const ScaledBlocks &blocks, GatherOp gather, PatternRewriter &rewriter) {
  const BlockWeights &weights = blocks.weights;
  auto make = [&](ElementsAttr value) -> Value {
    if (!value)
      return {};
    Value constant = ConstantOp::create(rewriter, op.getLoc(), value);
    if (!gather)
      return constant;
    auto type = cast<RankedTensorType>(constant.getType());
    DimExprs dims = getDims(type);
    dims.front() = getDims(op.getType()).back();
    return GatherOp::create(rewriter, gather.getLoc(), makeTensorType(dims, type.getElementType()), constant, gather.getIndices(),
                            rewriter.getI64IntegerAttr(0));
  };
  auto perBlock = RankedTensorType::get({weights.columns, weights.blocks}, rewriter.getF32Type());
  Value scale = make(makeConstantOf<float>(perBlock, blocks.factors)), zero = make(weights.makeZeros(op.getContext()));
  rewriter.replaceOpWithNewOp<BlockQuantizedMatmulOp>(op, op.getType(), op.getLhs(), make(weights.makeWeight(op.getContext())), scale, zero, Value(), Value(),
                                                      rewriter.getI64IntegerAttr(weights.bits));
}

LogicalResult raiseBlockMatmul(MatmulOp op, PatternRewriter &rewriter) {
  RightSide side = findRightSide(op);
  auto blocks = readBlocks(op, side, side.dequantize ? getConstant(side.dequantize.getX()) : ElementsAttr(), {}, rewriter);
  if (failed(blocks))
    return failure();
  replaceByBlocks(op, *blocks, {}, rewriter);
  return success();
}

LogicalResult raiseBlockShortlist(MatmulOp op, PatternRewriter &rewriter) {
  RightSide side = findRightSide(op);
  auto gather = side.dequantize ? side.dequantize.getX().getDefiningOp<GatherOp>() : GatherOp();
  if (!gather || gather.getIndices().getType().getRank() != 1 || gather.getAxis() == side.axis || op.getType().getRank() < 2)
    return rewriter.notifyMatchFailure(op, "expected a right side whose columns a gather picks");
  auto blocks = readBlocks(op, side, getConstant(gather.getInput()), gather, rewriter);
  if (failed(blocks))
    return failure();
  replaceByBlocks(op, *blocks, gather, rewriter);
  return success();
}

} // namespace kiln
