//===- QuantizedProducts.cpp - Products of quantised numbers in bytes ------===//
//
//   %r = nn.quantized_matmul %a, %w zero_points %za, %zw : tensor<2x8xui8>, tensor<8x16xi8> -> tensor<2x16xi32>
//
// becomes, if %w and %zw are constants, %za is one number and all of %w - %zw are signed bytes,
//
//   %p = nn.matmul %a, (%w - %zw) : tensor<2x8xui8>, tensor<8x16xi8> -> tensor<2x16xi32>
//   %r = nn.add %p, -%za * (sum of the weights of each column)
//
// Unsigned bytes of the left side stay unsigned and signed ones become it, or the other way round where the target's first step of bytes is for signed ones.
// Weights that are no signed bytes so, or whose zero points are computed, are counted from other numbers (ByteOperands.h), and what is left of the zero points
// is multiplied by sums of the rows of %a. A computed %w is counted from the middle of its range, and its columns are summed in a run as well.
//
// An operation with other zero points is the product of (%a - %za) and (%w - %zw), in f32 where that is exact.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/QuantizedProducts.h"
#include "dialects/nn/ByteOperands.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNContractionOps.h"
#include "dialects/nn/NNReductionOps.h"
#include "dialects/nn/NNStructureOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

//===- nn.quantized_matmul -------------------------------------------------===//

static unsigned rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// Whether the right side is a matrix of constants, whose panels are made at compile time.
static bool hasWeights(QuantizedMatmulOp op) { return op.getRhs().getType().getRank() == 2 && getConstant(op.getRhs()); }

/// Whether zero points are the same along the sum, which is not too long.
bool nn::isByteProduct(QuantizedMatmulOp op) {
  unsigned lhsRank = rankOf(op.getLhs()), rhsRank = rankOf(op.getRhs());
  if (lhsRank < 2 || !isRepeatedAlong(op.getLhsZero(), lhsRank - 1))
    return false;
  if (hasWeights(op))
    return areByteWeights(op.getRhs(), op.getRhsZero(), 1);
  auto depth = getConstantDim(getDims(op.getLhs().getType()).back());
  return isRepeatedAlong(op.getRhsZero(), rhsRank - 2) && (!depth || *depth < mostProducts);
}

static ByteOperand readLeft(OpBuilder &builder, QuantizedMatmulOp op) {
  Location loc = op.getLoc();
  Type byte = leftByte(builder, op);
  Value zero = takeFirst(builder, op.getLhsZero(), rankOf(op.getLhs()) - 1);
  return {toSignedness(builder, loc, op.getLhs(), byte), toSignedness(builder, loc, zero, byte)};
}

/// Zeros among the weights are multiplied by what fills up rows: any number.
static Value padRows(OpBuilder &builder, QuantizedMatmulOp op, const ByteOperand &lhs, int64_t more) {
  unsigned rank = rankOf(lhs.value);
  SmallVector<int64_t> low(rank, 0), high(low);
  high.back() = more;
  Type byte = getElementTypeOrSelf(lhs.value);
  Value any = rankOf(lhs.zero) == 0 ? lhs.zero : SplatOp::create(builder, op.getLoc(), RankedTensorType::get({}, byte), builder.getIntegerAttr(byte, 0));
  return padOperand(builder, op.getLoc(), {lhs.value, any}, low, high);
}

static Value multiplyWeights(OpBuilder &builder, QuantizedMatmulOp op) {
  Location loc = op.getLoc();
  ByteOperand lhs = readLeft(builder, op);
  ByteWeights weights = *readWeights(builder, op.getRhs(), op.getRhsZero(), 1);
  unsigned last = op.getType().getRank() - 1;
  int64_t depth = weights.type.getDimSize(0), more = missingBytes(depth);
  if (more)
    padWeights(weights, 0, more);
  Value rows = padRows(builder, op, lhs, more);
  Value sum = MatmulOp::create(builder, loc, op.getType(), rows, makeWeights(builder, loc, weights));
  sum = subtractZero(builder, loc, sum, lhs.zero, weights.sums, last);
  return weights.rest ? subtractProduct(builder, loc, sum, sumRows(builder, loc, {rows, lhs.zero}, depth), weights.rest) : sum;
}

static Value multiplyComputed(OpBuilder &builder, QuantizedMatmulOp op) {
  Location loc = op.getLoc();
  ByteOperand lhs = readLeft(builder, op);
  unsigned along = rankOf(op.getRhs()) - 2;
  Value rhs = toSigned(builder, loc, op.getRhs()), rest = toSigned(builder, loc, takeFirst(builder, op.getRhsZero(), along));
  Value none = SplatOp::create(builder, loc, RankedTensorType::get({}, builder.getI8Type()), builder.getI8IntegerAttr(0));
  Value sum = MatmulOp::create(builder, loc, op.getType(), lhs.value, rhs);
  if (getSplatNumber(lhs.zero) != 0.0)
    sum = subtractProduct(builder, loc, sum, sumWithoutZero(builder, loc, {rhs, none}, along), toWide(builder, loc, lhs.zero));
  if (getSplatNumber(rest) == 0.0)
    return sum;
  unsigned last = op.getType().getRank() - 1;
  auto depth = getConstantDim(getDim(lhs.value.getType(), last));
  Value rows = depth.value_or(0) > 0 ? sumRows(builder, loc, lhs, *depth) : sumWithoutZero(builder, loc, lhs, last);
  return subtractProduct(builder, loc, sum, rows, toWide(builder, loc, rest));
}

static Value multiplyWide(OpBuilder &builder, QuantizedMatmulOp op) {
  Location loc = op.getLoc();
  Type wide = sumType(builder, getDims(op.getLhs().getType()).back());
  Value lhs = centre(builder, loc, op.getLhs(), op.getLhsZero(), wide), rhs = centre(builder, loc, op.getRhs(), op.getRhsZero(), wide);
  return toSum(builder, loc, op.getType(), MatmulOp::create(builder, loc, withElementType(op.getType(), wide), lhs, rhs));
}

FailureOr<SmallVector<Value>> QuantizedMatmulOp::decompose(OpBuilder &builder) {
  if (!isByteProduct(*this))
    return SmallVector<Value>{multiplyWide(builder, *this)};
  return SmallVector<Value>{hasWeights(*this) ? multiplyWeights(builder, *this) : multiplyComputed(builder, *this)};
}

//===- Numbers -------------------------------------------------------------===//

FailureOr<SmallVector<Value>> QuantizeOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  Type real = getX().getType();
  Value scaled = getSplatNumber(getScale()) == 1.0 ? getX() : Value(DivOp::create(builder, loc, real, getX(), getScale()));
  Value rounded = RoundOp::create(builder, loc, real, scaled);
  if (getSplatNumber(getZeroPoint()) != 0.0)
    rounded = AddOp::create(builder, loc, real, rounded, CastOp::create(builder, loc, real, getZeroPoint()));
  auto low = builder.getF64FloatAttr(lowestOf(getType())), high = builder.getF64FloatAttr(highestOf(getType()));
  return SmallVector<Value>{CastOp::create(builder, loc, getType(), ClampOp::create(builder, loc, real, rounded, low, high))};
}

FailureOr<SmallVector<Value>> DequantizeOp::decompose(OpBuilder &builder) {
  Value centred = centre(builder, getLoc(), getX(), getZeroPoint(), builder.getI32Type());
  Value number = CastOp::create(builder, getLoc(), getType(), centred);
  return SmallVector<Value>{MulOp::create(builder, getLoc(), getType(), number, getScale())};
}

bool QuantizeOp::hasFusedKernel(kernel::TargetAttr) { return true; }
bool DequantizeOp::hasFusedKernel(kernel::TargetAttr) { return true; }
