//===- GreedySearch.cpp - The likeliest token again and again ----------------===//
//
// A step gives each row the token with the largest score. A row that has come to its end gets padding, and the search ends when all have.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/GreedySearch.h"
#include "compiler/import/DecoderSearch.h"
#include "compiler/import/RolledLoops.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNReductionOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
class GreedySearch {
public:
  explicit GreedySearch(Node &node) : node(node), end(node.requireInt("eos_token_id")), rules(node, {2, 3, 4, 5}, 1), decoder(node, 1, 6) {}
  LogicalResult run();

private:
  /// Between two steps: the sequences [rows, most], the next tokens [rows, 1], which rows have ended, and the states.
  struct State {
    Value sequences, tokens, ended;
    SmallVector<Value> states;
    SmallVector<Value> all() const;
  };
  void takeTokens(Value logits, Value sequences, bool isFirst, AffineExpr place, State &state);
  FailureOr<SmallVector<Value>> step(AffineExpr number, ArrayRef<Value> carried);

  Node &node;
  int64_t end;
  ScoreRules rules;
  GptSteps decoder;
};
} // namespace

SmallVector<Value> GreedySearch::State::all() const {
  SmallVector<Value> values{sequences, tokens, ended};
  llvm::append_range(values, states);
  return values;
}

/// Chooses the tokens behind the sequences so far, [rows, place], and writes them.
void GreedySearch::takeTokens(Value logits, Value sequences, bool isFirst, AffineExpr place, State &state) {
  Value scores = rules.apply(logits, sequences, isFirst);
  if (node.failed())
    return;
  Type best = node.type({decoder.rows, node.number(1)}, node.builder().getI64Type());
  Value tokens = node.cast(node.make<ArgReduceOp>(best, ReduceKind::Max, scores, 1, /*selectLast=*/false), node.elementType(decoder.ids));
  state.ended = node.binary<OrOp>(state.ended, node.compare<EqualOp>(tokens, node.splatLike(tokens, end)));
  state.tokens = node.make<SelectOp>(tokens.getType(), state.ended, node.splatLike(tokens, decoder.padding), tokens);
  state.sequences = writeColumn(node, state.sequences, place, state.tokens);
}

/// Feeds the tokens of the step before and finds the next ones.
FailureOr<SmallVector<Value>> GreedySearch::step(AffineExpr number, ArrayRef<Value> carried) {
  State state{carried[0], carried[1], carried[2], SmallVector<Value>(carried.drop_front(3))};
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

LogicalResult GreedySearch::run() {
  if (int64_t type = node.getInt("model_type", 0); type != 0 && !node.failed())
    return node.unsupported("attribute 'model_type' is " + Twine(type), "only decoders of the GPT-2 form, model_type 0, are searched greedily");
  if (!decoder.read())
    return failure();
  State state;
  Value logits;
  if (failed(decoder.start(logits, state.states)))
    return failure();
  state.sequences = decoder.widenPrompt();
  state.ended = node.splat({decoder.rows, node.number(1)}, node.builder().getI1Type(), 0);
  takeTokens(logits, decoder.ids, /*isFirst=*/true, decoder.length, state);
  if (node.failed() || nn::getConstantDim(decoder.countSteps()) == 0)
    return node.failed() ? failure() : node.setResults({state.sequences});
  SmallVector<Value> results;
  auto body = [&](AffineExpr number, ArrayRef<Value> carried) { return step(number, carried); };
  if (failed(buildLoop(node, decoder.countSteps(), state.all(), {}, body, results, hasMore(node, state.ended))))
    return failure();
  return results.empty() ? success() : node.setResults({results.front()});
}

LogicalResult searchGreedily(Node &node) { return GreedySearch(node).run(); }

} // namespace kiln::import
