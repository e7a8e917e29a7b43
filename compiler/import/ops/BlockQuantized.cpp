//===- BlockQuantized.cpp - Weights of a few bits with a scale for each block ===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/NarrowTypes.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/import/ops/PackedNumbers.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNQuantizedOps.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// MatMulNBits: a product with weights [N, K] whose rows consist of blocks of `bits`-wide numbers, packed into bytes from the lowest bits on.
class BlockQuantizedMatmul {
public:
  BlockQuantizedMatmul(Node &node, Value left, int64_t columns) : node(node), left(left), columns(columns) {}
  /// With the node's attributes, and inputs of it. Null after an error.
  Value build(const BlockOperands &operands);
  /// With weights of four bits in blocks of so many, and a scale and a zero point, which may be null, for each.
  Value build(int64_t weightDepth, int64_t weightBlock, Value weightBytes, Value weightScales, Value weightZeros);

private:
  Value multiply();
  LogicalResult readAttributes();
  Value unpack(Value bytes);
  Value zeroPoints();
  Value perWeight(Value ofBlocks);
  Value expressWeights();
  std::optional<BlockWeights> readWeights();
  bool readZeros(BlockWeights &weights);
  Value keepPacked(const BlockWeights &weights);

  Node &node;
  /// Those behind `scales` may be null.
  Value left, bytes, scales, zeros, groups, bias;
  int64_t depth = 0, columns = 0, bits = 4, block = 0, blocks = 0, level = 0;
  /// Products are computed in it: f32 for halves.
  Type wide;
};
} // namespace

/// The level of accuracy at which A may be rounded to bytes with a scale for each block.
static constexpr int64_t bytesLevel = 4;

LogicalResult BlockQuantizedMatmul::readAttributes() {
  depth = node.requireInt("K");
  block = node.requireInt("block_size");
  bits = node.getInt("bits", 4);
  level = node.getInt("accuracy_level", 0);
  if (node.getInt("weight_prepacked", 0) != 0)
    return node.unsupported("weights that are packed for another machine", "export the model with weight_prepacked = 0");
  if (node.failed())
    return failure();
  if (bits != 2 && bits != 4 && bits != 8)
    return node.error("attribute 'bits' is " + Twine(bits) + ", expected 2, 4 or 8");
  if (depth < 1 || columns < 1 || block < 16 || !llvm::isPowerOf2_64(block))
    return node.error("attributes K, N and block_size are " + Twine(depth) + ", " + Twine(columns) + " and " + Twine(block) +
                      ", expected positive numbers and a power of two of at least 16");
  // Far beyond what the limits of sizes allow, so that products of these numbers are computed without overflow.
  constexpr int64_t most = int64_t(1) << 28;
  if (depth > most || columns > most || block > most)
    return node.error("attributes K, N and block_size are " + Twine(depth) + ", " + Twine(columns) + " and " + Twine(block) + ", expected at most " +
                      Twine(most));
  if (level < 0 || level > bytesLevel)
    return node.error("attribute 'accuracy_level' is " + Twine(level) + ", expected 0 to " + Twine(bytesLevel));
  return success();
}

Value unpackNumbers(Node &node, Value bytes, int64_t bits) {
  if (bits == 8 || node.failed())
    return bytes;
  DimExprs dims = node.dims(bytes), single = dims, all = dims;
  single.push_back(node.number(1));
  all.back() = nn::simplifyDim(all.back() * (8 / bits));
  SmallVector<Value> parts;
  for (int64_t low = 0; low < 8; low += bits) {
    Value shifted = low ? node.binary<ShiftRightOp>(bytes, static_cast<double>(low)) : bytes;
    parts.push_back(node.reshape(node.binary<AndOp>(shifted, node.splatLike(shifted, (1 << bits) - 1)), single));
  }
  return node.reshape(node.concat(parts, dims.size()), all);
}

Value BlockQuantizedMatmul::unpack(Value bytes) { return unpackNumbers(node, bytes, bits); }

/// [N, blocks]: given as numbers, or packed as the weights are, or the middle of the range.
Value BlockQuantizedMatmul::zeroPoints() {
  DimExprs shape = {node.number(columns), node.number(blocks)};
  if (!zeros)
    return node.splat(shape, wide, 1 << (bits - 1));
  AffineExpr count = nn::getNumElements(node.dims(zeros), node.context());
  if (isa<FloatType>(node.elementType(zeros)))
    return node.unify(count, node.number(columns * blocks), "the zero points do not fit the blocks") ? node.cast(node.reshape(zeros, shape), wide) : zeros;
  int64_t stored = llvm::divideCeil(blocks * bits, 8);
  if (!node.unify(count, node.number(columns * stored), "the zero points do not fit the blocks"))
    return zeros;
  Value numbers = unpack(node.reshape(zeros, {node.number(columns), node.number(stored)}));
  return node.cast(node.slice(numbers, 1, node.number(0), node.number(blocks)), wide);
}

/// One number for each weight [N, K] from those of blocks [N, blocks].
Value BlockQuantizedMatmul::perWeight(Value ofBlocks) {
  AffineExpr n = node.number(columns), b = node.number(blocks);
  if (groups && !node.failed()) {
    AffineExpr count = nn::getNumElements(node.dims(groups), node.context());
    node.requireNotNegative(count - depth, "g_idx has fewer than K numbers");
    if (node.failed())
      return ofBlocks;
    return buildGather(node, ofBlocks, node.slice(node.reshape(groups, {count}), 0, node.number(0), node.number(depth)), 1);
  }
  Value spread = node.broadcastTo(node.reshape(ofBlocks, {n, b, node.number(1)}), {n, b, node.number(block)});
  return node.slice(node.reshape(spread, {n, node.number(blocks * block)}), 1, node.number(0), node.number(depth));
}

//===- Weights that stay packed --------------------------------------------===//

/// `count` numbers of `bits` each, from the lowest bits of the first byte on.
static std::vector<uint8_t> readNumbers(const uint8_t *bytes, int64_t count, int64_t bits) {
  std::vector<uint8_t> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = static_cast<uint8_t>(bytes[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1));
  return numbers;
}

/// Constant zero points as whole numbers in the range of the weights; false when they are something else.
bool BlockQuantizedMatmul::readZeros(BlockWeights &weights) {
  if (!zeros)
    return true;
  ElementsAttr constant = getConstant(zeros);
  int64_t stored = llvm::divideCeil(blocks * bits, 8);
  bool isReal = isa<FloatType>(node.elementType(zeros));
  if (!constant || constant.getNumElements() != columns * (isReal ? blocks : stored))
    return false;
  ConstantData data(constant);
  for (int64_t i = 0; i < data.numElements() && isReal; ++i) {
    double zero = data.asDouble(i);
    if (!(zero >= 0 && zero < 1 << bits) || zero != static_cast<int64_t>(zero))
      return false;
    weights.zeros.push_back(static_cast<uint8_t>(zero));
  }
  for (int64_t n = 0; n < columns && !isReal; ++n)
    llvm::append_range(weights.zeros, readNumbers(reinterpret_cast<const uint8_t *>(data.bytes().data()) + n * stored, blocks, bits));
  weights.simplifyZeros();
  return true;
}

/// Whether sums of a block may be multiplied by its scale, instead of each weight.
static bool areFinite(ElementsAttr scales) {
  if (!scales)
    return false;
  ConstantData data(scales);
  return llvm::all_of(llvm::seq<int64_t>(0, data.numElements()), [&](int64_t i) { return std::isfinite(data.asDouble(i)); });
}

/// Weights that a kernel reads as they are; nullopt when they or what belongs to them is computed, in another order or of other widths, or when a scale is not
/// finite.
std::optional<BlockWeights> BlockQuantizedMatmul::readWeights() {
  ElementsAttr constant = getConstant(bytes);
  if (node.failed() || !constant || bits == 2 || !wide.isF32() || groups || !areFinite(getConstant(scales)))
    return std::nullopt;
  BlockWeights weights{columns, blocks, block, bits, {}, {}};
  if (!readZeros(weights))
    return std::nullopt;
  weights.numbers = readNumbers(reinterpret_cast<const uint8_t *>(ConstantData(constant).bytes().data()), columns * blocks * block, bits);
  return weights;
}

Value BlockQuantizedMatmul::keepPacked(const BlockWeights &weights) {
  AffineExpr n = node.number(columns), b = node.number(blocks);
  Value a = node.cast(left, wide);
  DimExprs dims = node.dims(a);
  if (blocks * block != depth) {
    DimExprs more = dims;
    dims.back() = node.number(blocks * block);
    more.back() = node.number(blocks * block - depth);
    a = node.concat({a, node.splat(more, wide, 0)}, dims.size() - 1);
  }
  Value lhsScale, lhsSum;
  if (level >= bytesLevel) {
    DimExprs apart = dims, single = dims;
    apart.back() = single.back() = b;
    apart.push_back(node.number(block));
    single.push_back(node.number(1));
    auto axis = static_cast<int64_t>(dims.size());
    Value pieces = node.reshape(a, apart);
    Type byte = node.builder().getI8Type();
    lhsScale = node.binary<DivOp>(node.reduce(ReduceKind::Max, node.unary<AbsOp>(pieces), {axis}, false), 127.0);
    Value spread = node.broadcastTo(node.reshape(lhsScale, single), apart);
    Value rounded = node.make<QuantizeOp>(node.type(apart, byte), pieces, spread, node.splat(apart, byte, 0));
    lhsSum = node.reduce(ReduceKind::Sum, node.cast(rounded, node.builder().getI32Type()), {axis}, false);
    a = node.reshape(rounded, dims);
  }
  ElementsAttr points = weights.makeZeros(node.context());
  dims.back() = n;
  Value weight = node.constant(weights.makeWeight(node.context())), zero = points ? node.constant(points) : Value();
  ConstantData data(getConstant(scales));
  auto perBlock = RankedTensorType::get({columns, blocks}, node.elementType(scales));
  Value scale = node.constant(makeConstant(perBlock, std::vector<char>(data.bytes().begin(), data.bytes().end())));
  return node.failed() ? a : node.make<BlockQuantizedMatmulOp>(node.type(dims, wide), a, weight, scale, zero, lhsScale, lhsSum,
                                                               node.builder().getI64IntegerAttr(bits));
}

/// The product with weights that are made f32.
Value BlockQuantizedMatmul::expressWeights() {
  AffineExpr n = node.number(columns);
  Value numbers = node.slice(unpack(node.reshape(bytes, {n, node.number(blocks * block * bits / 8)})), 1, node.number(0), node.number(depth));
  Value centred = node.binary<SubOp>(node.cast(numbers, wide), perWeight(zeroPoints()));
  Value weights = node.binary<MulOp>(centred, perWeight(node.cast(node.reshape(scales, {n, node.number(blocks)}), wide)));
  return node.failed() ? left : buildMatmul(node, node.cast(left, wide), node.transpose(weights, {1, 0}));
}

Value BlockQuantizedMatmul::multiply() {
  wide = node.wideType(left);
  blocks = llvm::divideCeil(depth, block);
  AffineExpr n = node.number(columns), stored = node.number(blocks * block * bits / 8);
  if (!node.unify(nn::getNumElements(node.dims(bytes), node.context()), n * stored, "B does not have the bytes of N rows of K numbers") ||
      !node.unify(nn::getNumElements(node.dims(scales), node.context()), node.number(columns * blocks), "the scales do not fit the blocks"))
    return {};
  auto weights = node.rank(left) > 0 ? readWeights() : std::nullopt;
  if (weights && !node.unify(node.dims(left).back(), node.number(depth), "A does not have rows of K numbers"))
    return {};
  Value product = weights ? keepPacked(*weights) : expressWeights();
  if (node.failed())
    return {};
  if (bias) {
    Value aligned = node.cast(alignDims(node, bias, {n}, "the bias does not have N numbers"), wide);
    product = node.failed() ? product : node.binary<AddOp>(product, node.broadcastTo(aligned, node.dims(product)));
  }
  return node.failed() ? Value() : node.cast(product, node.elementType(left));
}

Value BlockQuantizedMatmul::build(const BlockOperands &operands) {
  auto given = [&](int input) { return input < 0 ? Value() : node.optionalInput(input); };
  bytes = node.input(operands.weight);
  scales = node.input(operands.scales);
  if (failed(readAttributes()))
    return {};
  zeros = given(operands.zeroPoints);
  groups = given(operands.groups);
  bias = given(operands.bias);
  return multiply();
}

Value BlockQuantizedMatmul::build(int64_t weightDepth, int64_t weightBlock, Value weightBytes, Value weightScales, Value weightZeros) {
  depth = weightDepth;
  block = weightBlock;
  bytes = weightBytes;
  scales = weightScales;
  zeros = weightZeros;
  return node.failed() ? Value() : multiply();
}

Value buildBlockQuantizedMatmul(Node &node, const BlockOperands &operands) {
  Value product = node.failed() ? Value() : BlockQuantizedMatmul(node, operands.left, operands.columns).build(operands);
  return product ? product : operands.left;
}

static LogicalResult matmulNBits(Node &node) {
  return node.result(buildBlockQuantizedMatmul(node, {node.input(0), node.requireInt("N"), 1, 2, 3, 4, 5}));
}

//===- MatMulFpQ4 ----------------------------------------------------------===//

namespace {
/// Weights [K, N] as MatMulFpQ4 has them: blocks of 32 numbers of each column, one behind the other. A block is a scale, with blk_quant_type 1 a byte for its
/// zero point, and 16 bytes, whose lower halves are the first 16 numbers. No document says so: ONNX Runtime 1.30 reads them in this way.
struct ColumnBlocks {
  static constexpr int64_t block = 32;
  std::vector<char> bytes;
  std::vector<float> scales, zeros;

  ColumnBlocks(ArrayRef<char> blob, bool hasZeros) {
    constexpr int64_t half = block / 2;
    for (size_t size = sizeof(float) + hasZeros + half; blob.size() >= size; blob = blob.drop_front(size)) {
      float scale;
      std::memcpy(&scale, blob.data(), sizeof(float));
      scales.push_back(scale);
      if (hasZeros)
        zeros.push_back(static_cast<uint8_t>(blob[sizeof(float)]));
      ArrayRef<char> pairs = blob.slice(sizeof(float) + hasZeros, half);
      auto number = [&](int64_t i) { return static_cast<uint8_t>(pairs[i % half]) >> (i < half ? 0 : 4) & 15; };
      for (int64_t i = 0; i < block; i += 2)
        bytes.push_back(static_cast<char>(number(i) | number(i + 1) << 4));
    }
  }
};
} // namespace

static LogicalResult matmulFpQ4(Node &node) {
  Value a = node.input(0), blob = node.input(1);
  auto shape = node.constantIntegers(2, "B_shape");
  int64_t kind = node.getInt("blk_quant_type", 1);
  if (node.failed() || !shape)
    return failure();
  if (kind != 0 && kind != 1)
    return node.unsupported("blk_quant_type " + Twine(kind) + ", whose weights no document describes and releases of ONNX Runtime pack differently",
                            "use 0 or 1, or MatMulNBits");
  constexpr int64_t most = int64_t(1) << 28;
  if (shape->size() != 2 || llvm::any_of(*shape, [&](int64_t size) { return size < 1 || size > most; }))
    return node.error("B_shape is not two numbers from 1 to " + Twine(most));
  ElementsAttr constant = getConstant(blob);
  if (!constant)
    return node.unsupported("weights that are computed", "make B an initializer");
  int64_t depth = (*shape)[0], columns = (*shape)[1], blocks = columns * llvm::divideCeilSigned(depth, ColumnBlocks::block);
  int64_t size = static_cast<int64_t>(sizeof(float)) + kind + ColumnBlocks::block / 2;
  if (!node.unify(node.dims(blob)[0], node.number(blocks * size), "B does not have the bytes of N columns of K numbers"))
    return failure();
  ConstantData data(constant);
  ColumnBlocks weights(data.bytes(), kind == 1);
  Type f32 = node.builder().getF32Type();
  auto reals = [&](ArrayRef<float> numbers) { return node.constant(makeConstantOf<float>(RankedTensorType::get({blocks}, f32), numbers)); };
  auto packed = RankedTensorType::get({static_cast<int64_t>(weights.bytes.size())}, node.elementType(blob));
  Value product = BlockQuantizedMatmul(node, a, columns)
                      .build(depth, ColumnBlocks::block, node.constant(makeConstant(packed, weights.bytes)), reals(weights.scales),
                             kind == 1 ? reals(weights.zeros) : Value());
  return product ? node.result(product) : failure();
}

//===- Weights of narrow floats ----------------------------------------------===//

/// One number for each of `depth` weights in a row, from those of the row's blocks: [N, K] from [N, ceil(K / block)].
static Value spreadBlocks(Node &node, Value ofBlocks, AffineExpr rows, int64_t depth, int64_t block) {
  AffineExpr count = node.number(llvm::divideCeilSigned(depth, block)), one = node.number(1);
  ofBlocks = alignDims(node, ofBlocks, {rows, count}, "the scales do not fit the blocks");
  if (node.failed())
    return ofBlocks;
  Value spread = node.broadcastTo(node.reshape(ofBlocks, {rows, count, one}), {rows, count, node.number(block)});
  return node.slice(node.reshape(spread, {rows, nn::simplifyDim(count * block)}), 1, node.number(0), node.number(depth));
}

/// left * weights^T + bias for weights [N, K] of f32, which are rounded to the type of the result first; the rest is computed in f32.
static LogicalResult multiplyFloats(Node &node, Value left, Type element, Value weights, Value bias) {
  if (node.failed())
    return failure();
  Type wide = node.builder().getF32Type();
  AffineExpr columns = node.dims(weights)[0];
  DimExprs dims = node.dims(left), rows = dims;
  if (rows.size() == 1)
    rows.insert(rows.begin(), node.number(1));
  weights = node.transpose(node.cast(node.cast(weights, element), wide), {1, 0});
  Value product = node.matmul(node.reshape(node.cast(left, wide), rows), weights);
  if (bias && !node.failed()) {
    Value aligned = node.cast(alignDims(node, bias, {columns}, "the bias does not have N numbers"), wide);
    product = node.failed() ? product : node.binary<AddOp>(product, node.broadcastTo(aligned, node.dims(product)));
  }
  if (node.failed())
    return failure();
  dims.back() = columns;
  return node.result(node.cast(node.reshape(product, dims), element));
}

/// A scale of the whole tensor, of rank 0 or 1.
static Value readScale(Node &node, unsigned input) { return node.reshape(node.input(input), {}); }

/// The numbers in a row of weights, whose number of bytes must be known; 0 after an error.
static int64_t readDepth(Node &node, Value left, Value weights, int64_t perByte) {
  if (node.failed() || !node.expectRank(weights, 2, "B"))
    return 0;
  auto bytes = nn::getConstantDim(node.dims(weights)[1]);
  if (node.rank(left) < 1 || !bytes || *bytes < 1)
    (void)node.error("expected A [..., K] and B [N, K] with a static K");
  return node.failed() ? 0 : *bytes * perByte;
}

/// Weights of four bits (float4e2m1), a scale of eight bits for each block of them and one for all. Scales in bytes are float8e4m3fn (NVFP4); those of type
/// float8e8m0 are powers of two (MXFP4), which need none for all. What GPUs round the left side by, the fifth input, changes nothing here.
static LogicalResult matmulFp4Weight(Node &node) {
  Value a = node.input(0), b = node.input(1), scales = node.input(2);
  int64_t kind = node.narrowType(2) == onnx::TensorProto::FLOAT8E8M0 ? onnx::TensorProto::FLOAT8E8M0 : onnx::TensorProto::FLOAT8E4M3FN;
  Value whole = node.hasInput(3) || kind == onnx::TensorProto::FLOAT8E4M3FN ? readScale(node, 3) : Value();
  (void)node.hasInput(4);
  Value bias = node.optionalInput(5);
  int64_t block = node.getInt("block_size", 16), depth = readDepth(node, a, b, 2);
  if (node.failed())
    return failure();
  Value numbers = decodeNarrowFloat(node, unpackNumbers(node, b, 4), onnx::TensorProto::FLOAT4E2M1);
  Value ofBlocks = decodeNarrowFloat(node, scales, kind);
  if (whole && !node.failed())
    ofBlocks = node.binary<MulOp>(ofBlocks, whole);
  Value spread = spreadBlocks(node, ofBlocks, node.dims(b)[0], depth, block);
  return node.failed() ? failure() : multiplyFloats(node, a, node.elementType(a), node.binary<MulOp>(numbers, spread), bias);
}

/// Weights of eight bits (float8e4m3fn) with a scale of f32 for each block. With a scale for the left side, that is rounded to eight bits, too.
static LogicalResult matmulFp8Weight(Node &node) {
  Value a = node.input(0), b = node.input(1), scales = node.input(2), bias = node.optionalInput(4);
  int64_t block = node.getInt("block_size", 128), depth = readDepth(node, a, b, 1), kind = onnx::TensorProto::FLOAT8E4M3FN;
  if (node.failed())
    return failure();
  Value left = a;
  if (node.hasInput(3)) {
    Value scale = readScale(node, 3), scaled = node.binary<DivOp>(node.cast(a, node.builder().getF32Type()), scale);
    left = node.binary<MulOp>(decodeNarrowFloat(node, encodeNarrowFloat(node, scaled, kind, /*saturates=*/true), kind), scale);
  }
  Value spread = spreadBlocks(node, scales, node.dims(b)[0], depth, block);
  return node.failed() ? failure() : multiplyFloats(node, left, node.elementType(a), node.binary<MulOp>(decodeNarrowFloat(node, b, kind), spread), bias);
}

/// The product of kernels without a model whose right side the caller packs: weights [N, blocks, bytes], whose bytes lie as their kernel wants them, and a
/// scale for each block. Its domain is Kiln's own.
static LogicalResult blockMatmul(Node &node) {
  Value a = node.input(0), weight = node.input(1), scale = node.input(2);
  int64_t bits = node.requireInt("bits");
  if (node.failed() || !node.expectRank(weight, 3, "the weight"))
    return failure();
  DimExprs dims = node.dims(a), of = node.dims(weight);
  auto bytes = nn::getConstantDim(of[2]);
  int64_t block = (bits == 4 || bits == 8) && bytes ? *bytes * 8 / bits : 0;
  if (dims.empty() || block < 1 || block % weightsPerBlock != 0)
    return node.error("a block has " + Twine(block) + " weights, expected a multiple of " + Twine(weightsPerBlock));
  dims.back() = nn::simplifyDim(of[1] * block);
  a = alignDims(node, a, dims, "rows of the left side do not have the weights of the blocks");
  scale = alignDims(node, scale, {of[0], of[1]}, "expected a scale for each block");
  dims.back() = of[0];
  if (node.failed())
    return failure();
  return node.result(node.make<BlockQuantizedMatmulOp>(node.type(dims, node.elementType(a)), a, weight, scale, Value(), Value(), Value(),
                                                       node.builder().getI64IntegerAttr(bits)));
}

//===- Rows of quantised tables --------------------------------------------===//

namespace {
/// GatherBlockQuantized: slices of a quantised table. What is picked is dequantised, not the table.
class GatherBlockQuantized {
public:
  explicit GatherBlockQuantized(Node &node) : node(node) {}
  LogicalResult run();

private:
  LogicalResult readAttributes(Value data);
  LogicalResult checkParameter(Value parameter, bool isPacked, StringRef what);
  Value pick(Value parameter, Value indices);
  Value perNumber(Value ofBlocks);

  Node &node;
  int64_t gatherAxis = 0, blockAxis = 0, block = 0, bits = 4;
  /// Whether bytes hold several numbers each.
  bool isPacked = false;
  /// Of the table in numbers, and of the result.
  DimExprs table, picked;
  /// Of the blocks, in the result.
  int64_t resultAxis = 0;
};
} // namespace

LogicalResult GatherBlockQuantized::readAttributes(Value data) {
  gatherAxis = node.axis(node.getInt("gather_axis", 0), node.rank(data), "gather_axis");
  blockAxis = node.axis(node.getInt("quantize_axis", 1), node.rank(data), "quantize_axis");
  block = node.getInt("block_size", 128);
  bits = node.getInt("bits", 4);
  if (node.failed())
    return failure();
  if (bits != 2 && bits != 4 && bits != 8)
    return node.error("attribute 'bits' is " + Twine(bits) + ", expected 2, 4 or 8");
  if (block < 16 || !llvm::isPowerOf2_64(block))
    return node.error("attribute 'block_size' is " + Twine(block) + ", expected a power of two of at least 16");
  table = node.dims(data);
  bool areBytes = node.narrowType(0) == 0;
  if (!areBytes && bits != 4)
    return node.error("attribute 'bits' is " + Twine(bits) + ", but data has numbers of 4 bits");
  isPacked = areBytes && bits < 8;
  if (isPacked)
    table.back() = nn::simplifyDim(table.back() * (8 / bits));
  if (areBytes && (gatherAxis != 0 || blockAxis != node.rank(data) - 1))
    return node.error("data of uint8 needs gather_axis 0 and the last dimension as quantize_axis; got " + Twine(gatherAxis) + " and " + Twine(blockAxis));
  if (isPacked && gatherAxis == blockAxis)
    return node.unsupported("packed data of one dimension", "use int4 or uint4");
  return success();
}

/// Scales and zero points have a number for each block; zero points of packed data are packed, too.
LogicalResult GatherBlockQuantized::checkParameter(Value parameter, bool packed, StringRef what) {
  DimExprs own = node.dims(parameter);
  if (!node.expectRank(parameter, static_cast<int64_t>(table.size()), what))
    return failure();
  for (auto [i, dim] : llvm::enumerate(table)) {
    AffineExpr wanted = static_cast<int64_t>(i) == blockAxis ? dim.ceilDiv(block) : dim;
    if (static_cast<int64_t>(i) == blockAxis && packed)
      wanted = wanted.ceilDiv(8 / bits);
    if (!node.unify(own[i], nn::simplifyDim(wanted), what + Twine(" do not have a number for each block: dimension ") + Twine(i)))
      return failure();
  }
  return success();
}

/// What belongs to the indices, of scales or zero points. Along the dimension of the blocks, an index is in block index / size.
Value GatherBlockQuantized::pick(Value parameter, Value indices) {
  if (gatherAxis != blockAxis || node.failed())
    return buildGather(node, parameter, indices, gatherAxis);
  Value wide = node.cast(indices, node.builder().getI64Type());
  Contents size = {{table[gatherAxis]}};
  Value extent = materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), size);
  Value isNegative = node.compare<LessOp>(wide, node.splatLike(wide, 0));
  Value fromFront = node.make<SelectOp>(wide.getType(), isNegative, node.binary<AddOp>(wide, node.broadcastTo(extent, node.dims(wide))), wide);
  return buildGather(node, parameter, node.binary<DivOp>(fromFront, static_cast<double>(block)), gatherAxis);
}

/// One number for each of those that are picked.
Value GatherBlockQuantized::perNumber(Value ofBlocks) {
  if (gatherAxis == blockAxis || node.failed())
    return ofBlocks;
  DimExprs own = node.dims(ofBlocks), apart = own, repeated = own, joined = own;
  apart.insert(apart.begin() + resultAxis + 1, node.number(1));
  repeated.insert(repeated.begin() + resultAxis + 1, node.number(block));
  joined[resultAxis] = nn::simplifyDim(own[resultAxis] * block);
  Value whole = node.reshape(node.broadcastTo(node.reshape(ofBlocks, apart), repeated), joined);
  return node.slice(whole, resultAxis, node.number(0), picked[resultAxis]);
}

LogicalResult GatherBlockQuantized::run() {
  Value data = node.input(0), indices = node.input(1), scales = node.input(2), zeros = node.optionalInput(3);
  if (node.failed() || failed(readAttributes(data)) || failed(checkParameter(scales, false, "the scales")) ||
      (zeros && failed(checkParameter(zeros, isPacked, "the zero points"))))
    return failure();
  Value numbers = buildGather(node, data, indices, gatherAxis);
  if (isPacked)
    numbers = unpackNumbers(node, numbers, bits);
  if (node.failed())
    return failure();
  picked = node.dims(numbers);
  resultAxis = blockAxis > gatherAxis ? blockAxis + node.rank(indices) - 1 : blockAxis;
  Type real = node.builder().getF32Type();
  Value scale = perNumber(node.cast(pick(scales, indices), real)), zero;
  if (zeros) {
    zero = pick(zeros, indices);
    if (isPacked && !node.failed())
      zero = node.slice(unpackNumbers(node, zero, bits), resultAxis, node.number(0), nn::simplifyDim(table[blockAxis].ceilDiv(block)));
    zero = perNumber(zero);
  } else {
    zero = node.splatLike(numbers, node.narrowType(0) == 0 ? 1 << (bits - 1) : 0);
  }
  if (node.failed())
    return failure();
  Value result = node.make<DequantizeOp>(node.type(picked, real), numbers, scale, zero);
  return node.failed() ? failure() : node.result(node.cast(result, node.elementType(scales)));
}

static LogicalResult gatherBlockQuantized(Node &node) { return GatherBlockQuantized(node).run(); }

ArrayRef<Operator> getBlockQuantizedOperators() {
  static const Operator rows[] = {
      {"BlockMatMul", 1, Elements::Float, blockMatmul, INT64_MAX, "kiln"},
      {"GatherBlockQuantized", 1, Elements::Narrow, gatherBlockQuantized, INT64_MAX, "com.microsoft"},
      {"MatMulBlockQuantizedFp4Weight", 1, Elements::Narrow, matmulFp4Weight, INT64_MAX, "com.microsoft"},
      {"MatMulBlockQuantizedFp8Weight", 1, Elements::Narrow, matmulFp8Weight, INT64_MAX, "com.microsoft"},
      {"MatMulFpQ4", 1, Elements::Float, matmulFpQ4, INT64_MAX, "com.microsoft"},
      {"MatMulNBits", 1, Elements::Float, matmulNBits, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
