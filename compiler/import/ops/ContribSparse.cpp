//===- ContribSparse.cpp - Attention that sees some of the keys --------------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md). The scores of all keys are computed, and those that a token does not see are hidden.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/ops/Attention.h"
#include "compiler/import/ops/CachedAttention.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/Matmul.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

//===- SparseAttention -----------------------------------------------------===//

namespace {
/// One SparseAttention node: a token sees keys up to its own that lie in blocks which the head's layout names. Layouts are compressed rows of blocks.
class SparseAttention : private CachedAttention {
public:
  explicit SparseAttention(Node &node) : CachedAttention(node), block(node.requireInt("sparse_block_size")) {}
  LogicalResult run();

private:
  bool readLayouts();
  Value findPlaces();
  Value expandLayouts();
  Value visibleKeys();

  int64_t block;
  AffineExpr layouts, rows, entries;
};
} // namespace

bool SparseAttention::readLayouts() {
  Value starts = node.input(5), columns = node.input(6);
  if (!node.expectRank(starts, 2, "block_row_indices") || !node.expectRank(columns, 2, "block_col_indices"))
    return false;
  layouts = node.dims(starts)[0], rows = nn::simplifyDim(node.dims(starts)[1] - 1), entries = node.dims(columns)[1];
  auto count = nn::getConstantDim(layouts);
  if (!count) {
    (void)node.unsupported("a symbolic number of layouts", "make the dimension static with --dim");
    return false;
  }
  if (*count < 1 || heads % *count) {
    (void)node.error("the " + Twine(heads) + " heads are not a multiple of the " + Twine(*count) + " layouts");
    return false;
  }
  node.requireNotNegative(rows - 1, "block_row_indices has no block");
  return node.unify(node.dims(columns)[0], layouts, "block_row_indices and block_col_indices have different numbers of layouts");
}

/// Each sequence has so many tokens in all, of which the new ones are the last; a prompt begins at 0.
Value SparseAttention::findPlaces() {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1);
  Value total = node.input(7), counts = node.input(8);
  if (!node.unify(nn::getNumElements(node.dims(total), node.context()), one, "total_sequence_length must be one number: elements"))
    return counts;
  counts = alignDims(node, counts, {batch}, "key_total_sequence_lengths does not have one number for each batch entry");
  if (node.failed())
    return counts;
  Value tokens = node.reshape(sizeOf(node, length, i64), {one, one}), first = node.binary<SubOp>(node.cast(node.reshape(counts, {batch, one}), i64), tokens);
  Value isPrompt = node.broadcastTo(node.compare<EqualOp>(node.cast(node.reshape(total, {one, one}), i64), tokens), {batch, one});
  first = node.make<SelectOp>(first.getType(), isPrompt, node.splatLike(first, 0), node.binary<MaximumOp>(first, 0.0));
  return node.binary<AddOp>(first, node.iota({one, length}, 1, i64));
}

/// Whether a row of blocks sees a column of blocks: [layouts, rows, rows] of 1 and 0. Entry j lies in the row before the first that starts behind it; entries
/// behind the last row go to a place of their own.
Value SparseAttention::expandLayouts() {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1), zero = node.number(0), area = nn::simplifyDim(rows * rows);
  Value starts = node.cast(node.input(5), i64), columns = node.cast(node.input(6), i64);
  DimExprs all = {layouts, entries, rows}, each = {layouts, entries};
  Value ends = node.broadcastTo(node.reshape(node.slice(starts, 1, one, rows), {layouts, one, rows}), all);
  Value entry = node.broadcastTo(node.iota({one, entries, one}, 1, i64), all);
  Value row = node.reduce(ReduceKind::Sum, node.cast(node.compare<LessEqualOp>(ends, entry), i64), {2}, /*keep=*/false);
  Value width = node.broadcastTo(sizeOf(node, rows, i64), each), place = node.binary<AddOp>(node.binary<MulOp>(row, width), columns);
  Value isThere = node.binary<AndOp>(node.compare<LessOp>(row, width), node.compare<LessOp>(columns, width));
  isThere = node.binary<AndOp>(isThere, node.compare<GreaterEqualOp>(columns, node.splatLike(columns, 0)));
  if (node.failed())
    return starts;
  place = node.make<SelectOp>(place.getType(), isThere, place, node.broadcastTo(sizeOf(node, area, i64), each));
  Value seen = node.splat({layouts, nn::simplifyDim(area + 1)}, i64, 0);
  seen = node.make<ScatterElementsOp>(seen.getType(), seen, place, node.splatLike(place, 1), 1, ScatterReduction::None);
  return node.reshape(node.slice(seen, 1, zero, area), {layouts, rows, rows});
}

/// What is added to the scores [batch, heads, length, keys].
Value SparseAttention::visibleKeys() {
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1), last = nn::simplifyDim(rows - 1);
  Value ofToken = node.binary<DivOp>(places, static_cast<double>(block)), place = node.iota({keys}, 0, i64);
  // What lies behind the layouts is behind all tokens.
  Value ofKey = node.binary<MinimumOp>(node.binary<DivOp>(place, static_cast<double>(block)), node.broadcastTo(sizeOf(node, last, i64), {keys}));
  Value seen = expandLayouts();
  if (node.failed())
    return places;
  seen = node.transpose(buildGather(node, buildGather(node, seen, ofToken, 1), ofKey, 3), {1, 0, 2, 3});
  AffineExpr turns = nn::simplifyDim(node.number(heads).floorDiv(layouts));
  DimExprs parts = {batch, turns, layouts, length, keys};
  seen = node.broadcastTo(node.reshape(seen, {batch, one, layouts, length, keys}), parts);
  Value isSeen = node.compare<GreaterOp>(seen, node.splatLike(seen, 0));
  double lowest = element.isF16() ? -65504 : -std::numeric_limits<float>::max();
  Value ofBlocks = node.failed() ? seen : chooseNumber(node, isSeen, element, 0, lowest);
  Value isPast = node.compare<LessEqualOp>(node.iota({one, one, one, keys}, 3, i64), node.reshape(places, {batch, one, length, one}));
  if (node.failed())
    return places;
  // In this order, so that the sum of both is no NaN.
  return node.binary<AddOp>(chooseNumber(node, isPast, element, 0, -HUGE_VAL), node.reshape(ofBlocks, {batch, node.number(heads), length, keys}));
}

LogicalResult SparseAttention::run() {
  Value pastKey = node.input(3), pastValue = node.input(4);
  if (failed(readHeads()) || failed(readOperands()) || !readLayouts() || !node.expectRank(pastKey, 4, "the past key"))
    return failure();
  keys = node.dims(pastKey)[2];
  places = findPlaces();
  query = node.transpose(rotate(query, 9, places), {0, 2, 1, 3});
  key = store(pastKey, node.transpose(rotate(key, 9, places), {0, 2, 1, 3}), "key");
  value = store(pastValue, node.transpose(value, {0, 2, 1, 3}), "value");
  if (!isRotary)
    for (unsigned input : {9, 10})
      (void)node.optionalInput(input);
  Value bias = node.failed() ? Value() : visibleKeys();
  if (node.failed())
    return failure();
  (void)node.result(1, key);
  (void)node.result(2, value);
  scale = scale == 0 ? defaultScale(node, size) : scale;
  key = repeatHeads(node, key, node.number(heads));
  value = repeatHeads(node, value, node.number(heads));
  if (node.failed())
    return failure();
  Value result = buildAttention(node, query, key, value, bias, scale, /*causal=*/false);
  return node.failed() ? failure() : node.result(joinHeads(node, result));
}

static LogicalResult sparseAttention(Node &node) { return SparseAttention(node).run(); }

//===- LongformerAttention -------------------------------------------------===//

/// The projections of x, whose columns are those of query, key and value.
static SmallVector<Value> projectParts(Node &node, Value x, Value weight, Value bias, int64_t heads) {
  AffineExpr width = node.dims(x)[2], columns = nn::simplifyDim(width * 3);
  weight = alignDims(node, weight, {width, columns}, "the weight does not have the columns of query, key and value");
  bias = alignDims(node, bias, {columns}, "the bias does not have the columns of query, key and value");
  if (node.failed())
    return {};
  Value all = addToRows(node, buildMatmul(node, x, weight), bias);
  SmallVector<Value> parts;
  for (int64_t part = 0; part < 3 && !node.failed(); ++part)
    parts.push_back(splitHeads(node, node.slice(all, 2, nn::simplifyDim(width * part), width), heads, "the input"));
  return parts;
}

/// Tokens see those in a window around them and the global ones; global tokens see all, by projections of their own.
static LogicalResult longformerAttention(Node &node) {
  Value x = node.input(0), mask = node.input(3), isGlobal = node.input(6);
  int64_t heads = node.requireInt("num_heads"), window = node.requireInt("window");
  if (node.failed() || !node.expectRank(x, 3, "the input"))
    return failure();
  DimExprs dims = node.dims(x);
  AffineExpr batch = dims[0], length = dims[1], one = node.number(1), blocks = nn::simplifyDim(length.floorDiv(2 * window));
  if (!node.unify(length, blocks * (2 * window), "the length is not a multiple of two windows"))
    return failure();
  mask = alignDims(node, mask, {batch, length}, "the mask does not fit the input");
  isGlobal = alignDims(node, isGlobal, {batch, length}, "the global flags do not fit the input");
  SmallVector<Value> local = projectParts(node, x, node.input(1), node.input(2), heads);
  SmallVector<Value> global = node.failed() ? local : projectParts(node, x, node.input(4), node.input(5), heads);
  if (node.failed())
    return failure();
  Type i64 = node.builder().getI64Type(), element = node.elementType(x);
  isGlobal = node.compare<GreaterOp>(isGlobal, node.splatLike(isGlobal, 0));
  Value row = node.broadcastTo(node.iota({length, one}, 0, i64), {length, length});
  Value column = node.broadcastTo(node.iota({one, length}, 1, i64), {length, length});
  Value distance = node.unary<AbsOp>(node.binary<SubOp>(row, column));
  DimExprs pairs = {batch, one, length, length};
  Value isNear = node.broadcastTo(node.reshape(node.compare<LessEqualOp>(distance, node.splatLike(distance, window)), {one, one, length, length}), pairs);
  Value isSeen = node.binary<OrOp>(isNear, node.broadcastTo(node.reshape(isGlobal, {batch, one, one, length}), pairs));
  Value ofKeys = node.reshape(mask, {batch, one, one, length});
  if (node.failed())
    return failure();
  double scale = defaultScale(node, node.dims(local[0])[3]);
  Value bias = node.binary<AddOp>(chooseNumber(node, isSeen, element, 0, -HUGE_VAL), node.broadcastTo(ofKeys, pairs));
  Value near = joinHeads(node, buildAttention(node, local[0], local[1], local[2], bias, scale, /*causal=*/false));
  Value far = joinHeads(node, buildAttention(node, global[0], global[1], global[2], ofKeys, scale, /*causal=*/false));
  if (node.failed())
    return failure();
  Value flags = node.broadcastTo(node.reshape(isGlobal, {batch, length, one}), node.dims(near));
  return node.failed() ? failure() : node.result(node.make<SelectOp>(near.getType(), flags, far, near));
}

ArrayRef<Operator> getContribSparseOperators() {
  static const Operator rows[] = {
      {"LongformerAttention", 1, Elements::Float, longformerAttention, INT64_MAX, "com.microsoft"},
      {"SparseAttention", 1, Elements::Float, sparseAttention, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
