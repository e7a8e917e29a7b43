//===- TokenSampler.cpp - The next token of a search by chance ----------------===//
//
// The rules are those of ONNX Runtime 1.32's CPU kernel, as no document has their order.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/TokenSampler.h"
#include "compiler/import/DecoderSearch.h"
#include "compiler/import/RolledLoops.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// std::minstd_rand0 multiplies by this number modulo a prime.
static constexpr double factor = 16807, prime = 2147483647;

TokenSampler::TokenSampler(Node &node)
    : node(node), topP(node.getFloat("top_p", 0)), temperature(node.getFloat("temperature", 1)), filterValue(node.getFloat("filter_value", -1e20f)),
      leastKept(node.getInt("min_tokens_to_keep", 0)), isCustom(node.getFlag("custom")), seed(node.optionalInput(8)) {
  if (double penalty = node.getFloat("presence_penalty", 0); node.hasInput(7) && penalty != 0)
    (void)node.unsupported("a presence_mask with a presence_penalty, which ONNX Runtime's CPU kernel ignores against its text", "use repetition_penalty");
  if (seed)
    seed = asScalar(node, seed, "seed");
}

Value TokenSampler::start() {
  Type i64 = node.builder().getI64Type();
  Value one = node.splat({node.number(1)}, i64, 1);
  if (!seed || node.failed())
    return one;
  Value given = node.cast(node.reshape(seed, {node.number(1)}), i64);
  // The seed counts as a number without a sign, and modulo the prime.
  Value isNegative = node.compare<LessOp>(given, node.splatLike(given, 0));
  Value whole = node.failed() ? one : node.make<SelectOp>(given.getType(), isNegative, node.binary<AddOp>(given, 4294967296.0), given);
  Value rest = node.binary<SubOp>(whole, node.binary<MulOp>(node.binary<DivOp>(whole, prime), prime));
  return node.failed() ? one : node.make<SelectOp>(rest.getType(), node.compare<EqualOp>(rest, node.splatLike(rest, 0)), one, rest);
}

/// 1 where a token is none of the likeliest ones [rows, vocabulary] (f32).
Value TokenSampler::findUnlikely(Value scores) {
  DimExprs dims = node.dims(scores);
  Type i64 = node.builder().getI64Type(), f32 = node.elementType(scores);
  RankedTensorType indices = node.type(dims, i64);
  if (node.failed())
    return scores;
  auto sorted = TopKOp::create(node.builder(), node.loc, scores.getType(), indices, scores, 1, /*largest=*/isCustom);
  Value shares = node.unary<SoftmaxOp>(sorted.getValues(), node.builder().getI64IntegerAttr(1));
  Value sums = node.make<CumulativeOp>(shares.getType(), ReduceKind::Sum, shares, 1, /*exclusive=*/isCustom, /*reverse=*/false);
  Value place = node.iota(dims, 1, i64), isUnlikely;
  if (isCustom) {
    isUnlikely = node.binary<AndOp>(node.compare<GreaterOp>(sums, node.splatLike(sums, topP)), node.compare<GreaterOp>(place, node.splatLike(place, 0)));
  } else {
    double rest = static_cast<double>(1.0f - static_cast<float>(topP));
    Value most = node.binary<SubOp>(makeNumber(node, dims[1]), static_cast<double>(leastKept));
    Value isRest = node.binary<OrOp>(node.compare<LessOp>(place, most), node.compare<EqualOp>(place, node.splatLike(place, 0)));
    isUnlikely = node.binary<AndOp>(node.compare<LessEqualOp>(sums, node.splatLike(sums, rest)), isRest);
  }
  if (node.failed())
    return scores;
  Value marks = node.cast(isUnlikely, f32), none = node.splatLike(scores, 0);
  return node.failed() ? scores : node.make<ScatterElementsOp>(scores.getType(), none, sorted.getIndices(), marks, 1, ScatterReduction::None);
}

Value TokenSampler::filter(Value scores) {
  if (node.failed())
    return scores;
  if (temperature > 0 && temperature != 1)
    scores = node.binary<DivOp>(scores, temperature);
  Value unlikely = findUnlikely(scores);
  if (node.failed())
    return scores;
  return node.make<SelectOp>(scores.getType(), node.compare<GreaterOp>(unlikely, node.splatLike(unlikely, 0)), node.splatLike(scores, filterValue), scores);
}

/// A number from 0 to 1 for each row [rows, 1] (f64), each made of two of the generator's.
Value TokenSampler::drawNumbers(AffineExpr rows, Value &state) {
  Type f64 = node.builder().getF64Type();
  AffineExpr one = node.number(1);
  auto advance = [&](Value x) {
    Value product = node.binary<MulOp>(x, factor);
    return node.binary<SubOp>(product, node.binary<MulOp>(node.binary<DivOp>(product, prime), prime));
  };
  auto drawOne = [&](Value &x) {
    constexpr double range = prime - 1;
    Value low = advance(x);
    x = advance(low);
    Value first = node.cast(node.binary<AddOp>(low, -1.0), f64), second = node.cast(node.binary<AddOp>(x, -1.0), f64);
    return node.binary<DivOp>(node.binary<AddOp>(first, node.binary<MulOp>(second, range)), range * range);
  };
  constexpr int64_t mostWritten = 8;
  if (auto known = nn::getConstantDim(rows); known && *known > 0 && *known <= mostWritten) {
    SmallVector<Value> numbers;
    for (int64_t row = 0; row < *known && !node.failed(); ++row)
      numbers.push_back(node.reshape(drawOne(state), {one, one}));
    return node.failed() ? state : node.concat(numbers, 0);
  }
  SmallVector<Value> results;
  auto body = [&](AffineExpr, ArrayRef<Value> carried) -> FailureOr<SmallVector<Value>> {
    Value next = carried.front(), number = drawOne(next);
    if (node.failed())
      return failure();
    return SmallVector<Value>{next, number};
  };
  if (failed(buildLoop(node, rows, {state}, {0}, body, results)) || results.size() != 2)
    return node.splat({rows, one}, f64, 0);
  state = results[0];
  return results[1];
}

Value TokenSampler::draw(Value scores, Value &state) {
  if (node.failed())
    return scores;
  Type f64 = node.builder().getF64Type(), i64 = node.builder().getI64Type();
  DimExprs dims = node.dims(scores);
  Value x = node.cast(scores, f64), most = node.reduce(ReduceKind::Max, x, {1}, /*keep=*/true);
  Value sums = node.unary<ExpOp>(node.binary<SubOp>(x, node.broadcastTo(most, dims)));
  sums = node.failed() ? x : node.make<CumulativeOp>(sums.getType(), ReduceKind::Sum, sums, 1, /*exclusive=*/false, /*reverse=*/false);
  Value total = node.slice(sums, 1, nn::simplifyDim(dims[1] - 1), node.number(1));
  Value target = node.binary<MulOp>(drawNumbers(dims[0], state), total);
  Value passed = node.cast(node.compare<LessEqualOp>(sums, target), i64);
  Value token = node.failed() ? scores : node.reduce(ReduceKind::Sum, passed, {1}, /*keep=*/true);
  return node.failed() ? scores : node.binary<MinimumOp>(token, makeNumber(node, nn::simplifyDim(dims[1] - 1)));
}

} // namespace kiln::import
