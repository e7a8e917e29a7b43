//===- CrossScores.cpp - The scores of a search's cross attentions -----------===//
//
// ONNX Runtime computes them on GPUs only. The results are what ContribOperators.md says of them, and their number of steps is that of ONNX Runtime's source:
// how often the decoder has run. Places behind the end of a sequence are 0.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/CrossScores.h"
#include "compiler/import/AlignDims.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"

#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

bool CrossScores::read() {
  Type i64 = node.builder().getI64Type();
  AffineExpr heads = node.dims(decoder.crossScores)[1];
  if (Value given = node.optionalInput(12)) {
    if (!node.expectRank(given, 2, "cross_qk_layer_head"))
      return false;
    DimExprs dims = node.dims(given);
    auto layers = nn::getConstantDim(heads);
    given = node.cast(alignDims(node, given, {dims[0], node.number(2)}, "cross_qk_layer_head does not have pairs of a layer and a head"), i64);
    if (node.failed())
      return false;
    auto column = [&](int64_t at) { return node.reshape(node.slice(given, 1, node.number(at), node.number(1)), {dims[0]}); };
    int64_t perLayer = *layers / decoder.crossLayers;
    pairs = node.binary<AddOp>(node.binary<MulOp>(column(0), static_cast<double>(perLayer)), column(1));
    if (auto known = getIntegerContents(given); known && !node.failed())
      for (auto [i, expr] : llvm::enumerate(*known))
        if (auto number = nn::getConstantDim(expr); number && (*number < 0 || *number >= (i % 2 ? perLayer : decoder.crossLayers)))
          return mlir::failed(node.error("cross_qk_layer_head has " + StringRef(i % 2 ? "head " : "layer ") + Twine(*number) + ", but there are " +
                                         Twine(i % 2 ? perLayer : decoder.crossLayers))) && false;
  }
  if (Value given = node.failed() ? Value() : node.optionalInput(13)) {
    if (!node.expectRank(given, 2, "extra_decoding_ids"))
      return false;
    AffineExpr zero = node.number(0), length = node.dims(given)[1], steps = nn::simplifyDim(decoder.most - decoder.length);
    forced = alignDims(node, given, {decoder.batch, length}, "extra_decoding_ids does not have a row for each entry of the batch");
    node.requireNotNegative(steps - length, "extra_decoding_ids has more tokens than are decoded");
    if (!node.failed())
      forced = node.pad(forced, {zero, zero}, {zero, nn::simplifyDim(steps - length)}, PadMode::Constant, node.splat({}, node.elementType(forced), -1));
  }
  return !node.failed();
}

Value CrossScores::force(Value scores, AffineExpr length) const {
  if (!forced || node.failed())
    return scores;
  DimExprs dims = node.dims(scores);
  AffineExpr one = node.number(1);
  Value token = node.cast(node.slice(forced, 1, nn::simplifyDim(length - decoder.length), one), node.builder().getI64Type());
  token = node.broadcastTo(node.reshape(token, {decoder.batch, one, one}), {decoder.batch, node.number(beams), one});
  token = node.broadcastTo(node.reshape(token, {dims[0], one}), dims);
  Value isIt = node.compare<EqualOp>(node.iota(dims, 1, node.elementType(token)), token);
  Value only = node.make<SelectOp>(scores.getType(), isIt, node.splatLike(scores, 0), node.splatLike(scores, -std::numeric_limits<float>::max()));
  return node.make<SelectOp>(scores.getType(), node.compare<GreaterEqualOp>(token, node.splatLike(token, 0)), only, scores);
}

Value CrossScores::choose(Value scores) const {
  if (!pairs || node.failed())
    return scores;
  DimExprs dims = node.dims(scores);
  dims[1] = node.dims(pairs)[0];
  return node.make<GatherOp>(node.type(dims, node.elementType(scores)), scores, pairs, 1);
}

Value CrossScores::beginHistory() const {
  Value scores = choose(decoder.crossScores);
  DimExprs dims = node.dims(scores);
  dims.insert(dims.begin(), node.number(0));
  return node.splat(dims, node.elementType(scores), 0);
}

Value CrossScores::begin() const { return node.splat({decoder.rows, decoder.most}, node.elementType(decoder.ids), -1); }

Value CrossScores::write(Value origins, AffineExpr place) const {
  return writeColumn(node, origins, place, node.iota({decoder.rows, node.number(1)}, 0, node.elementType(origins)));
}

Value CrossScores::finish(Value history, Value origins) const {
  if (node.failed())
    return history;
  Type i64 = node.builder().getI64Type();
  DimExprs from = node.dims(history), kept = node.dims(origins);
  AffineExpr steps = from[0];
  Value rows = node.cast(node.slice(origins, 2, decoder.length, steps), i64);
  Value first = node.binary<MulOp>(node.iota(node.dims(rows), 2, i64), node.broadcastTo(makeNumber(node, decoder.rows), node.dims(rows)));
  Value isThere = node.compare<GreaterEqualOp>(rows, node.splatLike(rows, 0));
  Value at = node.make<SelectOp>(rows.getType(), isThere, node.binary<AddOp>(rows, first), node.splatLike(rows, 0));
  Value flat = node.reshape(history, {nn::simplifyDim(steps * decoder.rows), from[2], from[3]});
  DimExprs dims{kept[0], kept[1], steps, from[2], from[3]};
  if (node.failed())
    return history;
  Value found = node.make<GatherOp>(node.type(dims, node.elementType(history)), flat, at, 0);
  isThere = node.broadcastTo(node.reshape(isThere, {kept[0], kept[1], steps, node.number(1), node.number(1)}), dims);
  found = node.make<SelectOp>(found.getType(), isThere, found, node.splatLike(found, 0));
  return node.transpose(found, {0, 1, 3, 2, 4});
}

} // namespace kiln::import
