//===- ContribRequests.cpp - Requests of different lengths in one call --------===//
//
// Version 1 of domain com.microsoft (ONNX Runtime's ContribOperators.md): the convolution over time of language models with states, for the tokens of several
// requests without padding.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/AlignDims.h"
#include "compiler/import/Choices.h"
#include "compiler/import/DeclaredShapes.h"
#include "compiler/import/ops/Contrib.h"
#include "compiler/import/ops/Gather.h"
#include "compiler/import/ops/PackedRequests.h"
#include "compiler/import/ops/Sampling.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

//===- Packed requests ---------------------------------------------------------===//

LogicalResult PackedRequests::read(AffineExpr allTokens, AffineExpr requests, Value ends, StringRef name) {
  if (node.failed() || !node.expectRank(ends, 1, name))
    return failure();
  tokens = allTokens;
  count = requests ? requests : nn::simplifyDim(node.dims(ends)[0] - 1);
  ends = alignDims(node, ends, {nn::simplifyDim(count + 1)}, name + " does not have one number more than there are requests");
  node.requireNotNegative(tokens - 1, "a call has too few tokens");
  node.requireNotNegative(count - 1, name + " has too few numbers");
  if (node.failed())
    return failure();
  AffineExpr one = node.number(1), zero = node.number(0);
  Type i64 = node.builder().getI64Type();
  ends = node.cast(ends, i64);
  Value first = node.slice(ends, 0, zero, one), last = node.slice(ends, 0, count, one), begins = node.compare<EqualOp>(first, node.splatLike(first, 0));
  expectInRun(node, node.binary<AndOp>(begins, node.compare<EqualOp>(last, sizeOf(node, tokens, i64))), "ends_not_of_all_tokens");
  Value stops = node.slice(ends, 0, one, count);
  starts = node.slice(ends, 0, zero, count);
  counts = node.binary<SubOp>(stops, starts);
  // As many requests end before a token as its own one has before it.
  Value token = node.iota({tokens}, 0, i64);
  Value isBehind = node.compare<GreaterEqualOp>(node.reshape(token, {tokens, one}), node.reshape(stops, {one, count}));
  owner = node.reduce(ReduceKind::Sum, node.cast(isBehind, i64), {1}, /*keep=*/false);
  owner = node.binary<MinimumOp>(owner, sizeOf(node, nn::simplifyDim(count - 1), i64));
  offset = node.failed() ? token : node.binary<SubOp>(token, buildGather(node, starts, owner, 0));
  return failure(node.failed());
}

AffineExpr PackedRequests::most(const Twine &name) {
  if (node.failed() || nn::getConstantDim(count) == 1)
    return tokens;
  return node.choices().computeDim(node, node.reduce(ReduceKind::Max, counts, {0}, /*keep=*/false), tokens, name);
}

Value PackedRequests::pad(Value rows, AffineExpr length) {
  if (node.failed())
    return rows;
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1);
  Value at = node.binary<AddOp>(node.reshape(starts, {count, one}), node.iota({one, length}, 1, i64));
  at = node.binary<MinimumOp>(at, sizeOf(node, nn::simplifyDim(tokens - 1), i64));
  return node.failed() ? rows : buildGather(node, rows, at, 0);
}

Value PackedRequests::unpad(Value padded, AffineExpr length) {
  if (node.failed())
    return padded;
  Value at = node.binary<AddOp>(node.binary<MulOp>(owner, sizeOf(node, length, node.builder().getI64Type())), offset);
  AffineExpr width = node.dims(padded)[2];
  return node.failed() ? padded : buildGather(node, node.reshape(padded, {nn::simplifyDim(count * length), width}), at, 0);
}

//===- Convolution -------------------------------------------------------------===//

namespace {
/// VarlenCausalConvWithState: each channel's own convolution over a request's tokens and over its state before them.
class RequestConvolution {
public:
  explicit RequestConvolution(Node &node) : node(node), requests(node) {}
  LogicalResult run();

private:
  LogicalResult read();
  Value takeSamples(Value owners, Value offsets, Value begins, int64_t back);
  Value convolve();
  Value finalState();
  LogicalResult giveUpdates();

  Node &node;
  PackedRequests requests;
  Value x, weight, bias, state;
  /// The states' samples, one request behind the other, and behind them those of the tokens: [requests * reach + tokens, channels].
  Value samples;
  AffineExpr channels;
  int64_t kernel = 0, dilation = 1, reach = 0, capacity = 0;
  Type i64;
};
} // namespace

LogicalResult RequestConvolution::read() {
  x = node.input(0), weight = node.input(1), bias = node.optionalInput(3), state = node.input(4);
  i64 = node.builder().getI64Type();
  dilation = node.getInt("dilation", 1);
  capacity = node.getInt("state_update_capacity", 0);
  if (node.failed() || !node.expectRank(x, 2, "the input") || !node.expectRank(weight, 3, "the weight"))
    return failure();
  if (node.hasInput(6) || node.hasInput(7))
    return node.unsupported("weights that each token changes (kernel_delta and previous_mask)", "export the model without them");
  node.ignore("delta_offset");
  node.ignore("group_size");
  if ((capacity > 0) != node.hasInput(5))
    return node.error("attribute 'state_update_capacity' is " + Twine(capacity) + ", and capture_count is " + (node.hasInput(5) ? "given" : "missing"));
  if (dilation > INT32_MAX)
    return node.error("attribute 'dilation' is " + Twine(dilation) + ", expected at most " + Twine(INT32_MAX));
  DimExprs dims = node.dims(x), shape = node.dims(weight);
  auto size = nn::getConstantDim(shape[2]);
  if (!size || *size < 1 || *size > 256)
    return node.error("expected a weight [channels, 1, K] with a static K from 1 to 256");
  kernel = *size, reach = (kernel - 1) * dilation, channels = dims[1];
  weight = alignDims(node, weight, {channels, node.number(1), node.number(kernel)}, "the weight does not have the shape [channels, 1, K]");
  if (!node.expectRank(state, 3, "initial_state") || failed(requests.read(dims[0], node.dims(state)[0], node.input(2), "cumulative_sequence_length")))
    return failure();
  DimExprs states = {requests.count, channels, node.number(reach)};
  state = alignDims(node, state, states, "initial_state does not have the shape [requests, channels, (K - 1) * dilation]");
  if (node.failed())
    return failure();
  AffineExpr rows = nn::simplifyDim(requests.count * reach);
  samples = reach == 0 ? x : node.concat({node.reshape(node.transpose(state, {0, 2, 1}), {rows, channels}), x}, 0);
  return failure(node.failed());
}

/// The samples `back` tokens before places `offsets` of requests, whose tokens begin at `begins`. Before the first token stands the state.
Value RequestConvolution::takeSamples(Value owners, Value offsets, Value begins, int64_t back) {
  Value local = node.binary<AddOp>(offsets, -static_cast<double>(back));
  Value inState = node.binary<AddOp>(node.binary<MulOp>(owners, static_cast<double>(reach)), node.binary<AddOp>(local, static_cast<double>(reach)));
  Value inTokens = node.binary<AddOp>(node.binary<AddOp>(begins, local), sizeOf(node, nn::simplifyDim(requests.count * reach), i64));
  Value isBefore = node.compare<LessOp>(local, node.splatLike(local, 0));
  if (node.failed())
    return x;
  node.broadcast({&isBefore, &inState, &inTokens}, /*mixed=*/true);
  return node.failed() ? x : buildGather(node, samples, node.make<SelectOp>(inState.getType(), isBefore, inState, inTokens), 0);
}

/// Sums are those of f32.
Value RequestConvolution::convolve() {
  Type wide = node.wideType(x);
  Value sum, begins = buildGather(node, requests.starts, requests.owner, 0);
  Value taps = node.cast(node.reshape(weight, {channels, node.number(kernel)}), wide);
  for (int64_t tap = 0; tap < kernel && !node.failed(); ++tap) {
    int64_t back = (kernel - 1 - tap) * dilation;
    Value sample = back == 0 ? x : takeSamples(requests.owner, requests.offset, begins, back);
    Value factor = node.reshape(node.slice(taps, 1, node.number(tap), node.number(1)), {channels});
    Value part = node.failed() ? x : node.binary<MulOp>(node.cast(sample, wide), factor);
    sum = sum ? node.binary<AddOp>(sum, part) : part;
  }
  if (bias && !node.failed())
    sum = addToRows(node, sum, node.cast(bias, wide));
  if (node.getString("activation", "none") != "none" && !node.failed())
    sum = node.unary<SwishOp>(sum, node.builder().getF64FloatAttr(1));
  return node.failed() ? x : node.cast(sum, node.elementType(x));
}

/// The last samples of each request [requests, channels, reach].
Value RequestConvolution::finalState() {
  if (reach == 0)
    return state;
  AffineExpr one = node.number(1), all = node.number(reach);
  auto perRequest = [&](Value x) { return node.broadcastTo(node.reshape(x, {requests.count, one}), {requests.count, all}); };
  Value place = node.binary<AddOp>(perRequest(requests.counts), node.broadcastTo(node.iota({one, all}, 1, i64), {requests.count, all}));
  Value taken = takeSamples(perRequest(node.iota({requests.count}, 0, i64)), place, perRequest(requests.starts), reach);
  return node.failed() ? state : node.transpose(taken, {0, 2, 1});
}

/// The first tokens of each request, as many as it asks for, and zeros behind them.
LogicalResult RequestConvolution::giveUpdates() {
  AffineExpr one = node.number(1), room = node.number(capacity);
  if (!node.hasOutput(2))
    return success();
  if (capacity == 0)
    return node.result(2, node.splat({requests.count, room, channels}, node.elementType(x), 0));
  Value wanted = alignDims(node, node.input(5), {requests.count}, "capture_count does not have one number for each request");
  if (node.failed())
    return failure();
  wanted = node.binary<MinimumOp>(node.binary<MaximumOp>(node.cast(wanted, i64), 0.0), requests.counts);
  Value isTaken = node.compare<LessOp>(node.iota({one, room}, 1, i64), node.reshape(wanted, {requests.count, one}));
  Value taken = requests.pad(x, room);
  if (node.failed())
    return failure();
  isTaken = node.broadcastTo(node.reshape(isTaken, {requests.count, room, one}), node.dims(taken));
  return node.failed() ? failure() : node.result(2, node.make<SelectOp>(taken.getType(), isTaken, taken, node.splatLike(taken, 0)));
}

LogicalResult RequestConvolution::run() {
  if (failed(read()))
    return failure();
  Value result = convolve(), last = finalState();
  if (node.failed())
    return failure();
  (void)node.result(0, result);
  (void)node.result(1, last);
  return giveUpdates();
}

static LogicalResult varlenCausalConvWithState(Node &node) { return RequestConvolution(node).run(); }

ArrayRef<Operator> getContribRequestOperators() {
  static const Operator rows[] = {
      {"VarlenCausalConvWithState", 1, Elements::Float, varlenCausalConvWithState, INT64_MAX, "com.microsoft"},
  };
  return rows;
}

} // namespace kiln::import
