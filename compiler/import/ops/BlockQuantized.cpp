//===- BlockQuantized.cpp - Weights of a few bits with a scale for each block ===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/PackedNumbers.h"
#include "dialects/nn/BlockQuantized.h"
#include "dialects/nn/ConstantData.h"
#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// MatMulNBits: a product with weights [N, K] whose rows consist of blocks of `bits`-wide numbers, packed into bytes from the lowest bits on.
class BlockQuantizedMatmul {
public:
  BlockQuantizedMatmul(Node &node, const BlockOperands &operands) : node(node), operands(operands), columns(operands.columns) {}
  /// Null after an error.
  Value build();

private:
  LogicalResult readAttributes();
  Value unpack(Value bytes);
  Value zeroPoints();
  Value perWeight(Value ofBlocks);
  Value expressWeights(Value a, Value bytes, Value scales);
  std::optional<BlockWeights> readWeights(Value bytes);
  bool readZeros(BlockWeights &weights);
  Value keepPacked(Value a, const BlockWeights &weights, Value scales);

  /// An operand's input, or null.
  Value given(int input) { return input < 0 ? Value() : node.optionalInput(input); }

  Node &node;
  const BlockOperands &operands;
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
  blocks = llvm::divideCeil(depth, block);
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
  Value given = this->given(operands.zeroPoints);
  if (!given)
    return node.splat(shape, wide, 1 << (bits - 1));
  AffineExpr count = nn::getNumElements(node.dims(given), node.context());
  if (isa<FloatType>(node.elementType(given)))
    return node.unify(count, node.number(columns * blocks), "the zero points do not fit the blocks") ? node.cast(node.reshape(given, shape), wide) : given;
  int64_t bytes = llvm::divideCeil(blocks * bits, 8);
  if (!node.unify(count, node.number(columns * bytes), "the zero points do not fit the blocks"))
    return given;
  Value numbers = unpack(node.reshape(given, {node.number(columns), node.number(bytes)}));
  return node.cast(node.slice(numbers, 1, node.number(0), node.number(blocks)), wide);
}

/// One number for each weight [N, K] from those of blocks [N, blocks].
Value BlockQuantizedMatmul::perWeight(Value ofBlocks) {
  AffineExpr n = node.number(columns), b = node.number(blocks);
  if (Value groups = given(operands.groups); groups && !node.failed()) {
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
  Value given = this->given(operands.zeroPoints);
  if (!given)
    return true;
  ElementsAttr constant = getConstant(given);
  int64_t bytes = llvm::divideCeil(blocks * bits, 8);
  bool isReal = isa<FloatType>(node.elementType(given));
  if (!constant || constant.getNumElements() != columns * (isReal ? blocks : bytes))
    return false;
  ConstantData data(constant);
  for (int64_t i = 0; i < data.numElements() && isReal; ++i) {
    double zero = data.asDouble(i);
    if (!(zero >= 0 && zero < 1 << bits) || zero != static_cast<int64_t>(zero))
      return false;
    weights.zeros.push_back(static_cast<uint8_t>(zero));
  }
  for (int64_t n = 0; n < columns && !isReal; ++n)
    llvm::append_range(weights.zeros, readNumbers(reinterpret_cast<const uint8_t *>(data.bytes().data()) + n * bytes, blocks, bits));
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
std::optional<BlockWeights> BlockQuantizedMatmul::readWeights(Value bytes) {
  ElementsAttr constant = getConstant(bytes);
  if (node.failed() || !constant || bits == 2 || !wide.isF32() || given(operands.groups) || !areFinite(getConstant(node.input(operands.scales))))
    return std::nullopt;
  BlockWeights weights{columns, blocks, block, bits, {}, {}};
  if (!readZeros(weights))
    return std::nullopt;
  weights.numbers = readNumbers(reinterpret_cast<const uint8_t *>(ConstantData(constant).bytes().data()), columns * blocks * block, bits);
  return weights;
}

Value BlockQuantizedMatmul::keepPacked(Value a, const BlockWeights &weights, Value scales) {
  AffineExpr n = node.number(columns), b = node.number(blocks);
  a = node.cast(a, wide);
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
  ElementsAttr zeros = weights.makeZeros(node.context());
  dims.back() = n;
  Value weight = node.constant(weights.makeWeight(node.context())), zero = zeros ? node.constant(zeros) : Value();
  ConstantData data(getConstant(scales));
  auto perBlock = RankedTensorType::get({columns, blocks}, node.elementType(scales));
  Value scale = node.constant(makeConstant(perBlock, std::vector<char>(data.bytes().begin(), data.bytes().end())));
  return node.failed() ? a : node.make<BlockQuantizedMatmulOp>(node.type(dims, wide), a, weight, scale, zero, lhsScale, lhsSum,
                                                               node.builder().getI64IntegerAttr(bits));
}

/// The product with weights that are made f32.
Value BlockQuantizedMatmul::expressWeights(Value a, Value bytes, Value scales) {
  AffineExpr n = node.number(columns);
  Value numbers = node.slice(unpack(node.reshape(bytes, {n, node.number(blocks * block * bits / 8)})), 1, node.number(0), node.number(depth));
  Value centred = node.binary<SubOp>(node.cast(numbers, wide), perWeight(zeroPoints()));
  Value weights = node.binary<MulOp>(centred, perWeight(node.cast(node.reshape(scales, {n, node.number(blocks)}), wide)));
  return node.failed() ? a : buildMatmul(node, node.cast(a, wide), node.transpose(weights, {1, 0}));
}

Value BlockQuantizedMatmul::build() {
  Value a = operands.left, bytes = node.input(operands.weight), scales = node.input(operands.scales);
  if (failed(readAttributes()))
    return {};
  wide = node.wideType(a);
  AffineExpr n = node.number(columns), stored = node.number(blocks * block * bits / 8);
  if (!node.unify(nn::getNumElements(node.dims(bytes), node.context()), n * stored, "B does not have the bytes of N rows of K numbers") ||
      !node.unify(nn::getNumElements(node.dims(scales), node.context()), node.number(columns * blocks), "the scales do not fit the blocks"))
    return {};
  auto weights = node.rank(a) > 0 ? readWeights(bytes) : std::nullopt;
  if (weights && !node.unify(node.dims(a).back(), node.number(depth), "A does not have rows of K numbers"))
    return {};
  Value product = weights ? keepPacked(a, *weights, scales) : expressWeights(a, bytes, scales);
  if (node.failed())
    return {};
  if (Value bias = given(operands.bias); bias && !node.failed()) {
    bias = node.cast(alignDims(node, bias, {n}, "the bias does not have N numbers"), wide);
    product = node.failed() ? product : node.binary<AddOp>(product, node.broadcastTo(bias, node.dims(product)));
  }
  return node.failed() ? Value() : node.cast(product, node.elementType(a));
}

Value buildBlockQuantizedMatmul(Node &node, const BlockOperands &operands) {
  Value product = node.failed() ? Value() : BlockQuantizedMatmul(node, operands).build();
  return product ? product : operands.left;
}

static LogicalResult matmulNBits(Node &node) {
  return node.result(buildBlockQuantizedMatmul(node, {node.input(0), node.requireInt("N"), 1, 2, 3, 4, 5}));
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
  if (bits != 4 && bits != 8)
    return node.error("attribute 'bits' is " + Twine(bits) + ", expected 4 or 8");
  if (block < 16 || !llvm::isPowerOf2_64(block))
    return node.error("attribute 'block_size' is " + Twine(block) + ", expected a power of two of at least 16");
  table = node.dims(data);
  bool areBytes = node.narrowType(0) == 0;
  if (!areBytes && bits != 4)
    return node.error("attribute 'bits' is " + Twine(bits) + ", but data has numbers of 4 bits");
  isPacked = areBytes && bits == 4;
  if (isPacked)
    table.back() = nn::simplifyDim(table.back() * 2);
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
      wanted = wanted.ceilDiv(2);
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
      {"GatherBlockQuantized", 1, Elements::Narrow, gatherBlockQuantized, INT64_MAX, "com.microsoft"},
      {"MatMulNBits", 1, Elements::Float, matmulNBits, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
