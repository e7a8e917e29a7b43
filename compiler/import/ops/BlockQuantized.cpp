//===- BlockQuantized.cpp - Weights of a few bits with a scale for each block ===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// MatMulNBits: a product with weights [N, K] whose rows consist of blocks of `bits`-wide numbers, packed into bytes from the lowest bits on.
class BlockQuantizedMatmul {
public:
  explicit BlockQuantizedMatmul(Node &node) : node(node) {}
  LogicalResult run();

private:
  LogicalResult readAttributes();
  Value unpack(Value bytes);
  Value zeroPoints();
  Value perWeight(Value ofBlocks);

  Node &node;
  int64_t depth = 0, columns = 0, bits = 4, block = 0, blocks = 0;
  /// Products are computed in it: f32 for halves.
  Type wide;
};
} // namespace

LogicalResult BlockQuantizedMatmul::readAttributes() {
  depth = node.requireInt("K");
  columns = node.requireInt("N");
  block = node.requireInt("block_size");
  bits = node.getInt("bits", 4);
  // How far kernels may round A before the product: not at all is always right.
  node.ignore("accuracy_level");
  if (node.getInt("weight_prepacked", 0) != 0)
    return node.unsupported("weights that are packed for another machine", "export the model with weight_prepacked = 0");
  if (node.failed())
    return failure();
  if (bits != 2 && bits != 4 && bits != 8)
    return node.error("attribute 'bits' is " + Twine(bits) + ", expected 2, 4 or 8");
  if (depth < 1 || columns < 1 || block < 16 || !llvm::isPowerOf2_64(block))
    return node.error("attributes K, N and block_size are " + Twine(depth) + ", " + Twine(columns) + " and " + Twine(block) +
                      ", expected positive numbers and a power of two of at least 16");
  blocks = llvm::divideCeil(depth, block);
  return success();
}

/// Bytes [rows, count] as the numbers in them, [rows, count * 8 / bits].
Value BlockQuantizedMatmul::unpack(Value bytes) {
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

/// [N, blocks]: given as numbers, or packed as the weights are, or the middle of the range.
Value BlockQuantizedMatmul::zeroPoints() {
  DimExprs shape = {node.number(columns), node.number(blocks)};
  Value given = node.optionalInput(3);
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
  if (Value groups = node.optionalInput(4); groups && !node.failed()) {
    AffineExpr count = nn::getNumElements(node.dims(groups), node.context());
    node.requireNotNegative(count - depth, "g_idx has fewer than K numbers");
    if (node.failed())
      return ofBlocks;
    return buildGather(node, ofBlocks, node.slice(node.reshape(groups, {count}), 0, node.number(0), node.number(depth)), 1);
  }
  Value spread = node.broadcastTo(node.reshape(ofBlocks, {n, b, node.number(1)}), {n, b, node.number(block)});
  return node.slice(node.reshape(spread, {n, node.number(blocks * block)}), 1, node.number(0), node.number(depth));
}

LogicalResult BlockQuantizedMatmul::run() {
  Value a = node.input(0), bytes = node.input(1), scales = node.input(2);
  if (failed(readAttributes()))
    return failure();
  wide = node.wideType(a);
  AffineExpr n = node.number(columns), stored = node.number(blocks * block * bits / 8);
  if (!node.unify(nn::getNumElements(node.dims(bytes), node.context()), n * stored, "B does not have the bytes of N rows of K numbers") ||
      !node.unify(nn::getNumElements(node.dims(scales), node.context()), node.number(columns * blocks), "the scales do not fit the blocks"))
    return failure();
  Value numbers = node.slice(unpack(node.reshape(bytes, {n, stored})), 1, node.number(0), node.number(depth));
  Value centred = node.binary<SubOp>(node.cast(numbers, wide), perWeight(zeroPoints()));
  Value weights = node.binary<MulOp>(centred, perWeight(node.cast(node.reshape(scales, {n, node.number(blocks)}), wide)));
  if (node.failed())
    return failure();
  Value product = buildMatmul(node, node.cast(a, wide), node.transpose(weights, {1, 0}));
  if (Value bias = node.optionalInput(5); bias && !node.failed()) {
    bias = node.cast(alignDims(node, bias, {n}, "the bias does not have N numbers"), wide);
    product = node.failed() ? product : node.binary<AddOp>(product, node.broadcastTo(bias, node.dims(product)));
  }
  return node.failed() ? failure() : node.result(node.cast(product, node.elementType(a)));
}

static LogicalResult matmulNBits(Node &node) { return BlockQuantizedMatmul(node).run(); }

ArrayRef<Operator> getBlockQuantizedOperators() {
  static const Operator rows[] = {
      {"MatMulNBits", 1, Elements::Float, matmulNBits, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
