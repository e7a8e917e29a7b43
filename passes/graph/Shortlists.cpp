//===- Shortlists.cpp - Gathers of dequantised constants ---------------------===//
//
//   %w = nn.dequantize %q, %s, %z           (%q: a constant; %s: one scale, one for each index of an axis or one for each block of the last dimension)
//   %r = nn.gather %w, %i
//
// becomes
//
//   %g = nn.gather %q, %i
//   %r = nn.dequantize %g, %s', %z'         (what belongs to the indices is gathered, too)
//
// Rows of numbers that fit four bits are stored in four, as tables of embeddings are: the first half of a row in the low halves of its bytes.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Shortlists.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include "dialects/nn/NNStructureOps.h"
#include "dialects/nn/QuantizedProducts.h"
#include "passes/graph/BlockProducts.h"

using namespace mlir;

namespace kiln {

using namespace nn;

/// A constant of these numbers in the element type.
static Value makeNumbers(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Type element, ArrayRef<double> numbers) {
  auto type = RankedTensorType::get(shape, element);
  if (element.isF32())
    return ConstantOp::create(b, loc, makeConstantOf<float>(type, llvm::map_to_vector(numbers, [](double x) { return static_cast<float>(x); })));
  auto bytes = llvm::map_to_vector(numbers, [](double x) { return static_cast<int8_t>(static_cast<int>(x)); });
  return ConstantOp::create(b, loc, makeConstantOf<int8_t>(type, bytes));
}

/// Scales or zero points of what the gather picks, from those of what it picks from; null when they are no such constants.
static Value gatherParameter(OpBuilder &b, GatherOp op, Value parameter) {
  Type element = getElementTypeOrSelf(parameter);
  RankedTensorType type = withElementType(op.getType(), element);
  Location loc = op.getLoc();
  DimExprs picked = getDims(op.getIndices().getType()), dims = getDims(op.getType());
  unsigned rank = op.getInput().getType().getRank(), axis = op.getAxis();
  auto number = [&](int64_t n) { return b.getAffineConstantExpr(n); };
  if (auto splat = getSplatNumber(parameter)) {
    TypedAttr value = element.isF32() ? TypedAttr(b.getF32FloatAttr(static_cast<float>(*splat)))
                                      : TypedAttr(IntegerAttr::get(element, static_cast<int64_t>(*splat)));
    return SplatOp::create(b, loc, type, value);
  }
  if (!element.isF32() && !element.isInteger(8))
    return {};
  for (unsigned along = 0; along < rank; ++along) {
    auto numbers = getNumbersAlong(parameter, along);
    if (!numbers)
      continue;
    SmallVector<int64_t> shape(1, numbers->size());
    if (along != axis) {
      shape.append(along < axis ? dims.size() - along - 1 : rank - along - 1, 1);
      return BroadcastToOp::create(b, loc, type, makeNumbers(b, loc, shape, element, *numbers));
    }
    Value vector = makeNumbers(b, loc, shape, element, *numbers);
    Value chosen = GatherOp::create(b, loc, makeTensorType(picked, element), vector, op.getIndices(), b.getI64IntegerAttr(0));
    DimExprs apart(picked);
    apart.append(rank - axis - 1, number(1));
    return BroadcastToOp::create(b, loc, type, ReshapeOp::create(b, loc, makeTensorType(apart, element), chosen));
  }
  auto blocks = rank == 2 && axis == 0 ? readPerBlock(parameter, 1) : std::nullopt;
  if (!blocks)
    return {};
  int64_t columns = op.getInput().getType().getDimSize(0), count = static_cast<int64_t>(blocks->numbers.size()) / columns;
  if (count * blocks->block != op.getInput().getType().getDimSize(1))
    return {};
  SmallVector<double> ordered;
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t i = 0; i < count; ++i)
      ordered.push_back(blocks->numbers[i * columns + n]);
  DimExprs perBlock(picked), single, spread;
  perBlock.push_back(number(count));
  single = spread = perBlock;
  single.push_back(number(1));
  spread.push_back(number(blocks->block));
  Value chosen = GatherOp::create(b, loc, makeTensorType(perBlock, element), makeNumbers(b, loc, {columns, count}, element, ordered), op.getIndices(),
                                  b.getI64IntegerAttr(0));
  Value apart = ReshapeOp::create(b, loc, makeTensorType(single, element), chosen);
  return ReshapeOp::create(b, loc, type, BroadcastToOp::create(b, loc, makeTensorType(spread, element), apart));
}

/// Whether a product takes what is picked as its columns, from where they lie.
static bool isShortlist(GatherOp op) {
  auto isProduct = [](Operation *user) { return isa<MatmulOp>(user); };
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isProduct(user) || (isa<TransposeOp>(user) && llvm::any_of(user->getUsers(), isProduct));
  });
}

/// Rows of a constant table, from a table with two numbers in a byte; null when they do not fit.
static Value gatherNibbles(OpBuilder &b, GatherOp op, ElementsAttr table) {
  auto type = cast<RankedTensorType>(table.getType());
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  ConstantData data(table);
  auto numbers = llvm::map_to_vector(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return static_cast<int64_t>(data.asDouble(i)); });
  if (op.getAxis() != 0 || type.getRank() != 2 || type.getDimSize(1) % 2 != 0 || isShortlist(op) ||
      !llvm::all_of(numbers, [&](int64_t number) { return fitsFourBits(isUnsigned, number); }))
    return {};
  int64_t half = type.getDimSize(1) / 2, offset = isUnsigned ? 0 : 8;
  Type byte = b.getIntegerType(8, /*isSigned=*/false);
  Location loc = op.getLoc();
  std::vector<uint8_t> packed(numbers.size() / 2);
  for (size_t i = 0; i < packed.size(); ++i) {
    size_t low = i / half * 2 * half + i % half;
    packed[i] = static_cast<uint8_t>((numbers[low] + offset) | (numbers[low + half] + offset) << 4);
  }
  auto bytes = RankedTensorType::get({type.getDimSize(0), half}, byte);
  DimExprs dims = getDims(op.getType());
  dims.back() = b.getAffineConstantExpr(half);
  RankedTensorType narrow = makeTensorType(dims, byte), whole = withElementType(op.getType(), byte);
  Value rows = GatherOp::create(b, loc, narrow, ConstantOp::create(b, loc, makeConstantOf<uint8_t>(bytes, packed)), op.getIndices(), op.getAxisAttr());
  auto splat = [&](RankedTensorType as, int64_t number) { return SplatOp::create(b, loc, as, b.getIntegerAttr(as.getElementType(), number)); };
  Value low = AndOp::create(b, loc, narrow, rows, splat(narrow, 15)), high = ShiftRightOp::create(b, loc, narrow, rows, splat(narrow, 4));
  Value joined = ConcatOp::create(b, loc, whole, ValueRange{low, high}, static_cast<int64_t>(dims.size()) - 1);
  if (isUnsigned)
    return joined;
  RankedTensorType own = withElementType(op.getType(), type.getElementType());
  return SubOp::create(b, loc, own, CastOp::create(b, loc, own, joined), splat(own, offset));
}

LogicalResult gatherIntegers(GatherOp op, PatternRewriter &rewriter) {
  auto dequantize = op.getInput().getDefiningOp<DequantizeOp>();
  if (!dequantize || !getConstant(dequantize.getX()) || getConstant(op.getIndices()))
    return rewriter.notifyMatchFailure(op, "expected computed indices into a dequantised constant");
  if (!getElementTypeOrSelf(dequantize.getX()).isInteger(8) || !dequantize.getType().getElementType().isF32() || !dequantize.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "expected bytes of a known shape");
  Value scale = gatherParameter(rewriter, op, dequantize.getScale()), zero = scale ? gatherParameter(rewriter, op, dequantize.getZeroPoint()) : Value();
  if (!zero)
    return rewriter.notifyMatchFailure(op, "expected constant scales and zero points, of the whole, of one axis or of blocks");
  Value picked = gatherNibbles(rewriter, op, getConstant(dequantize.getX()));
  if (!picked)
    picked = GatherOp::create(rewriter, op.getLoc(), withElementType(op.getType(), getElementTypeOrSelf(dequantize.getX())), dequantize.getX(),
                              op.getIndices(), op.getAxisAttr());
  rewriter.replaceOpWithNewOp<DequantizeOp>(op, op.getType(), picked, scale, zero);
  return success();
}

} // namespace kiln
