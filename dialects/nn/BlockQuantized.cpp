//===- BlockQuantized.cpp - Weights of a few bits in blocks -----------------===//
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/Dims.h"
#include "dialects/nn/Verify.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nn;

//===- Constants -----------------------------------------------------------===//

void BlockWeights::simplifyZeros() {
  if (llvm::all_of(zeros, [&](uint8_t zero) { return zero == 1 << (bits - 1); }))
    zeros.clear();
}

static Type byteType(MLIRContext *context) { return IntegerType::get(context, 8, IntegerType::Unsigned); }

ElementsAttr BlockWeights::makeWeight(MLIRContext *context) const {
  int64_t bytes = block * bits / 8;
  auto type = RankedTensorType::get({columns, blocks, bytes}, byteType(context));
  if (bits == 8)
    return makeConstantOf<uint8_t>(type, numbers);
  std::vector<uint8_t> packed(columns * blocks * bytes);
  for (int64_t i = 0; i < columns * blocks; ++i)
    for (int64_t j = 0; j < bytes; ++j)
      packed[i * bytes + j] = static_cast<uint8_t>(numbers[i * block + j] | numbers[i * block + bytes + j] << 4);
  return makeConstantOf<uint8_t>(type, packed);
}

ElementsAttr BlockWeights::makeZeros(MLIRContext *context) const {
  return zeros.empty() ? ElementsAttr() : makeConstantOf<uint8_t>(RankedTensorType::get({columns, blocks}, byteType(context)), zeros);
}

//===- nn.block_quantized_matmul -------------------------------------------===//

static LogicalResult verifyElements(Operation *op, Value value, StringRef what, Type wanted) {
  Type element = getElementTypeOrSelf(value.getType());
  return element == wanted ? success() : op->emitOpError() << what << " has elements of " << element << ", expected " << wanted;
}

/// The sizes of the weights, on which everything else is measured.
static LogicalResult verifyWeight(BlockQuantizedMatmulOp op) {
  RankedTensorType type = op.getWeight().getType();
  if (op.getBits() != 4 && op.getBits() != 8)
    return op.emitOpError() << "expected 4 or 8 bits; got " << op.getBits();
  if (failed(verifyElements(op, op.getWeight(), "the weight", byteType(op.getContext()))))
    return failure();
  if (type.getRank() != 3 || type.isDynamicDim(2) || llvm::is_contained(type.getShape(), 0))
    return op.emitOpError() << "expected a weight of columns, blocks and bytes; got " << type;
  if (op.getBlock() % weightsPerBlock != 0)
    return op.emitOpError() << "a block has " << op.getBlock() << " weights, expected a multiple of " << weightsPerBlock;
  return success();
}

LogicalResult BlockQuantizedMatmulOp::verify() {
  if (failed(verifyWeight(*this)))
    return failure();
  Builder b(getContext());
  DimExprs weight = getDims(getWeight().getType()), perBlock = {weight[0], weight[1]}, lhs = getDims(getLhs().getType());
  AffineExpr depth = simplifyDim(weight[1] * getBlock());
  if (lhs.empty() || !provablyEqual(lhs.back(), depth))
    return emitOpError() << "expected rows of " << formatDim(depth) << " on the left side; got " << getLhs().getType();
  if (!isa<FloatType>(getScale().getType().getElementType()) || getScale().getType().getElementType().isF64())
    return emitOpError() << "the scale has elements of " << getScale().getType().getElementType() << ", expected f32, f16 or bf16";
  if (failed(verifyDims(*this, getScale().getType(), perBlock, "the scale")))
    return failure();
  if (Value zero = getZeroPoint())
    if (failed(verifyElements(*this, zero, "the zero point", byteType(getContext()))) || failed(verifyDims(*this, zero.getType(), perBlock, "the zero point")))
      return failure();
  bool isRounded = bool(getLhsScale());
  if (isRounded != bool(getLhsSum()))
    return emitOpError("expected a rounded left side to have both scales and sums");
  if (failed(verifyElements(*this, getLhs(), "the left side", isRounded ? Type(b.getI8Type()) : Type(b.getF32Type()))))
    return failure();
  DimExprs ofRows = lhs, result = lhs;
  ofRows.back() = weight[1];
  result.back() = perBlock.front();
  if (isRounded && (failed(verifyElements(*this, getLhsScale(), "the left scale", b.getF32Type())) ||
                    failed(verifyElements(*this, getLhsSum(), "the sum of the left side", b.getI32Type())) ||
                    failed(verifyDims(*this, getLhsScale().getType(), ofRows, "the left scale")) ||
                    failed(verifyDims(*this, getLhsSum().getType(), ofRows, "the sum of the left side"))))
    return failure();
  return verifyDims(*this, getType(), result, "the result");
}
