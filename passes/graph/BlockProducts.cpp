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

std::optional<PerBlock> readPerBlock(Value value, unsigned axis) {
  if (auto perColumn = readPerColumn(value, axis))
    return perColumn;
  auto joined = value.getDefiningOp<ReshapeOp>();
  auto repeated = joined ? joined.getInput().getDefiningOp<BroadcastToOp>() : BroadcastToOp();
  if (!repeated || repeated.getType().getRank() != 3 || joined.getType().getRank() != 2 || !repeated.getType().hasStaticShape())
    return std::nullopt;
  Value small = repeated.getInput();
  ArrayRef<int64_t> shape = repeated.getType().getShape();
  SmallVector<int64_t> single(shape);
  single[axis + 1] = 1;
  if (cast<RankedTensorType>(small.getType()).getShape() != ArrayRef(single))
    return std::nullopt;
  if (auto reshape = small.getDefiningOp<ReshapeOp>())
    small = reshape.getInput();
  ElementsAttr constant = getConstant(small);
  if (!constant)
    return std::nullopt;
  ConstantData data(constant);
  PerBlock result{shape[axis + 1], {}};
  int64_t blocks = shape[axis], columns = shape[axis == 0 ? 2 : 0];
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t n = 0; n < columns; ++n)
      result.numbers.push_back(data.asDouble(axis == 0 ? b * columns + n : n * blocks + b));
  return result;
}

/// The weights as whole numbers from 0 on. `axis` is the one of the sum in the constant [K, N] or [N, K].
static BlockWeights readNumbers(ElementsAttr constant, unsigned axis, int64_t block, ArrayRef<double> zeros) {
  auto type = cast<RankedTensorType>(constant.getType());
  int64_t depth = type.getDimSize(axis), columns = type.getDimSize(1 - axis), blocks = depth / block;
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  ConstantData data(constant);
  auto values = data.as<int8_t>();
  auto at = [&](int64_t i) { return isUnsigned ? static_cast<int64_t>(static_cast<uint8_t>(values[i])) : static_cast<int64_t>(values[i]); };
  auto fits = [&](int64_t value) { return isUnsigned ? value < 16 : value >= -8 && value < 8; };
  bool isNarrow = llvm::all_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return fits(at(i)); }) &&
                  llvm::all_of(zeros, [&](double zero) { return fits(static_cast<int64_t>(zero)); });
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

LogicalResult raiseBlockMatmul(MatmulOp op, PatternRewriter &rewriter) {
  Value right = op.getRhs();
  unsigned axis = 0;
  if (auto transpose = right.getDefiningOp<TransposeOp>(); transpose && transpose.getType().getRank() == 2) {
    axis = transpose.getPermutation()[0] == 1;
    right = transpose.getInput();
  }
  auto dequantize = right.getDefiningOp<DequantizeOp>();
  ElementsAttr constant = dequantize ? getConstant(dequantize.getX()) : ElementsAttr();
  auto type = constant ? cast<RankedTensorType>(constant.getType()) : RankedTensorType();
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(8) || !op.getType().getElementType().isF32() || type.getNumElements() == 0)
    return rewriter.notifyMatchFailure(op, "expected a right side of dequantised constant bytes");
  auto scales = readPerBlock(dequantize.getScale(), axis), zeros = readPerBlock(dequantize.getZeroPoint(), axis);
  if (scales && !llvm::all_of(scales->numbers, [](double scale) { return std::isfinite(scale); }))
    return rewriter.notifyMatchFailure(op, "expected finite scales");
  if (!scales || scales->block % weightsPerBlock != 0 || type.getDimSize(axis) % scales->block != 0)
    return rewriter.notifyMatchFailure(op, "expected constant scales for columns or blocks of a multiple of 16 weights");
  if (zeros && zeros->block == type.getDimSize(axis) && scales->block != zeros->block) {
    SmallVector<double> repeated;
    for (size_t i = 0; i < scales->numbers.size(); i += zeros->numbers.size())
      llvm::append_range(repeated, zeros->numbers);
    zeros = PerBlock{scales->block, std::move(repeated)};
  }
  if (!zeros || zeros->block != scales->block)
    return rewriter.notifyMatchFailure(op, "expected constant zero points for the same blocks");
  BlockWeights weights = readNumbers(constant, axis, scales->block, zeros->numbers);
  SmallVector<float> factors;
  for (int64_t n = 0; n < weights.columns; ++n)
    for (int64_t b = 0; b < weights.blocks; ++b)
      factors.push_back(static_cast<float>(scales->numbers[b * weights.columns + n]));
  auto make = [&](ElementsAttr value) -> Value { return value ? Value(ConstantOp::create(rewriter, op.getLoc(), value)) : Value(); };
  auto perBlock = RankedTensorType::get({weights.columns, weights.blocks}, rewriter.getF32Type());
  Value scale = make(makeConstantOf<float>(perBlock, factors)), zero = make(weights.makeZeros(op.getContext()));
  rewriter.replaceOpWithNewOp<BlockQuantizedMatmulOp>(op, op.getType(), op.getLhs(), make(weights.makeWeight(op.getContext())), scale, zero, Value(), Value(),
                                                      rewriter.getI64IntegerAttr(weights.bits));
  return success();
}

} // namespace kiln
