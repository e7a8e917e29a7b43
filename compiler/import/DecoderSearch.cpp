//===- DecoderSearch.cpp - What searches over a decoder have in common ------===//
//
// The rules and their order are those of ONNX Runtime 1.30 (ContribOperators.md and what its kernels compute).
//
//===----------------------------------------------------------------------===//
#include "compiler/import/DecoderSearch.h"
#include "compiler/import/AlignDims.h"
#include "compiler/import/Choices.h"
#include "compiler/import/onnx.pb.h"
#include "compiler/import/ops/Attention.h"
#include "dialects/nn/NNArithmeticOps.h"
#include "dialects/nn/NNDataMovementOps.h"
#include "dialects/nn/NNReductionOps.h"

#include <limits>

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

/// The score of what must not be chosen.
static constexpr double forbidden = -static_cast<double>(std::numeric_limits<float>::max());

Value makeNumber(Node &node, AffineExpr number) {
  return materialize(node.builder(), node.loc, RankedTensorType::get({}, node.builder().getI64Type()), Number{nn::simplifyDim(number)});
}

Value writeColumn(Node &node, Value buffer, AffineExpr place, Value tokens) {
  if (node.failed())
    return buffer;
  DimExprs dims = node.dims(buffer);
  Value isThere = node.compare<EqualOp>(node.iota(dims, 1, node.builder().getI64Type()), makeNumber(node, place));
  return node.make<SelectOp>(buffer.getType(), isThere, node.broadcastTo(tokens, dims), buffer);
}

Value asScalar(Node &node, Value value, StringRef what) {
  if (node.failed() || !node.unify(nn::getNumElements(node.dims(value), node.context()), node.number(1), what + " must be one number: elements"))
    return value;
  return node.reshape(value, {});
}

AffineExpr readLength(Node &node, unsigned input, int64_t most, StringRef what) {
  Value value = node.input(input);
  value = node.failed() ? value : asScalar(node, value, what);
  if (node.failed())
    return node.number(1);
  if (auto known = getIntegerContents(value)) {
    AffineExpr length = known->front();
    if (auto number = nn::getConstantDim(length); number && (*number < 1 || *number > most))
      (void)node.error(what + " is " + Twine(*number) + ", expected 1 to " + Twine(most));
    return length;
  }
  Value number = node.cast(value, node.builder().getI64Type());
  return node.failed() ? node.number(1) : node.choices().computeDim(node, number, node.number(most), node.outputName(0) + "_" + what);
}

//===- The rules of scores -------------------------------------------------===//

ScoreRules::ScoreRules(Node &node, const SearchOperands &operands, int64_t beams)
    : node(node), ngram(node.getInt("no_repeat_ngram_size", 0)), end(node.requireInt("eos_token_id")), beams(beams) {
  auto find = [&](int place) { return place < 0 ? Value() : node.optionalInput(place); };
  minLength = find(operands.minLength), penalty = find(operands.repetitionPenalty);
  vocabMask = find(operands.vocabMask), prefixMask = find(operands.prefixVocabMask);
  for (auto [value, what] : {std::pair(&minLength, "min_length"), std::pair(&penalty, "repetition_penalty")})
    if (*value)
      *value = asScalar(node, *value, what);
  if (auto known = penalty && !node.failed() ? getContents(penalty) : std::nullopt; known && known->front().real <= 0)
    (void)node.error("repetition_penalty is not above 0");
}

/// Where a row has tokens whose mark is 1: [rows, vocabulary] of bool.
Value ScoreRules::markTokens(Value scores, Value sequences, Value marks) const {
  Value zeros = node.splat(node.dims(scores), node.elementType(marks), 0);
  Value at = node.cast(sequences, node.builder().getI64Type());
  if (node.failed())
    return scores;
  Value found = node.make<ScatterElementsOp>(zeros.getType(), zeros, at, marks, 1, ScatterReduction::Max);
  return node.compare<GreaterOp>(found, node.splatLike(found, 0));
}

/// Tokens that a row has become less likely: their scores are divided by the penalty, or multiplied where they are negative.
Value ScoreRules::penalizeRepetition(Value scores, Value sequences) const {
  Value isOld = markTokens(scores, sequences, node.splat(node.dims(sequences), node.elementType(scores), 1));
  if (node.failed())
    return scores;
  Value by = node.broadcastTo(node.cast(penalty, node.elementType(scores)), node.dims(scores));
  Value isNegative = node.compare<LessOp>(scores, node.splatLike(scores, 0));
  Value changed = node.make<SelectOp>(scores.getType(), isNegative, node.binary<MulOp>(scores, by), node.binary<DivOp>(scores, by));
  return node.make<SelectOp>(scores.getType(), isOld, changed, scores);
}

/// Tokens with which the last ones would make an n-gram again that the row has. Before the sequence stand numbers that are no tokens, so that there is a
/// window for each token; those with such numbers differ from the last tokens in some place.
Value ScoreRules::forbidNgrams(Value scores, Value sequences) const {
  DimExprs dims = node.dims(sequences);
  AffineExpr length = dims[1], zero = node.number(0);
  Value padded = node.pad(sequences, {zero, node.number(ngram - 1)}, {zero, zero}, PadMode::Constant, node.splat({}, node.elementType(sequences), -1));
  Value isSame = node.splat(dims, node.builder().getI1Type(), 1);
  for (int64_t at = 0; at + 1 < ngram && !node.failed(); ++at) {
    Value last = node.slice(padded, 1, nn::simplifyDim(length + at), node.number(1)), window = node.slice(padded, 1, node.number(at), length);
    isSame = node.binary<AndOp>(isSame, node.compare<EqualOp>(window, node.broadcastTo(last, dims)));
  }
  Value isNext = markTokens(scores, sequences, node.cast(isSame, node.elementType(scores)));
  return node.failed() ? scores : node.make<SelectOp>(scores.getType(), isNext, node.splatLike(scores, forbidden), scores);
}

/// Tokens whose mask is 0.
Value ScoreRules::forbidMasked(Value scores, Value mask) const {
  if (node.failed())
    return scores;
  Value isForbidden = node.compare<EqualOp>(mask, node.splatLike(mask, 0));
  return node.make<SelectOp>(scores.getType(), node.broadcastTo(isForbidden, node.dims(scores)), node.splatLike(scores, forbidden), scores);
}

/// The end where the sequences are shorter than they must be.
Value ScoreRules::forbidEnd(Value scores, AffineExpr length) const {
  if (node.failed())
    return scores;
  Type i64 = node.builder().getI64Type();
  Value isShort = node.compare<LessOp>(makeNumber(node, length), node.cast(minLength, i64));
  Value places = node.iota(node.dims(scores), 1, i64);
  Value isForbidden = node.binary<AndOp>(node.compare<EqualOp>(places, node.splatLike(places, end)), isShort);
  return node.make<SelectOp>(scores.getType(), isForbidden, node.splatLike(scores, forbidden), scores);
}

Value ScoreRules::apply(Value scores, Value sequences, bool isFirst) const {
  DimExprs dims = node.dims(scores);
  if (penalty)
    scores = penalizeRepetition(scores, sequences);
  if (ngram > 0)
    scores = forbidNgrams(scores, sequences);
  if (vocabMask)
    scores = forbidMasked(scores, alignDims(node, vocabMask, {dims[1]}, "vocab_mask does not have a number for each token of the vocabulary"));
  if (prefixMask && isFirst && !node.failed()) {
    AffineExpr batch = nn::simplifyDim(dims[0].floorDiv(beams)), one = node.number(1);
    Value mask = alignDims(node, prefixMask, {batch, dims[1]}, "prefix_vocab_mask does not have a number for each entry of the batch and each token");
    if (!node.failed())
      mask = node.reshape(node.broadcastTo(node.reshape(mask, {batch, one, dims[1]}), {batch, node.number(beams), dims[1]}), dims);
    scores = forbidMasked(scores, mask);
  }
  return minLength ? forbidEnd(scores, node.dims(sequences)[1]) : scores;
}

//===- The decoder ---------------------------------------------------------===//

Value takeLastLogits(Node &node, Value logits, ArrayRef<AffineExpr> ids, StringRef name) {
  if (!node.expectRank(logits, 3, ("what the graph '" + name + "' gives as logits").str()))
    return logits;
  AffineExpr columns = node.dims(logits)[2];
  logits = alignDims(node, logits, {ids[0], ids[1], columns}, "the logits of the graph '" + name + "' do not fit its tokens");
  if (node.failed())
    return logits;
  logits = node.reshape(node.slice(logits, 1, nn::simplifyDim(ids[1] - 1), node.number(1)), {ids[0], columns});
  if (int64_t vocabulary = node.getInt("vocab_size", 0); vocabulary > 0 && !node.failed()) {
    node.requireNotNegative(columns - vocabulary, "attribute 'vocab_size' is more than the graph '" + name + "' has logits");
    logits = node.failed() ? logits : node.slice(logits, 1, node.number(0), node.number(vocabulary));
  }
  Type element = node.elementType(logits);
  if (!node.failed() && !element.isF32() && !element.isF16())
    (void)node.unsupported("the logits of the graph '" + name + "' are not of type float or float16", "export the decoder in one of these");
  return node.failed() ? logits : node.cast(logits, node.builder().getF32Type());
}

SharedPasts SharedPasts::read(const onnx::GraphProto &graph, int first) {
  auto isNamed = [&](int input, StringRef name) { return input < graph.input_size() && graph.input(input).name() == name; };
  SharedPasts form;
  form.isShared = isNamed(first, "past_sequence_length");
  form.hasBeams = form.isShared && isNamed(first + 1, "beam_width") && isNamed(first + 2, "cache_indirection");
  return form;
}

void SharedPasts::addArguments(Node &node, AffineExpr past, AffineExpr rows, int64_t beams, AffineExpr most, SmallVectorImpl<Value> &arguments) const {
  if (!isShared || node.failed())
    return;
  Type i32 = node.builder().getI32Type();
  AffineExpr one = node.number(1);
  arguments.push_back(node.reshape(node.cast(makeNumber(node, past), i32), {one}));
  if (!hasBeams)
    return;
  arguments.push_back(node.splat({one}, i32, static_cast<double>(beams)));
  arguments.push_back(node.iota({nn::simplifyDim(rows.floorDiv(beams)), node.number(beams), most}, 1, i32));
}

GptDecoder::GptDecoder(Node &node, StringRef attribute, int64_t beams) : node(node), graph(node.findBody(attribute)), name(attribute), beams(beams) {
  if (!graph)
    (void)node.error("attribute '" + attribute + "' is missing");
  else if (checkSignature())
    layers = graph->output_size() - 1;
}

/// Whether the graph has the inputs and outputs that ONNX Runtime asks for, with heads of known number and size.
bool GptDecoder::checkSignature() {
  int inputs = graph->input_size(), outputs = graph->output_size();
  pastForm = SharedPasts::read(*graph, outputs + 2);
  static constexpr std::array<StringLiteral, 4> wanted = {"input_ids", "position_ids", "attention_mask", "past_0"};
  if (inputs < 4 || inputs != outputs + 2 + pastForm.countInputs())
    return failed(node.error("the graph '" + name + "' has " + Twine(inputs) + " inputs and " + Twine(outputs) +
                             " outputs, expected input_ids, position_ids, attention_mask and a past for each present behind the logits")) &&
           false;
  for (auto [i, input] : llvm::enumerate(wanted))
    if (graph->input(i).name() != input) {
      (void)node.error("input " + Twine(i) + " of the graph '" + name + "' is not named '" + input + "'");
      return false;
    }
  const auto &type = graph->input(3).type().tensor_type();
  if (type.elem_type() != onnx::TensorProto::FLOAT && type.elem_type() != onnx::TensorProto::FLOAT16)
    return failed(node.unsupported("the states of the graph '" + name + "' are not of type float or float16", "export the decoder in one of these")) && false;
  Builder &b = node.builder();
  element = type.elem_type() == onnx::TensorProto::FLOAT ? Type(b.getF32Type()) : Type(b.getF16Type());
  if (type.shape().dim_size() != 5 || type.shape().dim(2).dim_value() < 1 || type.shape().dim(4).dim_value() < 1)
    return failed(node.error("'past_0' of the graph '" + name + "' is not declared as [2, batch, heads, length, size] with known heads and size")) && false;
  heads = type.shape().dim(2).dim_value(), size = type.shape().dim(4).dim_value();
  return true;
}

DimExprs GptDecoder::stateDims(AffineExpr rows, AffineExpr length) const { return {node.number(2), rows, node.number(heads), length, node.number(size)}; }

SmallVector<Value> GptDecoder::emptyPasts(AffineExpr rows, AffineExpr most) const {
  if (node.failed() || node.isUnsupported())
    return {};
  return SmallVector<Value>(layers, node.splat(stateDims(rows, pastForm.isShared ? most : node.number(0)), element, 0));
}

LogicalResult GptDecoder::run(const Feeds &feeds, ArrayRef<Value> pasts, AffineExpr pastLength, const Twine &prefix, Value &logits,
                              SmallVectorImpl<Value> &presents) const {
  if (node.failed())
    return failure();
  DimExprs ids = node.dims(feeds.ids);
  AffineExpr whole = node.dims(pasts.front())[3], all = pastForm.isShared ? whole : nn::simplifyDim(pastLength + ids[1]);
  SmallVector<Value> arguments{feeds.ids, feeds.positions, feeds.mask};
  llvm::append_range(arguments, pasts);
  pastForm.addArguments(node, pastLength, ids[0], beams, whole, arguments);
  FailureOr<SmallVector<Value>> results = node.importBody(*graph, arguments, prefix);
  if (failed(results) || node.isUnsupported())
    return failure();
  if (!llvm::all_of(*results, [](Value value) { return isa<RankedTensorType>(value.getType()); }))
    return node.error("the graph '" + name + "' gives a sequence, expected tensors");
  logits = takeLastLogits(node, results->front(), ids, name);
  for (Value present : ArrayRef(*results).drop_front(1))
    if (!node.failed())
      presents.push_back(alignDims(node, present, stateDims(ids[0], all), "a present of the graph '" + name + "' does not fit its past and its tokens"));
  return failure(node.failed());
}

Prompt::Prompt(Node &node, Value ids, Value given, int64_t padding) {
  if (node.failed())
    return;
  DimExprs dims = node.dims(ids);
  Type i32 = node.elementType(ids);
  Value isToken = node.cast(node.compare<EqualOp>(ids, node.splatLike(ids, padding)), i32);
  isToken = node.binary<SubOp>(node.splatLike(isToken, 1), isToken);
  Value before = node.make<CumulativeOp>(isToken.getType(), ReduceKind::Sum, isToken, 1, /*exclusive=*/true, /*reverse=*/false);
  positions = node.binary<MulOp>(before, isToken);
  mask = given ? alignDims(node, given, dims, "attention_mask does not fit input_ids") : isToken;
  next = node.failed() ? ids : node.reduce(ReduceKind::Sum, isToken, {1}, /*keep=*/true);
}

//===- Steps ---------------------------------------------------------------===//

/// The most tokens that ONNX Runtime's searches take.
static constexpr int64_t mostTokens = 4096;

DecoderSteps::DecoderSteps(Node &node, int64_t beams, int64_t rowsAxis, int64_t lengthAxis)
    : padding(node.requireInt("pad_token_id")), rowsAxis(rowsAxis), lengthAxis(lengthAxis), node(node), beams(beams) {}

Value DecoderSteps::repeat(Value x) const {
  if (node.failed() || beams == 1)
    return x;
  DimExprs dims = node.dims(x), apart = dims, all = dims;
  apart.insert(apart.begin() + 1, node.number(1));
  all.insert(all.begin() + 1, node.number(beams));
  dims[0] = nn::simplifyDim(dims[0] * beams);
  return node.reshape(node.broadcastTo(node.reshape(x, apart), all), dims);
}

bool DecoderSteps::readPrompt(Value prompt) {
  ids = prompt;
  batch = node.dims(ids)[0], length = node.dims(ids)[1], rows = nn::simplifyDim(batch * beams);
  most = readLength(node, 1, mostTokens, "max_length");
  node.requireNotNegative(most - length - 1, "max_length is not more than the prompt has tokens");
  return !node.failed();
}

Value DecoderSteps::widenPrompt() const {
  AffineExpr zero = node.number(0);
  return node.pad(ids, {zero, zero}, {zero, nn::simplifyDim(most - length)}, PadMode::Constant, node.splat({}, node.elementType(ids), padding));
}

void DecoderSteps::widen(ArrayRef<Value> presents, SmallVectorImpl<Value> &states) const {
  AffineExpr zero = node.number(0);
  states.clear();
  for (Value present : presents) {
    DimExprs low(node.rank(present), zero), high = low;
    high[lengthAxis] = nn::simplifyDim(most - node.dims(present)[lengthAxis]);
    states.push_back(node.pad(present, low, high, PadMode::Constant, node.splat({}, node.elementType(present), 0)));
  }
}

GptSteps::GptSteps(Node &node, int64_t beams, unsigned maskInput)
    : DecoderSteps(node, beams, /*rowsAxis=*/1, /*lengthAxis=*/3), maskInput(maskInput), decoder(node, "decoder", beams) {}

bool GptSteps::read() {
  Value given = node.input(0);
  if (node.failed() || node.isUnsupported() || !node.expectRank(given, 2, "input_ids"))
    return false;
  if (!node.elementType(given).isSignlessInteger(32))
    return failed(node.error("input_ids is not of type int32")) && false;
  if (!readPrompt(given))
    return false;
  prompt.emplace(node, ids, node.optionalInput(maskInput), padding);
  for (Value *each : {&prompt->positions, &prompt->mask, &prompt->next, &ids})
    *each = repeat(*each);
  return !node.failed();
}

LogicalResult GptSteps::start(Value &logits, SmallVectorImpl<Value> &states) {
  std::optional<GptDecoder> first;
  if (node.hasAttribute("init_decoder"))
    first.emplace(node, "init_decoder", beams);
  const GptDecoder &chosen = first ? *first : decoder;
  if (first && !node.failed() && !node.isUnsupported() && first->sharesPasts() != decoder.sharesPasts())
    return node.error("only one of the graphs 'init_decoder' and 'decoder' has a buffer that past and present share");
  SmallVector<Value> presents;
  if (node.failed() || node.isUnsupported() ||
      failed(chosen.run({ids, prompt->positions, prompt->mask}, chosen.emptyPasts(rows, most), node.number(0), node.name() + "[0]/", logits, presents)))
    return failure();
  widen(presents, states);
  return failure(node.failed());
}

LogicalResult GptSteps::step(AffineExpr number, Value tokens, Value &logits, SmallVectorImpl<Value> &states) {
  Type i32 = node.elementType(ids);
  AffineExpr past = nn::simplifyDim(length + number), fed = nn::simplifyDim(number + 1);
  SmallVector<Value> pasts, presents;
  for (Value buffer : states)
    pasts.push_back(decoder.sharesPasts() ? buffer : node.slice(buffer, lengthAxis, node.number(0), past));
  Value mask = node.concat({prompt->mask, node.splat({rows, fed}, i32, 1)}, 1);
  Value positions = node.binary<AddOp>(prompt->next, node.cast(makeNumber(node, number), i32));
  if (failed(decoder.run({tokens, positions, mask}, pasts, past, node.name() + "[step]/", logits, presents)))
    return failure();
  widen(presents, states);
  return failure(node.failed());
}

Value hasMore(Node &node, Value ended) {
  AffineExpr all = nn::getNumElements(node.dims(ended), node.context());
  Value least = node.reduce(ReduceKind::Min, node.cast(node.reshape(ended, {all}), node.builder().getI32Type()), {0}, /*keep=*/false);
  return node.compare<EqualOp>(least, node.splatLike(least, 0));
}

} // namespace kiln::import
