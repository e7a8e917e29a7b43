//===- GreedySearch.cpp - One token of each row again and again --------------===//
//
// A step gives each row the token with the largest score, or with Sampling one by chance.
// A row that has come to its end gets padding, and the search ends when all have.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/GreedySearch.h"
#include "compiler/import/DecoderSearch.h"
#include "compiler/import/RolledLoops.h"
#include "compiler/import/TokenSampler.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
class GreedySearch {
public:
  explicit GreedySearch(Node &node) : node(node), end(node.requireInt("eos_token_id")), rules(node, {2, 3, 4, 5}, 1), decoder(node, 1, 6) {
    if (node.opType() == "Sampling")
      sampler.emplace(node);
  }
  LogicalResult run();

private:
  /// Between two steps: the sequences [rows, most], the next tokens [rows, 1], which rows have ended, and the states. What is by chance has the state of the
  /// random numbers and the scores of the last step, too.
  struct State {
    Value sequences, tokens, ended;
    SmallVector<Value> chance, states;
    SmallVector<Value> all() const;
  };
  Value choose(Value scores, State &state);
  LogicalResult giveResults(Value sequences, ArrayRef<Value> chance);
  void takeTokens(Value logits, Value sequences, bool isFirst, AffineExpr place, State &state);
  FailureOr<SmallVector<Value>> step(AffineExpr number, ArrayRef<Value> carried);

  Node &node;
  int64_t end;
  ScoreRules rules;
  GptSteps decoder;
  std::optional<TokenSampler> sampler;
};
} // namespace

SmallVector<Value> GreedySearch::State::all() const {
  SmallVector<Value> values{sequences, tokens, ended};
  llvm::append_range(values, chance);
  llvm::append_range(values, states);
  return values;
}

/// The next tokens [rows, 1] (i64).
Value GreedySearch::choose(Value scores, State &state) {
  if (sampler) {
    Value filtered = sampler->filter(scores);
    if (state.chance.size() > 1)
      state.chance[1] = filtered;
    return sampler->draw(filtered, state.chance[0]);
  }
  Type best = node.type({decoder.rows, node.number(1)}, node.builder().getI64Type());
  return node.failed() ? scores : node.make<ArgReduceOp>(best, ReduceKind::Max, scores, 1, /*selectLast=*/false);
}

/// Chooses the tokens behind the sequences so far, [rows, place], and writes them.
void GreedySearch::takeTokens(Value logits, Value sequences, bool isFirst, AffineExpr place, State &state) {
  Value scores = rules.apply(logits, sequences, isFirst);
  if (node.failed())
    return;
  Value chosen = choose(scores, state), tokens = node.failed() ? chosen : node.cast(chosen, node.elementType(decoder.ids));
  if (node.failed())
    return;
  state.ended = node.binary<OrOp>(state.ended, node.compare<EqualOp>(tokens, node.splatLike(tokens, end)));
  state.tokens = node.make<SelectOp>(tokens.getType(), state.ended, node.splatLike(tokens, decoder.padding), tokens);
  state.sequences = writeColumn(node, state.sequences, place, state.tokens);
}

/// Feeds the tokens of the step before and finds the next ones.
FailureOr<SmallVector<Value>> GreedySearch::step(AffineExpr number, ArrayRef<Value> carried) {
  size_t chances = !sampler ? 0 : node.hasOutput(1) ? 2 : 1;
  State state{carried[0], carried[1], carried[2], SmallVector<Value>(carried.slice(3, chances)), SmallVector<Value>(carried.drop_front(3 + chances))};
  Value logits;
  if (failed(decoder.step(number, state.tokens, logits, state.states)))
    return failure();
  AffineExpr place = nn::simplifyDim(decoder.length + number + 1);
  takeTokens(logits, node.slice(state.sequences, 1, node.number(0), place), /*isFirst=*/false, place, state);
  if (node.failed())
    return failure();
  SmallVector<Value> next{hasMore(node, state.ended)};
  llvm::append_range(next, state.all());
  return next;
}

LogicalResult GreedySearch::giveResults(Value sequences, ArrayRef<Value> chance) {
  SmallVector<Value> values{sequences};
  if (chance.size() > 1)
    values.push_back(chance[1]);
  return node.setResults(values);
}

LogicalResult GreedySearch::run() {
  if (int64_t type = node.getInt("model_type", 0); type != 0 && !node.failed())
    return node.unsupported("attribute 'model_type' is " + Twine(type), "only decoders of the GPT-2 form, model_type 0, are searched");
  if (!decoder.read())
    return failure();
  State state;
  Value logits;
  if (failed(decoder.start(logits, state.states)))
    return failure();
  state.sequences = decoder.widenPrompt();
  state.ended = node.splat({decoder.rows, node.number(1)}, node.builder().getI1Type(), 0);
  if (sampler && !node.failed())
    state.chance.assign(node.hasOutput(1) ? 2 : 1, sampler->start());
  takeTokens(logits, decoder.ids, /*isFirst=*/true, decoder.length, state);
  if (node.failed() || nn::getConstantDim(decoder.countSteps()) == 0)
    return node.failed() ? failure() : giveResults(state.sequences, state.chance);
  SmallVector<Value> results;
  auto body = [&](AffineExpr number, ArrayRef<Value> carried) { return step(number, carried); };
  if (failed(buildLoop(node, decoder.countSteps(), state.all(), {}, body, results, hasMore(node, state.ended))))
    return failure();
  return results.empty() ? success() : giveResults(results.front(), ArrayRef(results).slice(3, state.chance.size()));
}

LogicalResult searchGreedily(Node &node) { return GreedySearch(node).run(); }

} // namespace kiln::import
