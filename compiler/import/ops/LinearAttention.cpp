//===- LinearAttention.cpp - Attention as a state that each step updates -----===//
//
//   state = state * exp(decay)                                     (gated rules)
//   state = state + key x (value, or beta * (value - key . state))  (delta rules)
//   output = scale * query . state
//
// The steps are written out one by one: what a model does with it between calls is one step, with the state as input and output.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "dialects/nn/NNArithmeticOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
class LinearAttention {
public:
  explicit LinearAttention(Node &node) : node(node) {}
  LogicalResult run();

private:
  bool read();
  Value heads(unsigned input, int64_t count);
  Value repeatForState(Value all);
  Value step(Value all, int64_t at, bool asColumn);
  Value readState(Value state, Value query);
  Value update(Value state, int64_t at);

  Node &node;
  Value query, key, value, decay, beta;
  int64_t queryHeads = 0, stateHeads = 0, steps = 0;
  bool isGated = false, isDelta = false;
  Type wide;
};
} // namespace

/// [batch, steps, count * size] in the type that is computed in, as [batch, steps, count, size].
Value LinearAttention::heads(unsigned input, int64_t count) {
  Value x = node.input(input);
  if (!node.expectRank(x, 3, "an input") || count < 1)
    return x;
  DimExprs dims = node.dims(x);
  auto width = nn::getConstantDim(dims[2]), length = nn::getConstantDim(dims[1]);
  if (!width || !length || *length < 1 || *length > 4096) {
    (void)node.unsupported("a symbolic width, or a number of steps that is symbolic or above 4096", "make the dimensions static with --dim");
    return x;
  }
  if (*width % count || (steps && *length != steps)) {
    (void)node.error("inputs do not have one length, or a width of " + Twine(*width) + " is not a multiple of " + Twine(count) + " heads");
    return x;
  }
  steps = *length;
  return node.cast(node.reshape(x, {dims[0], dims[1], node.number(count), node.number(*width / count)}), wide);
}

/// Fewer query heads than states: each one reads a group of them.
Value LinearAttention::repeatForState(Value all) {
  if (queryHeads >= stateHeads || node.failed())
    return all;
  DimExprs dims = node.dims(all);
  AffineExpr own = node.number(queryHeads), group = node.number(stateHeads / queryHeads);
  queryHeads = stateHeads;
  Value spread = node.broadcastTo(node.reshape(all, {dims[0], dims[1], own, node.number(1), dims[3]}), {dims[0], dims[1], own, group, dims[3]});
  return node.reshape(spread, {dims[0], dims[1], node.number(stateHeads), dims[3]});
}

bool LinearAttention::read() {
  queryHeads = node.requireInt("q_num_heads");
  stateHeads = node.requireInt("kv_num_heads");
  node.ignore("chunk_size");
  std::string rule = node.getString("update_rule", "gated_delta");
  isGated = rule == "gated" || rule == "gated_delta";
  isDelta = rule == "delta" || rule == "gated_delta";
  if (!isGated && !isDelta && rule != "linear")
    (void)node.error("attribute 'update_rule' is '" + rule + "', expected linear, gated, delta or gated_delta");
  // Version 1 is com.microsoft's, which also has fewer heads of queries.
  bool isEither = node.opset == 1, isPositive = queryHeads > 0 && stateHeads > 0;
  if (!isPositive || (queryHeads % stateHeads && !(isEither && stateHeads % queryHeads == 0)))
    (void)node.error("attributes 'q_num_heads' and 'kv_num_heads' are not positive, or " +
                     Twine(isEither ? "neither is a multiple of the other" : "the first is not a multiple of the second"));
  if (node.getInt("state_window", 0) > 0)
    (void)node.unsupported("states after each of the last tokens", "export the model with state_window = 0");
  if (node.failed())
    return false;
  Type element = node.elementType(node.input(0));
  wide = element.isF64() ? element : Type(node.builder().getF32Type());
  query = repeatForState(heads(0, queryHeads));
  key = heads(1, stateHeads);
  value = heads(2, stateHeads);
  if (isGated)
    decay = heads(4, stateHeads);
  // One number for all heads is as good as one for each.
  if (isDelta)
    beta = heads(5, nn::getConstantDim(node.dims(node.input(5)).back()) == 1 ? 1 : stateHeads);
  return !node.failed();
}

/// Step `at` of [batch, steps, heads, size] as rows [batch, heads, 1, size] or columns [batch, heads, size, 1].
Value LinearAttention::step(Value all, int64_t at, bool asColumn) {
  DimExprs dims = node.dims(all);
  AffineExpr one = node.number(1);
  Value now = node.slice(all, 1, node.number(at), one);
  return asColumn ? node.reshape(now, {dims[0], dims[2], dims[3], one}) : node.reshape(now, {dims[0], dims[2], one, dims[3]});
}

Value LinearAttention::update(Value state, int64_t at) {
  if (isGated)
    state = node.binary<MulOp>(state, node.unary<ExpOp>(step(decay, at, true)));
  Value row = step(value, at, false);
  if (isDelta) {
    Value retrieved = node.matmul(step(key, at, false), state);
    row = node.binary<MulOp>(step(beta, at, false), node.binary<SubOp>(row, retrieved));
  }
  return node.binary<AddOp>(state, node.matmul(step(key, at, true), row));
}

/// query . state as [batch, 1, query heads * size]; each head of the state serves a group of query heads, which are rows of one product.
Value LinearAttention::readState(Value state, Value rows) {
  DimExprs dims = node.dims(rows), shape = node.dims(state);
  rows = node.reshape(rows, {dims[0], node.number(stateHeads), node.number(queryHeads / stateHeads), dims[3]});
  return node.reshape(node.matmul(rows, state), {dims[0], node.number(1), shape[3] * queryHeads});
}

LogicalResult LinearAttention::run() {
  if (!read())
    return failure();
  Type element = node.elementType(node.input(0));
  DimExprs keyDims = node.dims(key), shape = {keyDims[0], keyDims[2], keyDims[3], node.dims(value)[3]};
  Value state = node.hasInput(3) ? node.cast(node.input(3), wide) : node.splat(shape, wide, 0);
  state = alignDims(node, state, shape, "the past state does not have the shape [batch, heads, key size, value size]");
  double scale = node.getFloat("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<double>(nn::getConstantDim(shape[2]).value_or(1)));
  SmallVector<Value> outputs;
  for (int64_t at = 0; at < steps && !node.failed(); ++at) {
    state = update(state, at);
    outputs.push_back(readState(state, step(query, at, false)));
  }
  if (node.failed())
    return failure();
  (void)node.result(0, node.cast(node.binary<MulOp>(node.concat(outputs, 1), scale), element));
  return node.result(1, node.cast(state, node.hasInput(3) ? node.elementType(node.input(3)) : element));
}

static LogicalResult linearAttention(Node &node) { return LinearAttention(node).run(); }

ArrayRef<Operator> getLinearAttentionOperators() {
  static const Operator rows[] = {
      asComposite({"LinearAttention", 27, Elements::Float, linearAttention}),
      asComposite({"LinearAttention", 1, Elements::Float, linearAttention, INT64_MAX, "com.microsoft"}),
  };
  return rows;
}

} // namespace kiln::import
