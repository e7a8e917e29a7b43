//===- GreedySearch.cpp - The likeliest token again and again ----------------===//
//
// A step gives each row the token with the largest score. A row that has come to its end gets padding, and the search ends when all have.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/GreedySearch.h"
#include "compiler/import/DecoderSearch.h"
#include "compiler/import/RolledLoops.h"

#include <optional>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The most tokens that ONNX Runtime's searches take.
static constexpr int64_t mostTokens = 4096;

namespace {
class GreedySearch {
public:
  explicit GreedySearch(Node &node)
      : node(node), end(node.requireInt("eos_token_id")), padding(node.requireInt("pad_token_id")), rules(node, {2, 3, 4, 5}, 1), decoder(node, "decoder") {}
  LogicalResult run();

private:
  /// Between two steps: the sequences [rows, most], the next tokens [rows, 1], which rows have ended, and the states.
  struct State {
    Value sequences, tokens, ended;
    SmallVector<Value> states;
    SmallVector<Value> all() const;
  };
  static State split(ArrayRef<Value> values);
  LogicalResult takeTokens(Value logits, Value sequences, bool isFirst, AffineExpr place, State &state);
  LogicalResult start(State &state);
  FailureOr<SmallVector<Value>> step(AffineExpr number, ArrayRef<Value> carried);
  Value keepGoing(Value ended);
  Value widen(Value present);

  Node &node;
  int64_t end, padding;
  ScoreRules rules;
  GptDecoder decoder;
  std::optional<Prompt> prompt;
  Value ids;
  AffineExpr rows, length, most;
};
} // namespace

SmallVector<Value> GreedySearch::State::all() const {
  SmallVector<Value> values{sequences, tokens, ended};
  llvm::append_range(values, states);
  return values;
}

GreedySearch::State GreedySearch::split(ArrayRef<Value> values) {
  return {values[0], values[1], values[2], SmallVector<Value>(values.drop_front(3))};
}

/// A state in a buffer of the most tokens.
Value GreedySearch::widen(Value present) {
  AffineExpr zero = node.number(0);
  DimExprs low(5, zero), high(5, zero);
  high[3] = nn::simplifyDim(most - node.dims(present)[3]);
  return node.pad(present, low, high, PadMode::Constant, node.splat({}, node.elementType(present), 0));
}

/// Whether a row has not ended.
Value GreedySearch::keepGoing(Value ended) {
  Value all = node.cast(node.reshape(ended, {rows}), node.builder().getI32Type());
  Value least = node.reduce(ReduceKind::Min, all, {0}, /*keep=*/false);
  return node.compare<EqualOp>(least, node.splatLike(least, 0));
}

/// Chooses the tokens behind the sequences so far, [rows, place], and writes them.
LogicalResult GreedySearch::takeTokens(Value logits, Value sequences, bool isFirst, AffineExpr place, State &state) {
  Value scores = rules.apply(logits, sequences, isFirst);
  if (node.failed())
    return failure();
  Type i64 = node.builder().getI64Type();
  Value best = node.make<ArgReduceOp>(node.type({rows, node.number(1)}, i64), ReduceKind::Max, scores, 1, /*selectLast=*/false);
  Value tokens = node.cast(best, node.elementType(ids));
  state.ended = node.binary<OrOp>(state.ended, node.compare<EqualOp>(tokens, node.splatLike(tokens, end)));
  state.tokens = node.make<SelectOp>(tokens.getType(), state.ended, node.splatLike(tokens, padding), tokens);
  state.sequences = writeColumn(node, state.sequences, place, state.tokens);
  return failure(node.failed());
}

/// The step on the prompt.
LogicalResult GreedySearch::start(State &state) {
  AffineExpr zero = node.number(0);
  Value fill = node.splat({}, node.elementType(ids), padding);
  state.sequences = node.pad(ids, {zero, zero}, {zero, nn::simplifyDim(most - length)}, PadMode::Constant, fill);
  state.ended = node.splat({rows, node.number(1)}, node.builder().getI1Type(), 0);
  Value logits;
  SmallVector<Value> presents;
  std::optional<GptDecoder> first;
  if (node.hasAttribute("init_decoder"))
    first.emplace(node, "init_decoder");
  const GptDecoder &chosen = first ? *first : decoder;
  if (node.failed() || node.isUnsupported() ||
      failed(chosen.run({ids, prompt->positions, prompt->mask}, chosen.emptyPasts(rows), zero, node.name() + "[0]/", logits, presents)))
    return failure();
  for (Value present : presents)
    state.states.push_back(widen(present));
  return takeTokens(logits, ids, /*isFirst=*/true, length, state);
}

/// Step `number` of those behind the prompt's: the token before is fed at its position, and the next one found.
FailureOr<SmallVector<Value>> GreedySearch::step(AffineExpr number, ArrayRef<Value> carried) {
  State state = split(carried);
  Type i32 = node.elementType(ids);
  AffineExpr past = nn::simplifyDim(length + number), zero = node.number(0), fed = nn::simplifyDim(number + 1);
  SmallVector<Value> pasts, presents;
  for (Value buffer : state.states)
    pasts.push_back(node.slice(buffer, 3, zero, past));
  Value mask = node.concat({prompt->mask, node.splat({rows, fed}, i32, 1)}, 1);
  Value positions = node.binary<AddOp>(prompt->next, node.cast(makeNumber(node, number), i32));
  Value logits;
  if (failed(decoder.run({state.tokens, positions, mask}, pasts, past, node.name() + "[step]/", logits, presents)))
    return failure();
  state.states.clear();
  for (Value present : presents)
    state.states.push_back(widen(present));
  AffineExpr place = nn::simplifyDim(past + 1);
  if (failed(takeTokens(logits, node.slice(state.sequences, 1, zero, place), /*isFirst=*/false, place, state)))
    return failure();
  SmallVector<Value> next{keepGoing(state.ended)};
  llvm::append_range(next, state.all());
  return next;
}

LogicalResult GreedySearch::run() {
  ids = node.input(0);
  if (node.failed() || node.isUnsupported())
    return failure();
  if (int64_t type = node.getInt("model_type", 0); type != 0)
    return node.unsupported("attribute 'model_type' is " + Twine(type), "only decoders of the GPT-2 form, model_type 0, are searched greedily");
  DimExprs dims = node.dims(ids);
  rows = dims[0], length = dims[1];
  most = readLength(node, 1, mostTokens, "max_length");
  node.requireNotNegative(most - length - 1, "max_length is not more than the prompt has tokens");
  if (node.failed())
    return failure();
  prompt.emplace(node, ids, node.optionalInput(6), padding);
  State state;
  if (failed(start(state)))
    return failure();
  AffineExpr steps = nn::simplifyDim(most - length - 1);
  if (nn::getConstantDim(steps) == 0)
    return node.setResults({state.sequences});
  SmallVector<Value> results;
  auto body = [&](AffineExpr number, ArrayRef<Value> carried) { return step(number, carried); };
  if (failed(buildLoop(node, steps, state.all(), {}, body, results, keepGoing(state.ended))))
    return failure();
  return results.empty() ? success() : node.setResults({results.front()});
}

LogicalResult searchGreedily(Node &node) { return GreedySearch(node).run(); }

} // namespace kiln::import
