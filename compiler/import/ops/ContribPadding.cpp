//===- ContribPadding.cpp - Sequences without their padding ------------------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md). Tokens of several sequences stand behind each other without padding. `token_offset`
// [batch, length] has the places of tokens in the padded tensor, those of padding behind them. Attention pads, attends and removes the padding again.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Choices.h"
#include "compiler/import/ops/Attention.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// Rows of tokens [tokens, width] and where they belong.
class PackedRows {
public:
  PackedRows(Node &node, Value rows, Value offsets) : node(node), tokens(node.dims(rows)[0]) {
    DimExprs dims = node.dims(offsets);
    batch = dims[0], length = dims[1];
    AffineExpr all = nn::simplifyDim(batch * length);
    node.requireNotNegative(all - tokens, "there are more tokens than places");
    if (!node.failed())
      places = node.slice(node.reshape(offsets, {all}), 0, node.number(0), tokens);
  }

  /// [batch, length, width], with zeros in the padding.
  Value pad(Value rows) {
    if (node.failed())
      return rows;
    AffineExpr width = node.dims(rows)[1], all = nn::simplifyDim(batch * length);
    Value zeros = node.splat({all, width}, node.elementType(rows), 0);
    Value at = node.broadcastTo(node.reshape(node.cast(places, node.builder().getI64Type()), {tokens, node.number(1)}), {tokens, width});
    Value padded = node.failed() ? rows : node.make<ScatterElementsOp>(zeros.getType(), zeros, at, rows, 0, ScatterReduction::None);
    return node.failed() ? rows : node.reshape(padded, {batch, length, width});
  }

  /// The rows of tokens of [batch, length, width].
  Value remove(Value padded) {
    if (node.failed())
      return padded;
    DimExprs dims = node.dims(padded);
    return buildGather(node, node.reshape(padded, {nn::simplifyDim(dims[0] * dims[1]), dims[2]}), places, 0);
  }

  AffineExpr batch, length;

private:
  Node &node;
  AffineExpr tokens;
  Value places;
};
} // namespace

/// The tokens of sequences whose padding is behind them, one behind the other: the first places of an order in which those of padding come last.
static LogicalResult removePadding(Node &node) {
  Value padded = node.input(0), counts = node.input(1);
  if (node.failed() || !node.expectRank(padded, 3, "the input"))
    return failure();
  DimExprs dims = node.dims(padded);
  AffineExpr batch = dims[0], length = dims[1], one = node.number(1), zero = node.number(0), all = nn::simplifyDim(batch * length);
  Type i64 = node.builder().getI64Type(), i32 = node.builder().getI32Type();
  counts = alignDims(node, counts, {batch}, "sequence_token_count does not have one number for each sequence");
  if (node.failed())
    return failure();
  // No sequence has fewer tokens than none, or more than places.
  Value wide = node.binary<MaximumOp>(node.cast(counts, i64), 0.0);
  wide = node.binary<MinimumOp>(wide, materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), Number{length}));
  Value isToken = node.compare<LessOp>(node.iota({batch, length}, 1, i64), node.reshape(wide, {batch, one}));
  Value isPadding = node.binary<SubOp>(node.splat({all}, i64, 1), node.cast(node.reshape(isToken, {all}), i64));
  Value behind = node.binary<MulOp>(isPadding, materialize(node.builder(), node.loc, RankedTensorType::get({}, i64), Number{all}));
  Value key = node.binary<AddOp>(node.iota({all}, 0, i64), behind);
  Value order = TopKOp::create(node.builder(), node.loc, node.type({all}, i64), node.type({all}, i64), key, 0, /*largest=*/false).getIndices();
  AffineExpr tokens = node.choices().computeDim(node, node.reduce(ReduceKind::Sum, wide, {0}, /*keep=*/false), all, node.outputName(0) + "_tokens");
  if (node.failed())
    return failure();
  Value rows = buildGather(node, node.reshape(padded, {all, dims[2]}), node.slice(order, 0, zero, tokens), 0);
  Value ends = node.make<CumulativeOp>(wide.getType(), ReduceKind::Sum, wide, 0, /*exclusive=*/false, /*reverse=*/false);
  Value cumulated = node.concat({node.splat({one}, i32, 0), node.cast(ends, i32)}, 0);
  Value most = node.cast(node.reduce(ReduceKind::Max, wide, {0}, /*keep=*/true), i32);
  Value values[] = {rows, node.reshape(node.cast(order, i32), {batch, length}), cumulated, most};
  for (auto [i, value] : llvm::enumerate(values))
    if (node.failed() || (node.hasOutput(i) && failed(node.result(i, value))))
      return failure();
  return success();
}

static LogicalResult restorePadding(Node &node) {
  Value rows = node.input(0);
  return node.failed() ? failure() : node.result(PackedRows(node, rows, node.input(1)).pad(rows));
}

/// Attention of rows of queries, keys and values, each sequence by itself: keys in the padding are hidden.
static LogicalResult attendPacked(Node &node, Value query, Value key, Value value, Value offsets, Value ends, Value more) {
  int64_t heads = node.requireInt("num_heads");
  double scale = node.getFloat("scale", 0);
  if (node.failed())
    return failure();
  PackedRows packed(node, query, offsets);
  query = splitHeads(node, packed.pad(query), heads, "the query");
  key = splitHeads(node, packed.pad(key), heads, "the key");
  value = splitHeads(node, packed.pad(value), heads, "the value");
  if (node.failed())
    return failure();
  AffineExpr one = node.number(1), batch = packed.batch;
  Type i64 = node.builder().getI64Type();
  ends = node.cast(alignDims(node, ends, {nn::simplifyDim(batch + 1)}, "cumulative_sequence_length does not have one number more than the batch"), i64);
  if (node.failed())
    return failure();
  Value counts = node.binary<SubOp>(node.slice(ends, 0, one, batch), node.slice(ends, 0, node.number(0), batch));
  Value isSeen = node.compare<LessOp>(node.iota({one, one, one, packed.length}, 3, i64), node.reshape(counts, {batch, one, one, one}));
  Value bias = node.failed() ? query : chooseNumber(node, isSeen, node.elementType(query), 0, -HUGE_VAL);
  if (more && !node.failed())
    bias = node.binary<AddOp>(bias, more);
  scale = scale == 0 && !node.failed() ? defaultScale(node, node.dims(query)[3]) : scale;
  Value result = node.failed() ? query : joinHeads(node, buildAttention(node, query, key, value, bias, scale, /*causal=*/false));
  return node.failed() ? failure() : node.result(packed.remove(result));
}

static LogicalResult packedAttention(Node &node) {
  Value x = node.input(0), weights = node.input(1), bias = node.input(2);
  auto sizes = node.findInts("qkv_hidden_sizes");
  if (node.failed())
    return failure();
  AffineExpr columns = node.dims(weights)[1], third = nn::simplifyDim(columns.floorDiv(3));
  DimExprs widths(3, third);
  if (sizes && (sizes->size() != 3 || llvm::any_of(*sizes, [](int64_t size) { return size < 1; })))
    return node.error("attribute 'qkv_hidden_sizes' does not have three positive numbers");
  if (sizes)
    llvm::transform(*sizes, widths.begin(), [&](int64_t size) { return node.number(size); });
  if (!node.unify(columns, widths[0] + widths[1] + widths[2], "the weights do not have the columns of query, key and value"))
    return failure();
  Value all = addToRows(node, buildMatmul(node, x, weights), bias);
  if (node.failed())
    return failure();
  Value query = node.slice(all, 1, node.number(0), widths[0]), key = node.slice(all, 1, widths[0], widths[1]);
  Value value = node.slice(all, 1, nn::simplifyDim(widths[0] + widths[1]), widths[2]);
  return attendPacked(node, query, key, value, node.input(3), node.input(4), node.optionalInput(5));
}

static LogicalResult packedMultiHeadAttention(Node &node) {
  Value query = node.input(0), key = node.optionalInput(1), value = node.optionalInput(2), bias = node.optionalInput(3);
  node.ignore("mask_filter_value");
  bool isPacked = !key && !value && node.rank(query) == 4;
  if (!isPacked && !(key && value && node.rank(query) == 2))
    return node.error("query, key and value have neither rank 2 nor the packed form");
  if (isPacked) {
    DimExprs dims = node.dims(query);
    if (!node.unify(dims[2], node.number(3), "a packed query does not have three parts"))
      return failure();
    Value all = query;
    auto part = [&](int64_t at) {
      return node.reshape(node.slice(all, 2, node.number(at), node.number(1)), {dims[0], nn::simplifyDim(dims[1] * dims[3])});
    };
    query = part(0), key = part(1), value = part(2);
  }
  if (bias) {
    AffineExpr start = node.number(0);
    for (Value *operand : {&query, &key, &value}) {
      AffineExpr width = node.dims(*operand)[1], end = nn::simplifyDim(start + width);
      node.requireNotNegative(node.dims(bias)[0] - end, "the bias does not fit query, key and value");
      if (node.failed())
        return failure();
      *operand = addToRows(node, *operand, node.slice(bias, 0, start, width));
      start = end;
    }
  }
  return attendPacked(node, query, key, value, node.input(4), node.input(5), node.optionalInput(6));
}

ArrayRef<Operator> getContribPaddingOperators() {
  static const Operator rows[] = {
      {"PackedAttention", 1, Elements::Float, packedAttention, INT64_MAX, "com.microsoft"},
      {"PackedMultiHeadAttention", 1, Elements::Float, packedMultiHeadAttention, INT64_MAX, "com.microsoft"},
      {"RemovePadding", 1, Elements::Float, removePadding, INT64_MAX, "com.microsoft"},
      {"RestorePadding", 1, Elements::Float, restorePadding, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
