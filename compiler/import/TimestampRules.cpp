//===- TimestampRules.cpp - Which tokens may follow each other in Whisper ----===//
#include "compiler/import/TimestampRules.h"
#include "compiler/import/DecoderSearch.h"
#include "dialects/nn/NNArithmeticOps.h"

#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

TimestampRules::TimestampRules(Node &node)
    : node(node), end(node.getInt("eos_token_id", 0)), first(node.getInt("beginning_timestamp_token_id", -1)), start(node.getInt("decoder_start_token_id", -1)),
      noTimes(node.getInt("no_timestamps_token_id", -1)), startOfModel(node.getInt("start_of_lm_token_id", -1)),
      transcribe(node.getInt("transcribe_token_id", -1)), translate(node.getInt("translate_token_id", -1)) {
  if (first < 1)
    (void)node.error("attribute 'beginning_timestamp_token_id' is " + Twine(first) + ", expected the first token that is a time");
}

/// Where places of the vocabulary are one of these tokens; negative ones are none.
Value TimestampRules::isToken(Value places, ArrayRef<int64_t> tokens) const {
  Value found = node.splat(node.dims(places), node.builder().getI1Type(), 0);
  for (int64_t token : tokens)
    if (token >= 0)
      found = node.binary<OrOp>(found, node.compare<EqualOp>(places, node.splatLike(places, static_cast<double>(token))));
  return found;
}

Value TimestampRules::forbid(Value scores, Value isForbidden) const {
  if (node.failed())
    return scores;
  return node.make<SelectOp>(scores.getType(), node.broadcastTo(isForbidden, node.dims(scores)),
                             node.splatLike(scores, -static_cast<double>(std::numeric_limits<float>::max())), scores);
}

/// Text is forbidden where the probabilities of all times add up to more than that of any text.
Value TimestampRules::preferTimes(Value scores, Value places) const {
  AffineExpr text = node.number(first), times = nn::simplifyDim(node.dims(scores)[1] - first);
  Value ofTimes = node.slice(scores, 1, text, times), mostOfText = node.reduce(ReduceKind::Max, node.slice(scores, 1, node.number(0), text), {1}, true);
  Value most = node.reduce(ReduceKind::Max, ofTimes, {1}, true);
  Value sum = node.reduce(ReduceKind::Sum, node.unary<ExpOp>(node.binary<SubOp>(ofTimes, most)), {1}, true);
  if (node.failed())
    return scores;
  Value together = node.binary<AddOp>(node.unary<LogOp>(sum), most);
  Value isText = node.compare<LessOp>(places, node.splatLike(places, static_cast<double>(first)));
  return forbid(scores, node.binary<AndOp>(node.compare<GreaterOp>(together, mostOfText), isText));
}

Value TimestampRules::apply(Value scores, Value sequences) const {
  static constexpr int64_t latestFirst = 50;
  if (node.failed())
    return scores;
  int64_t vocabulary = *nn::getConstantDim(node.dims(scores)[1]);
  if (first >= vocabulary) {
    (void)node.error("attribute 'beginning_timestamp_token_id' is " + Twine(first) + ", but there are " + Twine(vocabulary) + " tokens");
    return scores;
  }
  Type i64 = node.builder().getI64Type();
  AffineExpr one = node.number(1), zero = node.number(0), length = node.dims(sequences)[1];
  Value tokens = node.cast(sequences, i64), at = node.iota(node.dims(sequences), 1, i64), count = makeNumber(node, length);
  auto isTime = [&](Value values) { return node.compare<GreaterEqualOp>(values, node.splatLike(values, static_cast<double>(first))); };
  auto choose = [&](Value condition, Value then, Value otherwise) {
    node.broadcast({&condition, &then, &otherwise}, /*mixed=*/true);
    return node.failed() ? then : node.make<SelectOp>(then.getType(), condition, then, otherwise);
  };
  Value isTimeAt = isTime(tokens);
  // Behind the first time, or behind all tokens: where none has been sampled.
  Value begins = node.reduce(ReduceKind::Min, choose(isTimeAt, node.binary<AddOp>(at, 1.0), count), {1}, true);
  Value isBegin = node.compare<EqualOp>(begins, count);
  Value widened = node.pad(tokens, {zero, one}, {zero, zero}, PadMode::Constant, node.splat({}, i64, -1));
  Value endsInTime = isTime(node.slice(widened, 1, length, one));
  Value isPair = node.binary<OrOp>(isBegin, isTime(node.slice(widened, 1, nn::simplifyDim(length - 1), one)));
  Value lastAt = node.reduce(ReduceKind::Max, choose(isTimeAt, at, node.splatLike(at, -1)), {1}, true);
  Value latest = node.reduce(ReduceKind::Sum, choose(node.compare<EqualOp>(at, lastAt), tokens, node.splatLike(tokens, 0)), {1}, true);
  // The second one of a pair may be the same time.
  Value opens = node.binary<AndOp>(endsInTime, node.unary<NotOp>(isPair));
  Value least = node.failed() ? latest : choose(opens, latest, node.binary<AddOp>(latest, 1.0));
  Value places = node.iota({one, node.dims(scores)[1]}, 1, i64);
  auto below = [&](int64_t token) { return node.compare<LessOp>(places, node.splatLike(places, static_cast<double>(token))); };
  if (node.failed())
    return scores;
  Value ofTime = node.unary<NotOp>(below(first));
  Value forbidden = isToken(places, {noTimes, startOfModel});
  for (auto [condition, which] : {std::pair(node.unary<NotOp>(isBegin), isToken(places, {start, translate, transcribe})),
                                  std::pair(node.binary<AndOp>(endsInTime, isPair), ofTime), std::pair(opens, below(end)),
                                  std::pair(isBegin, node.unary<NotOp>(below(first + latestFirst + 1)))})
    forbidden = node.binary<OrOp>(forbidden, node.binary<AndOp>(condition, which));
  forbidden = node.binary<OrOp>(forbidden, node.binary<AndOp>(ofTime, node.compare<LessOp>(places, least)));
  return node.failed() ? scores : preferTimes(forbid(scores, forbidden), places);
}

} // namespace kiln::import
