//===- LinearAttention.cpp - Attention as a state that each step updates -----===//
//
//   state = state * exp(decay)                                     (gated rules)
//   state = state + key x (value, or beta * (value - key . state))  (delta rules)
//   output = scale * query . state
//
// A few steps are written out one by one: what a model does with it between calls is one step, with the state as input and output. More of them, or a number
// that only a run knows, are an nn.loop.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Operators.h"
#include "compiler/import/RolledLoops.h"
#include "compiler/import/ops/PackedRequests.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNElementwiseOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
class LinearAttention {
public:
  explicit LinearAttention(Node &node) : node(node) {}
  LogicalResult run();

protected:
  bool readRule();
  bool read();
  Value heads(unsigned input, int64_t count);
  Value repeatForState(Value all);
  Value step(Value all, AffineExpr at, bool asColumn);
  Value readState(Value state, Value query);
  Value update(Value state, AffineExpr at);
  Value rollSteps(Value &state);
  Value runSteps(Value &state, int64_t keySize);

  Node &node;
  Value query, key, value, decay, beta;
  int64_t queryHeads = 0, stateHeads = 0;
  AffineExpr steps;
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
  auto width = nn::getConstantDim(dims[2]);
  if (!width) {
    (void)node.unsupported("a symbolic width", "make the dimension static with --dim");
    return x;
  }
  if (*width % count) {
    (void)node.error("a width of " + Twine(*width) + " is not a multiple of " + Twine(count) + " heads");
    return x;
  }
  steps = steps ? steps : dims[1];
  if (!node.unify(dims[1], steps, "inputs do not have one length"))
    return x;
  return node.cast(node.reshape(x, {dims[0], steps, node.number(count), node.number(*width / count)}), wide);
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

bool LinearAttention::readRule() {
  node.ignore("chunk_size");
  std::string rule = node.getString("update_rule", "gated_delta");
  isGated = rule == "gated" || rule == "gated_delta";
  isDelta = rule == "delta" || rule == "gated_delta";
  if (!isGated && !isDelta && rule != "linear")
    (void)node.error("attribute 'update_rule' is '" + rule + "', expected linear, gated, delta or gated_delta");
  return !node.failed();
}

bool LinearAttention::read() {
  queryHeads = node.requireInt("q_num_heads");
  stateHeads = node.requireInt("kv_num_heads");
  if (!readRule())
    return false;
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
Value LinearAttention::step(Value all, AffineExpr at, bool asColumn) {
  DimExprs dims = node.dims(all);
  AffineExpr one = node.number(1);
  Value now = node.slice(all, 1, at, one);
  return asColumn ? node.reshape(now, {dims[0], dims[2], dims[3], one}) : node.reshape(now, {dims[0], dims[2], one, dims[3]});
}

Value LinearAttention::update(Value state, AffineExpr at) {
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

/// The results of all steps [batch, steps, size] by a loop.
Value LinearAttention::rollSteps(Value &state) {
  SmallVector<Value> results;
  auto body = [&](AffineExpr at, ArrayRef<Value> carried) -> FailureOr<SmallVector<Value>> {
    Value next = update(carried.front(), at);
    Value row = node.failed() ? next : readState(next, step(query, at, false));
    if (node.failed())
      return failure();
    DimExprs dims = node.dims(row);
    return SmallVector<Value>{next, node.reshape(row, {dims[0], dims[2]})};
  };
  if (failed(buildLoop(node, steps, {state}, {0}, body, results)) || results.size() != 2)
    return state;
  state = results[0];
  return node.transpose(results[1], {1, 0, 2});
}

/// The results of all steps, [batch, steps, size], times the attribute `scale`, or 1 / sqrt(keySize) where it is 0. The state becomes that after the last step.
Value LinearAttention::runSteps(Value &state, int64_t keySize) {
  double scale = node.getFloat("scale", 0);
  constexpr int64_t mostWritten = 32;
  auto known = nn::getConstantDim(steps);
  bool isWritten = known && *known > 0 && *known <= mostWritten;
  SmallVector<Value> outputs;
  for (int64_t at = 0; isWritten && at < *known && !node.failed(); ++at) {
    state = update(state, node.number(at));
    outputs.push_back(readState(state, step(query, node.number(at), false)));
  }
  Value all = node.failed() ? state : isWritten ? node.concat(outputs, 1) : rollSteps(state);
  return node.failed() ? state : node.binary<MulOp>(all, scale == 0 ? 1 / std::sqrt(static_cast<double>(keySize)) : scale);
}

LogicalResult LinearAttention::run() {
  if (!read())
    return failure();
  Type element = node.elementType(node.input(0));
  DimExprs keyDims = node.dims(key), shape = {keyDims[0], keyDims[2], keyDims[3], node.dims(value)[3]};
  Value state = node.hasInput(3) ? node.cast(node.input(3), wide) : node.splat(shape, wide, 0);
  state = alignDims(node, state, shape, "the past state does not have the shape [batch, heads, key size, value size]");
  Value output = runSteps(state, nn::getConstantDim(shape[2]).value_or(1));
  if (node.failed())
    return failure();
  (void)node.result(0, node.cast(output, element));
  return node.result(1, node.cast(state, node.hasInput(3) ? node.elementType(node.input(3)) : element));
}

//===- GatedDeltaNet -------------------------------------------------------===//

namespace {
/// Tokens of requests [tokens, heads, size], which have one length unless `cu_seqlens` says their ends, or with an axis for each of the two, [batch, steps,
/// heads, size]. Several heads of values share one of queries and keys. Requests of different lengths take as many steps as the longest; in those behind a
/// request's end its state stays.
class GatedDeltaNet : LinearAttention {
public:
  explicit GatedDeltaNet(Node &node) : LinearAttention(node), requests(node) {}
  LogicalResult run();

private:
  bool readTokens();
  bool readHeads();
  bool readGates();
  Value arrange(Value x, int64_t count, int64_t size);
  Value normalize(Value x);
  Value clearRest(Value x);

  /// The input's own axes before the heads.
  DimExprs tokens;
  PackedRequests requests;
  AffineExpr batch;
  bool isRagged = false;
  int64_t keySize = 0, valueSize = 0;
};
} // namespace

/// [..., count * size] or [..., count, size] as [batch, steps, count, size].
Value GatedDeltaNet::arrange(Value x, int64_t count, int64_t size) {
  DimExprs to = {batch, steps, node.number(count), node.number(size)};
  AffineExpr given = nn::getNumElements(node.dims(x), node.context()), width = node.number(count * size);
  AffineExpr all = nn::simplifyDim(nn::getNumElements(tokens, node.context()) * width);
  if (node.failed() || !node.unify(given, all, "an input does not fit the heads: elements"))
    return x;
  if (isRagged)
    x = requests.pad(node.reshape(x, {requests.tokens, width}), steps);
  return node.failed() ? x : node.reshape(node.cast(x, wide), to);
}

/// x [batch, steps, ...] with zeros behind the ends of requests.
Value GatedDeltaNet::clearRest(Value x) {
  if (!isRagged || node.failed())
    return x;
  AffineExpr one = node.number(1);
  Value isToken = node.compare<LessOp>(node.iota({one, steps}, 1, node.builder().getI64Type()), node.reshape(requests.counts, {batch, one}));
  isToken = node.broadcastTo(node.reshape(isToken, {batch, steps, one, one}), node.dims(x));
  return node.failed() ? x : node.make<SelectOp>(x.getType(), isToken, x, node.splatLike(x, 0));
}

/// The requests and the tokens of each.
bool GatedDeltaNet::readTokens() {
  Value first = node.input(0), ends = node.optionalInput(3), state = node.optionalInput(6);
  bool isPacked = !node.hasInput(1);
  if (node.failed() || isPacked != !node.hasInput(2) || (isPacked && !state))
    return succeeded(node.error("expected key and value, or an initial state and neither of them"));
  int64_t axes = node.rank(first) - (isPacked ? 1 : 2);
  if ((axes != 1 && axes != 2) || (axes == 2 && ends) || (axes == 1 && !ends && !state))
    return succeeded(node.error("expected queries [tokens, heads, size] with cu_seqlens or an initial state, or [batch, steps, heads, size] without "
                                "cu_seqlens"));
  tokens = node.dims(first);
  tokens.resize(axes);
  if (ends) {
    AffineExpr count = state && node.rank(state) == 4 ? node.dims(state)[0] : AffineExpr();
    if (failed(requests.read(tokens[0], count, ends, "cu_seqlens")))
      return false;
    batch = requests.count;
    isRagged = nn::getConstantDim(batch) != 1;
    steps = requests.most(node.outputName(0) + "_steps");
  } else if (axes == 2) {
    batch = tokens[0], steps = tokens[1];
  } else {
    batch = node.dims(state)[0];
    auto count = nn::getConstantDim(batch);
    if (!count)
      return succeeded(node.unsupported("a symbolic number of requests without cu_seqlens", "make the dimension static with --dim"));
    if (*count < 1)
      return succeeded(node.error("the initial state has no requests"));
    steps = nn::simplifyDim(tokens[0].floorDiv(*count));
    (void)node.unify(tokens[0], steps * *count, "the tokens are not those of requests of one length");
  }
  return !node.failed();
}

Value GatedDeltaNet::normalize(Value x) {
  if (node.getInt("qk_l2_norm", 0) == 0 || node.failed())
    return x;
  Value squares = node.reduce(ReduceKind::Sum, node.binary<MulOp>(x, x), {3}, /*keep=*/true);
  // As small as in ONNX Runtime 1.32; no document has it.
  return node.binary<DivOp>(x, node.unary<SqrtOp>(node.binary<AddOp>(squares, 1e-12)));
}

/// Queries, keys and values, which may be the parts of one input.
bool GatedDeltaNet::readHeads() {
  Value q = node.input(0), k = node.optionalInput(1), v = node.optionalInput(2);
  auto sizes = [&](Value x) {
    SmallVector<int64_t> known;
    for (AffineExpr dim : node.dims(x))
      known.push_back(nn::getConstantDim(dim).value_or(0));
    return known;
  };
  int64_t heads = 0, keyHeads = 0;
  if (k) {
    SmallVector<int64_t> ofQ = sizes(q), ofK = sizes(k), ofV = sizes(v);
    size_t at = tokens.size(), rank = at + 2;
    if (ofK.size() != rank || ofV.size() != rank)
      return succeeded(node.error("query, key and value do not have one rank"));
    heads = ofQ[at], keyHeads = ofK[at], stateHeads = ofV[at], keySize = ofQ[at + 1], valueSize = ofV[at + 1];
    keyHeads = ofK[at + 1] == keySize ? keyHeads : 0;
  } else {
    SmallVector<int64_t> ofState = sizes(node.input(6));
    if (ofState.size() != 4)
      return succeeded(node.error("expected an initial state of rank 4"));
    stateHeads = ofState[1], valueSize = ofState[2], keySize = ofState[3];
    int64_t rest = sizes(q).back() - stateHeads * valueSize;
    heads = keyHeads = keySize > 0 && rest > 0 && rest % (2 * keySize) == 0 ? rest / (2 * keySize) : 0;
  }
  if (heads < 1 || heads != keyHeads || stateHeads < 1 || stateHeads % heads || keySize < 1 || valueSize < 1)
    return succeeded(node.error("expected as many heads of queries as of keys, a multiple of them of values, and static sizes"));
  if (!k) {
    int64_t axis = node.rank(q) - 1, width = heads * keySize;
    auto part = [&](int64_t start, int64_t count) { return node.slice(q, axis, node.number(start), node.number(count)); };
    k = part(width, width), v = part(2 * width, stateHeads * valueSize), q = part(0, width);
  }
  auto shared = [&](Value x) {
    queryHeads = heads;
    return repeatForState(normalize(arrange(x, heads, keySize)));
  };
  query = shared(q);
  key = shared(k);
  value = arrange(v, stateHeads, valueSize);
  queryHeads = stateHeads;
  return !node.failed();
}

bool GatedDeltaNet::readGates() {
  std::string gate = node.getString("gate_activation", "none"), activation = node.getString("beta_activation", "none");
  double bound = node.getFloat("gate_lower_bound", -5);
  Value rates = node.optionalInput(7), shift = node.optionalInput(8);
  auto perHead = [&](Value x) {
    auto count = nn::getConstantDim(nn::getNumElements(node.dims(x), node.context()));
    int64_t width = count == stateHeads * keySize ? keySize : 1;
    if (count != stateHeads * width)
      (void)node.error("a_log or dt_bias do not fit the heads");
    return node.failed() ? x : node.reshape(x, {node.number(stateHeads), node.number(width)});
  };
  if (isGated) {
    Value x = node.input(4);
    if (node.failed())
      return false;
    decay = arrange(x, stateHeads, node.rank(x) == static_cast<int64_t>(tokens.size()) + 2 ? keySize : 1);
    if (gate != "none" && (!rates || !shift))
      return succeeded(node.error("gate_activation '" + gate + "' needs a_log and dt_bias"));
    if (gate != "none") {
      Value rate = node.unary<ExpOp>(perHead(rates)), shifted = node.binary<AddOp>(decay, perHead(shift));
      if (gate == "softplus" || gate == "qwen")
        decay = node.binary<MulOp>(node.binary<MulOp>(node.unary<SoftplusOp>(shifted), rate), -1);
      else
        decay = node.binary<MulOp>(node.unary<SigmoidOp>(node.binary<MulOp>(shifted, rate)), bound);
    }
  }
  if (isDelta) {
    beta = arrange(node.input(5), stateHeads, 1);
    beta = activation == "sigmoid" && !node.failed() ? node.unary<SigmoidOp>(beta) : beta;
  }
  // Behind its end, a request has the tokens of the next one. Zeros change no state.
  key = clearRest(key);
  value = clearRest(value);
  beta = isDelta ? clearRest(beta) : beta;
  decay = isGated ? clearRest(decay) : decay;
  return !node.failed();
}

LogicalResult GatedDeltaNet::run() {
  wide = node.builder().getF32Type();
  if (node.getInt("state_update_capacity", 0) > 0)
    return node.unsupported("steps that can be taken back", "export the model with state_update_capacity = 0");
  (void)node.hasInput(10);
  if (!readRule() || !readTokens() || !readHeads() || !readGates())
    return failure();
  DimExprs shape = {batch, node.number(stateHeads), node.number(valueSize), node.number(keySize)};
  // A state has its values first.
  Value state = node.splat(shape, wide, 0);
  if (node.hasInput(6))
    state = alignDims(node, node.input(6), shape, "the initial state does not have the shape [batch, value heads, value size, key size]");
  if (node.failed())
    return failure();
  state = node.transpose(state, {0, 1, 3, 2});
  Value output = runSteps(state, keySize);
  if (node.failed())
    return failure();
  if (isRagged)
    output = requests.unpad(output, steps);
  DimExprs dims = tokens;
  dims.append({shape[1], shape[2]});
  (void)node.result(0, node.cast(node.reshape(output, dims), node.elementType(node.input(0))));
  return node.result(1, node.transpose(state, {0, 1, 3, 2}));
}

static LogicalResult gatedDeltaNet(Node &node) { return GatedDeltaNet(node).run(); }

static LogicalResult linearAttention(Node &node) { return LinearAttention(node).run(); }

ArrayRef<Operator> getLinearAttentionOperators() {
  static const Operator rows[] = {
      asComposite({"GatedDeltaNet", 1, Elements::Float, gatedDeltaNet, INT64_MAX, "com.microsoft"}),
      asComposite({"LinearAttention", 27, Elements::Float, linearAttention}),
      asComposite({"LinearAttention", 1, Elements::Float, linearAttention, INT64_MAX, "com.microsoft"}),
  };
  return rows;
}

} // namespace kiln::import
