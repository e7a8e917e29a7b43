//===- BeamSearch.cpp - The likeliest sequences of some beams ----------------===//
//
// Of the continuations of an entry's beams, a step takes twice as many as there are beams, by the sum of their logarithms. Those of the better half that end
// become hypotheses, of which each entry keeps as many as it has beams, with scores over the length to the power of length_penalty. The best that do not end
// are the next beams. An entry is done when it has all hypotheses and none can become better; at the end the beams of the others are hypotheses, too.
//
// ONNX Runtime 1.30 asks for the best of another entry when it looks whether an entry is done. Here it is the entry's own.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/BeamSearch.h"
#include "compiler/import/CrossScores.h"
#include "compiler/import/EncoderDecoder.h"
#include "compiler/import/RolledLoops.h"
#include "compiler/import/TimestampRules.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNNormalizationOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <cmath>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

static constexpr int64_t mostBeams = 128;

/// A number of beams or results, which sizes depend on.
static int64_t readCount(Node &node, unsigned input, int64_t most, StringRef what) {
  auto given = node.failed() ? std::nullopt : node.constantIntegers(input, what);
  if (!given)
    return 1;
  if (given->size() != 1 || given->front() < 1 || given->front() > most)
    (void)node.error(what + " is not one number from 1 to " + Twine(most));
  return node.failed() ? 1 : given->front();
}

namespace {
class BeamSearch {
public:
  explicit BeamSearch(Node &node)
      : node(node), beams(readCount(node, 3, mostBeams, "num_beams")), kept(node.optionalInput(4) ? readCount(node, 4, beams, "num_return_sequences") : 1),
        end(node.requireInt("eos_token_id")), stopsEarly(node.getFlag("early_stopping")), rules(node, {2, 6, 7, 8}, beams),
        steps(makeDecoderSteps(node, beams)), decoder(*steps) {}
  LogicalResult run();

private:
  /// Tokens, and where somebody asks for scores of cross attentions, the rows that have written them.
  struct Texts {
    Value tokens, origins;
  };
  /// Between two steps: the sequences [rows, most], the next tokens [rows, 1], the sums of the beams [batch, beams], the hypotheses [batch, beams, most] and
  /// their scores, how many there are of them [batch, 1] and which entries are done, and the states.
  struct State {
    Texts sequences;
    Value tokens, sums;
    Texts hypotheses;
    Value scores, count, done;
    SmallVector<Value> states;
    SmallVector<Value> all() const;
  };
  /// Twice as many continuations as beams, in order: [batch, 2 * beams].
  struct Candidates {
    Value sums, tokens, beams, ends;
  };
  State split(ArrayRef<Value> values) const;
  bool readOperands();
  bool readWhisperOperands();
  bool readProcessor(bool isWhisper);
  State begin();
  Value overLength(Value sums, AffineExpr length);
  Value rowsOf(Value places, int64_t rowsOfEntry);
  Value pick(Value x, Value places);
  Value orElse(Value done, Value then, double number);
  Texts changeTexts(const Texts &texts, llvm::function_ref<Value(Value)> change) const;
  Texts pickTexts(const Texts &texts, Value places) const;
  void keepBest(const Texts &hypotheses, Value scores, State &state);
  Candidates findCandidates(Value sums);
  void addHypotheses(const Candidates &candidates, AffineExpr length, State &state);
  void takeBeams(const Candidates &candidates, AffineExpr length, State &state);
  void checkDone(const Candidates &candidates, AffineExpr length, State &state);
  Value takeStep(Value logits, Value sequences, bool isFirst, AffineExpr length, State &state);
  Value findNoSpeech(Value logits);
  LogicalResult finish(State state, Value firstSums, Value moreSums, Value history);
  LogicalResult setOptional(const State &state, Value history);

  Node &node;
  int64_t beams, kept, end;
  bool stopsEarly;
  ScoreRules rules;
  std::unique_ptr<DecoderSteps> steps;
  DecoderSteps &decoder;
  std::optional<TimestampRules> timestamps;
  std::optional<CrossScores> cross;
  Value lengthPenalty, temperature, noSpeech;
  int64_t vocabulary = 0;
};
} // namespace

SmallVector<Value> BeamSearch::State::all() const {
  SmallVector<Value> values{sequences.tokens, tokens, sums, hypotheses.tokens, scores, count, done};
  if (sequences.origins)
    values.append({sequences.origins, hypotheses.origins});
  llvm::append_range(values, states);
  return values;
}

BeamSearch::State BeamSearch::split(ArrayRef<Value> values) const {
  State state{{values[0], {}}, values[1], values[2], {values[3], {}}, values[4], values[5], values[6], {}};
  if (cross)
    state.sequences.origins = values[7], state.hypotheses.origins = values[8];
  llvm::append_range(state.states, values.drop_front(cross ? 9 : 7));
  return state;
}

BeamSearch::Texts BeamSearch::changeTexts(const Texts &texts, llvm::function_ref<Value(Value)> change) const {
  return {change(texts.tokens), texts.origins ? change(texts.origins) : Value()};
}

/// Those of [n, most] at some places.
BeamSearch::Texts BeamSearch::pickTexts(const Texts &texts, Value places) const {
  DimExprs dims = node.dims(places);
  dims.push_back(decoder.most);
  return changeTexts(texts, [&](Value each) { return node.make<GatherOp>(node.type(dims, node.elementType(each)), each, places, 0); });
}

/// Sums of logarithms over the length to the power of the penalty.
Value BeamSearch::overLength(Value sums, AffineExpr length) {
  Value number = node.cast(makeNumber(node, length), node.elementType(sums));
  return node.binary<DivOp>(sums, lengthPenalty ? node.binary<PowOp>(number, lengthPenalty) : number);
}

/// Places within each entry, [batch, n], as those of all entries behind each other.
Value BeamSearch::rowsOf(Value places, int64_t rowsOfEntry) {
  Value first = node.binary<MulOp>(node.iota({decoder.batch, node.number(1)}, 0, node.builder().getI64Type()), static_cast<double>(rowsOfEntry));
  return node.binary<AddOp>(places, first);
}

/// The numbers of x [batch, m] at places [batch, n].
Value BeamSearch::pick(Value x, Value places) {
  return node.make<GatherElementsOp>(node.type(node.dims(places), node.elementType(x)), x, places, 1);
}

/// A number for the entries that are done [batch, 1].
Value BeamSearch::orElse(Value done, Value otherwise, double number) {
  return node.make<SelectOp>(otherwise.getType(), node.broadcastTo(done, node.dims(otherwise)), node.splatLike(otherwise, number), otherwise);
}

/// Keeps the best of the hypotheses so far and of new ones [batch, beams, most], whose scores are -inf where there is none; the older of equal ones.
void BeamSearch::keepBest(const Texts &hypotheses, Value scores, State &state) {
  DimExprs dims = node.dims(state.scores);
  Value all = node.concat({state.scores, scores}, 1);
  auto best = TopKOp::create(node.builder(), node.loc, node.type(dims, node.elementType(all)), node.type(dims, node.builder().getI64Type()), all, 1, true);
  auto join = [&](Value some, Value more) { return node.reshape(node.concat({some, more}, 1), {nn::simplifyDim(decoder.batch * (2 * beams)), decoder.most}); };
  Texts texts{join(state.hypotheses.tokens, hypotheses.tokens), cross ? join(state.hypotheses.origins, hypotheses.origins) : Value()};
  state.hypotheses = pickTexts(texts, rowsOf(best.getIndices(), 2 * beams));
  state.scores = best.getValues();
}

BeamSearch::Candidates BeamSearch::findCandidates(Value sums) {
  Type i64 = node.builder().getI64Type();
  DimExprs dims{decoder.batch, node.number(2 * beams)};
  Value flat = node.reshape(sums, {decoder.batch, node.number(beams * vocabulary)});
  auto best = TopKOp::create(node.builder(), node.loc, node.type(dims, node.elementType(sums)), node.type(dims, i64), flat, 1, true);
  Value beam = node.binary<DivOp>(best.getIndices(), static_cast<double>(vocabulary));
  Value token = node.binary<SubOp>(best.getIndices(), node.binary<MulOp>(beam, static_cast<double>(vocabulary)));
  return {best.getValues(), token, beam, node.compare<EqualOp>(token, node.splatLike(token, end))};
}

/// The better half of the candidates that end, without their end.
void BeamSearch::addHypotheses(const Candidates &candidates, AffineExpr length, State &state) {
  AffineExpr zero = node.number(0), half = node.number(beams);
  Type i32 = node.elementType(decoder.ids);
  Value ends = node.slice(candidates.ends, 1, zero, half), scores = overLength(node.slice(candidates.sums, 1, zero, half), length);
  scores = node.make<SelectOp>(scores.getType(), ends, scores, node.splatLike(scores, -HUGE_VAL));
  Texts texts = pickTexts(state.sequences, rowsOf(node.slice(candidates.beams, 1, zero, half), beams));
  keepBest(texts, orElse(state.done, scores, -HUGE_VAL), state);
  Value more = orElse(state.done, node.reduce(ReduceKind::Sum, node.cast(ends, i32), {1}, /*keep=*/true), 0);
  state.count = node.binary<MinimumOp>(node.binary<AddOp>(state.count, more), static_cast<double>(beams));
}

/// The first candidates that do not end are the next beams.
void BeamSearch::takeBeams(const Candidates &candidates, AffineExpr length, State &state) {
  Type i64 = node.builder().getI64Type();
  DimExprs dims{decoder.batch, node.number(beams)};
  // Those that end stand behind all others.
  Value order = node.binary<AddOp>(node.iota(node.dims(candidates.tokens), 1, i64), node.binary<MulOp>(node.cast(candidates.ends, i64), 2.0 * beams));
  Value at = TopKOp::create(node.builder(), node.loc, node.type(dims, i64), node.type(dims, i64), order, 1, /*largest=*/false).getIndices();
  state.sums = orElse(state.done, pick(candidates.sums, at), 0);
  Value tokens = orElse(state.done, pick(candidates.tokens, at), static_cast<double>(decoder.padding));
  state.tokens = node.reshape(node.cast(tokens, node.elementType(decoder.ids)), {decoder.rows, node.number(1)});
  Value rows = node.reshape(rowsOf(pick(candidates.beams, at), beams), {decoder.rows});
  state.sequences = pickTexts(state.sequences, rows);
  state.sequences.tokens = writeColumn(node, state.sequences.tokens, length, state.tokens);
  if (beams > 1)
    for (Value &each : state.states)
      each = node.make<GatherOp>(each.getType(), each, rows, decoder.rowsAxis);
}

/// Entries with all hypotheses are done, unless the best candidate could make a better one.
void BeamSearch::checkDone(const Candidates &candidates, AffineExpr length, State &state) {
  Value isDone = node.compare<EqualOp>(state.count, node.splatLike(state.count, static_cast<double>(beams)));
  if (!stopsEarly) {
    AffineExpr one = node.number(1);
    Value best = overLength(node.slice(candidates.sums, 1, node.number(0), one), length), worst = node.slice(state.scores, 1, node.number(beams - 1), one);
    isDone = node.binary<AndOp>(isDone, node.compare<GreaterEqualOp>(worst, best));
  }
  state.done = node.binary<OrOp>(state.done, isDone);
}

/// The step behind sequences of this length; the sums of all continuations [batch, beams, vocabulary].
Value BeamSearch::takeStep(Value logits, Value sequences, bool isFirst, AffineExpr length, State &state) {
  Value scores = node.unary<LogSoftmaxOp>(logits, node.builder().getI64IntegerAttr(1));
  scores = rules.apply(scores, sequences, isFirst);
  if (temperature && !node.failed())
    scores = node.binary<DivOp>(scores, node.broadcastTo(temperature, node.dims(scores)));
  if (timestamps)
    scores = timestamps->apply(scores, sequences);
  if (cross)
    scores = cross->force(scores, length);
  if (node.failed())
    return logits;
  if (cross && !isFirst)
    state.sequences.origins = cross->write(state.sequences.origins, nn::simplifyDim(length - 1));
  Value sums = node.binary<AddOp>(scores, node.reshape(state.sums, {decoder.rows, node.number(1)}));
  Candidates candidates = findCandidates(sums);
  addHypotheses(candidates, length, state);
  takeBeams(candidates, length, state);
  checkDone(candidates, length, state);
  return node.reshape(sums, {decoder.batch, node.number(beams), node.number(vocabulary)});
}

static bool isNumber(ArrayRef<int64_t> numbers, int64_t number) { return numbers.size() == 1 && numbers.front() == number; }

/// What WhisperBeamSearch has besides.
bool BeamSearch::readWhisperOperands() {
  for (StringRef token : {"no_speech_token_id", "no_timestamps_token_id", "beginning_timestamp_token_id", "start_of_lm_token_id", "transcribe_token_id",
                          "translate_token_id"})
    node.ignore(token);
  if (node.hasOutput(3) && !node.getFlag("decoder_output_cross_qk"))
    return failed(node.error("has result 'cross_qk', but not attribute 'decoder_output_cross_qk'")) && false;
  // What they say of those scores, if nobody asks for these.
  (void)node.optionalInput(12), (void)node.optionalInput(13);
  if ((temperature = node.optionalInput(14)))
    temperature = asScalar(node, temperature, "temperature");
  if (temperature && !node.failed())
    temperature = node.cast(temperature, node.builder().getF32Type());
  return !node.failed();
}

/// 0: none, 1: the rules for timestamps, whose tokens WhisperBeamSearch names.
bool BeamSearch::readProcessor(bool isWhisper) {
  auto kind = node.constantIntegers(11, "logits_processor");
  if (!kind || isNumber(*kind, 0))
    return kind.has_value();
  if (!isWhisper || !isNumber(*kind, 1))
    return failed(node.unsupported("a logits_processor that is not 0, or 1 of WhisperBeamSearch",
                                   "take the timestamps out of the tokens behind the model")) &&
           false;
  timestamps.emplace(node);
  return !node.failed();
}

bool BeamSearch::readOperands() {
  if (node.failed() || node.isUnsupported())
    return false;
  if (end < 0 || decoder.padding < 0)
    return failed(node.error("attribute '" + StringRef(end < 0 ? "eos_token_id" : "pad_token_id") + "' is negative")) && false;
  bool isWhisper = node.opType() == "WhisperBeamSearch";
  if (!isWhisper && node.getInt("model_type", 0) != 2 && (node.optionalInput(10) || node.optionalInput(11)))
    return failed(node.unsupported("decoder_input_ids or logits_processor", "only model_type 2 takes them")) && false;
  if (node.optionalInput(11) && !readProcessor(isWhisper))
    return false;
  if (isWhisper && !readWhisperOperands())
    return false;
  if ((lengthPenalty = node.optionalInput(5)))
    lengthPenalty = asScalar(node, lengthPenalty, "length_penalty");
  if (lengthPenalty && !node.failed())
    lengthPenalty = node.cast(lengthPenalty, node.builder().getF32Type());
  return decoder.read();
}

/// The first beam of an entry counts; the others are so bad that the first step takes continuations of that one only.
BeamSearch::State BeamSearch::begin() {
  static constexpr double hopeless = -1e9;
  DimExprs dims{decoder.batch, node.number(beams)};
  Type f32 = node.builder().getF32Type(), i32 = node.elementType(decoder.ids);
  Value place = node.iota(dims, 1, node.builder().getI64Type());
  Value isFirst = node.compare<EqualOp>(place, node.splatLike(place, 0));
  State state;
  state.sequences = {decoder.widenPrompt(), cross ? cross->begin() : Value()};
  state.sums = node.make<SelectOp>(node.type(dims, f32), isFirst, node.splat(dims, f32, 0), node.splat(dims, f32, hopeless));
  DimExprs texts{dims[0], dims[1], decoder.most};
  state.hypotheses = {node.splat(texts, i32, static_cast<double>(decoder.padding)), cross ? node.splat(texts, i32, -1) : Value()};
  state.scores = node.splat(dims, f32, -HUGE_VAL);
  state.count = node.splat({dims[0], node.number(1)}, i32, 0);
  state.done = node.splat({dims[0], node.number(1)}, node.builder().getI1Type(), 0);
  return state;
}

/// The results: the beams of entries that are not done are of the most tokens.
LogicalResult BeamSearch::finish(State state, Value firstSums, Value moreSums, Value history) {
  AffineExpr zero = node.number(0), count = node.number(kept);
  Value open = orElse(state.done, overLength(state.sums, decoder.most), -HUGE_VAL);
  Texts texts = changeTexts(state.sequences, [&](Value each) { return node.reshape(each, {decoder.batch, node.number(beams), decoder.most}); });
  keepBest(texts, open, state);
  SmallVector<Value> results{node.slice(state.hypotheses.tokens, 1, zero, count), node.slice(state.scores, 1, zero, count)};
  if (node.hasOutput(2)) {
    DimExprs dims = node.dims(firstSums);
    dims.insert(dims.begin(), node.number(1));
    Value all = node.reshape(firstSums, dims);
    if (moreSums)
      all = node.concat({all, moreSums}, 0);
    // Those of steps that were not needed are 0.
    DimExprs none(4, zero), behind(4, zero);
    behind[0] = nn::simplifyDim(decoder.most - decoder.length - node.dims(all)[0]);
    results.push_back(node.pad(all, none, behind, PadMode::Constant, node.splat({}, node.elementType(all), 0)));
  }
  // Scores are of the type of the length penalty.
  if (Value given = node.optionalInput(5); given && !node.failed())
    for (Value &each : MutableArrayRef(results).drop_front())
      each = node.cast(each, node.elementType(given));
  return failure(node.failed() || failed(node.setResults(results)) || failed(setOptional(state, history)));
}

/// What only WhisperBeamSearch gives, in the type of the length penalty.
LogicalResult BeamSearch::setOptional(const State &state, Value history) {
  Type type = node.optionalInput(5) ? node.elementType(node.optionalInput(5)) : Type(node.builder().getF32Type());
  if (cross) {
    Value origins = node.slice(state.hypotheses.origins, 1, node.number(0), node.number(kept));
    Value scores = cross->finish(history, origins);
    if (node.failed() || failed(node.result(3, node.cast(scores, type))))
      return failure();
  }
  return noSpeech ? node.result(4, node.cast(noSpeech, type)) : success();
}

/// What the first step gives the token for no speech, of each entry.
Value BeamSearch::findNoSpeech(Value logits) {
  int64_t token = node.getInt("no_speech_token_id", -1);
  if (token < 0 || token >= vocabulary) {
    (void)node.error("attribute 'no_speech_token_id' is " + Twine(token) + ", expected one of the " + Twine(vocabulary) + " tokens");
    return {};
  }
  Value scores = node.unary<LogSoftmaxOp>(logits, node.builder().getI64IntegerAttr(1));
  Value ofToken = node.reshape(node.slice(scores, 1, node.number(token), node.number(1)), {decoder.batch, node.number(beams)});
  return node.unary<ExpOp>(node.reshape(node.slice(ofToken, 1, node.number(0), node.number(1)), {decoder.batch}));
}

LogicalResult BeamSearch::run() {
  if (!readOperands())
    return failure();
  SmallVector<Value> states;
  Value logits;
  if (failed(decoder.start(logits, states)))
    return failure();
  auto columns = nn::getConstantDim(node.dims(logits)[1]);
  if (!columns || *columns < 2)
    return node.unsupported("a vocabulary of symbolic size, or of one token", "make the dimension static with --dim");
  vocabulary = *columns;
  if (node.hasOutput(4))
    noSpeech = findNoSpeech(logits);
  if (node.hasOutput(3) && !node.failed() && !cross.emplace(node, decoder, beams).read())
    return failure();
  if (node.failed())
    return failure();
  State state = begin();
  state.states = states;
  Value firstSums = takeStep(logits, decoder.ids, /*isFirst=*/true, decoder.length, state);
  if (node.failed() || nn::getConstantDim(decoder.countSteps()) == 0)
    return node.failed() ? failure() : finish(state, firstSums, {}, cross ? cross->beginHistory() : Value());
  bool hasSums = node.hasOutput(2);
  auto body = [&](AffineExpr number, ArrayRef<Value> carried) -> FailureOr<SmallVector<Value>> {
    State present = split(carried);
    Value next;
    if (failed(decoder.step(number, present.tokens, next, present.states)))
      return failure();
    AffineExpr length = nn::simplifyDim(decoder.length + number + 1);
    Value sums = takeStep(next, node.slice(present.sequences.tokens, 1, node.number(0), length), /*isFirst=*/false, length, present);
    if (node.failed())
      return failure();
    SmallVector<Value> values{hasMore(node, present.done)};
    llvm::append_range(values, present.all());
    if (hasSums)
      values.push_back(sums);
    if (cross)
      values.push_back(cross->choose(decoder.crossScores));
    if (node.failed())
      return failure();
    return values;
  };
  SmallVector<Value> results;
  SmallVector<int64_t> rows(hasSums + cross.has_value(), 0);
  if (failed(buildLoop(node, decoder.countSteps(), state.all(), rows, body, results, hasMore(node, state.done))))
    return failure();
  if (results.empty())
    return success();
  ArrayRef<Value> stacked = ArrayRef(results).take_back(rows.size());
  return finish(split(ArrayRef(results).drop_back(rows.size())), firstSums, hasSums ? stacked.front() : Value(), cross ? stacked.back() : Value());
}

LogicalResult searchBeams(Node &node) { return BeamSearch(node).run(); }

} // namespace kiln::import
