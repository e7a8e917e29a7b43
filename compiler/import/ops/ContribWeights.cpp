//===- ContribWeights.cpp - Products with packed weights and what is around them //
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/PackedNumbers.h"
#include "dialects/nn/ConstantData.h"
#include "dialects/nn/NNArithmeticOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

//===- Numbers of four bits from a table -----------------------------------===//

/// What the codes mean, relative to the largest number of their block: the 4-bit floats of bitsandbytes, and the quantiles of a normal distribution.
static constexpr float tables[2][16] = {
    {0, 0.00520833333f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f,
     0, -0.00520833333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
     0.7229568362236023f, 1}};

/// A times weights [N, K] or their transpose. Blocks run over the weights as one line, whose first number is in the high half of its byte.
static LogicalResult matmulBnb4(Node &node) {
  Value a = node.input(0), bytes = node.input(1), largest = node.input(2);
  int64_t depth = node.requireInt("K"), columns = node.requireInt("N"), block = node.requireInt("block_size"), kind = node.requireInt("quant_type");
  bool isTransposed = node.getFlag("transB", true);
  node.ignore("training_mode");
  constexpr int64_t most = int64_t(1) << 28;
  if (node.failed())
    return failure();
  if (depth > most || columns > most || block < 16 || block > most || !llvm::isPowerOf2_64(block))
    return node.error("attributes K, N and block_size are " + Twine(depth) + ", " + Twine(columns) + " and " + Twine(block) + ", expected at most " +
                      Twine(most) + " and a power of two of at least 16");
  int64_t count = depth * columns, stored = llvm::divideCeil(count, 2), blocks = llvm::divideCeil(count, block);
  if (!node.unify(node.dims(bytes)[0], node.number(stored), "B does not have the bytes of N rows of K numbers") ||
      !node.unify(node.dims(largest)[0], node.number(blocks), "absmax does not fit the blocks"))
    return failure();
  Type wide = node.wideType(a);
  AffineExpr one = node.number(1), two = node.number(2);
  Value whole = node.reshape(bytes, {node.number(stored), one});
  Value codes = node.concat({node.binary<ShiftRightOp>(whole, 4.0), node.binary<AndOp>(whole, node.splatLike(whole, 15))}, 1);
  codes = node.slice(node.reshape(codes, {node.number(stored) * two}), 0, node.number(0), node.number(count));
  Value table = node.constant(makeConstantOf<float>(RankedTensorType::get({16}, node.builder().getF32Type()), ArrayRef(tables[kind])));
  Value numbers = node.cast(buildGather(node, table, node.cast(codes, node.builder().getI32Type()), 0), wide);
  Value scales = node.broadcastTo(node.reshape(node.cast(largest, wide), {node.number(blocks), one}), {node.number(blocks), node.number(block)});
  scales = node.slice(node.reshape(scales, {node.number(blocks * block)}), 0, node.number(0), node.number(count));
  Value weights = node.reshape(node.binary<MulOp>(numbers, scales), {node.number(columns), node.number(depth)});
  if (isTransposed)
    weights = node.transpose(weights, {1, 0});
  return node.failed() ? failure() : node.result(node.cast(buildMatmul(node, node.cast(a, wide), weights), node.elementType(a)));
}

//===- Norms with the products behind them ---------------------------------===//

/// x, or x + skip, divided by the root mean square of its rows; the sum is output `sumOutput`. Without a scale nothing is normalized.
static Value normalizeInput(Node &node, unsigned sumOutput) {
  Value x = node.input(0), skip = node.optionalInput(1), scale = node.optionalInput(2);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  if (skip && !scale)
    (void)node.error("has a skip, but no scale of the norm");
  if (skip && !node.failed())
    x = node.binary<AddOp>(x, node.broadcastTo(skip, node.dims(x)));
  if (node.hasOutput(sumOutput) && !node.failed()) {
    if (!skip)
      (void)node.error("output " + Twine(sumOutput) + " is the sum with a skip, but there is none");
    else
      (void)node.result(sumOutput, x);
  }
  return scale && !node.failed() ? normalizeRows(node, x, scale, Value(), epsilon, /*rms=*/true) : x;
}

static LogicalResult matmulNBitsQkv(Node &node) {
  int64_t own = node.requireInt("Nq"), each = node.requireInt("Nkv");
  Value x = normalizeInput(node, 3);
  for (int i = 0; i < 3 && !node.failed(); ++i) {
    int at = 3 + 3 * i;
    (void)node.result(i, buildBlockQuantizedMatmul(node, {x, i == 0 ? own : each, at, at + 1, -1, -1, at + 2}));
  }
  return failure(node.failed());
}

static LogicalResult matmulNBitsMlp(Node &node) {
  int64_t columns = node.requireInt("N");
  std::string activation = node.getString("activation", "");
  if (activation != "silu" && activation != "swish")
    return node.unsupported("activation '" + activation + "'", "use silu");
  Value x = normalizeInput(node, 1);
  Value gate = buildBlockQuantizedMatmul(node, {x, columns, 3, 4, -1, -1, 5}), up = buildBlockQuantizedMatmul(node, {x, columns, 6, 7, -1, -1, 8});
  if (node.failed())
    return failure();
  return node.result(node.binary<MulOp>(node.unary<SwishOp>(gate, node.builder().getF64FloatAttr(1)), up));
}

ArrayRef<Operator> getContribWeightOperators() {
  static const Operator rows[] = {
      {"MatMulBnb4", 1, Elements::Float, matmulBnb4, INT64_MAX, "com.microsoft"},
      {"MatMulNBitsMlp", 1, Elements::Float, matmulNBitsMlp, INT64_MAX, "com.microsoft"},
      {"MatMulNBitsQkv", 1, Elements::Float, matmulNBitsQkv, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
