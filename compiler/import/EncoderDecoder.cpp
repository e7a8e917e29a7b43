//===- EncoderDecoder.cpp - Searches over an encoder and a decoder ---------===//
//
// The encoder runs once, on each entry of the batch. It gives the keys and values of the cross attention, which all steps see, and mostly the logits and
// states of the decoder's first tokens as well; where it does not, the decoder runs on these.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/EncoderDecoder.h"
#include "compiler/import/AlignDims.h"
#include "compiler/import/onnx.pb.h"
#include "dialects/nn/NNArithmeticOps.h"

using namespace mlir;
using namespace kiln::nn;

namespace kiln::import {

namespace {
/// Those of T5, with a mask of the encoder's tokens, and of Whisper, whose encoder sees features and whose decoder may be given its first tokens.
class EncoderDecoderSteps : public DecoderSteps {
public:
  EncoderDecoderSteps(Node &node, int64_t beams, bool isWhisper);
  bool read() override;
  LogicalResult start(Value &logits, SmallVectorImpl<Value> &states) override;
  LogicalResult step(AffineExpr number, Value tokens, Value &logits, SmallVectorImpl<Value> &states) override;

private:
  bool checkNames(const onnx::GraphProto &graph, StringRef name, ArrayRef<StringRef> inputs, ArrayRef<StringRef> outputs);
  bool checkEncoder();
  bool checkDecoder();
  bool readDecoderIds(AffineExpr entries);
  FailureOr<SmallVector<Value>> runGraph(const onnx::GraphProto &graph, ArrayRef<Value> arguments, StringRef name, const Twine &prefix);
  LogicalResult runDecoder(Value tokens, ArrayRef<Value> pasts, AffineExpr length, const Twine &prefix, Value &logits, SmallVectorImpl<Value> &presents);
  void setScores(ArrayRef<Value> layers, AffineExpr tokens);
  AffineExpr countTokens(AffineExpr some) const { return pastForm.isShared ? most : some; }
  DimExprs stateDims(AffineExpr length) const { return {rows, node.number(heads), length, node.number(size)}; }

  bool isWhisper, hasFirstStep = false, hasHidden = false, givesScores = false;
  const onnx::GraphProto *encoder, *decoder;
  int64_t states = 0, heads = 0, size = 0;
  SharedPasts pastForm;
  Type element;
  /// What the encoder takes, and what of it each row of a step sees.
  Value encoderIds, encoderMask, mask, hidden;
  SmallVector<Value> cross;
};
} // namespace

EncoderDecoderSteps::EncoderDecoderSteps(Node &node, int64_t beams, bool isWhisper)
    : DecoderSteps(node, beams, /*rowsAxis=*/0, /*lengthAxis=*/2), isWhisper(isWhisper), encoder(node.findBody("encoder")), decoder(node.findBody("decoder")) {
  if (!encoder || !decoder)
    (void)node.error("attribute '" + StringRef(encoder ? "decoder" : "encoder") + "' is missing");
  else if (node.hasAttribute("init_decoder"))
    (void)node.unsupported("attribute 'init_decoder' beside an encoder", "the encoder does the first step");
  else if (checkEncoder())
    (void)checkDecoder();
}

/// Whether the first inputs and outputs have these names.
bool EncoderDecoderSteps::checkNames(const onnx::GraphProto &graph, StringRef name, ArrayRef<StringRef> inputs, ArrayRef<StringRef> outputs) {
  for (auto [i, want] : llvm::enumerate(inputs))
    if (static_cast<int>(i) >= graph.input_size() || graph.input(i).name() != want)
      return failed(node.error("input " + Twine(i) + " of the graph '" + name + "' is not named '" + want + "'")) && false;
  for (auto [i, want] : llvm::enumerate(outputs))
    if (static_cast<int>(i) >= graph.output_size() || graph.output(i).name() != want)
      return failed(node.error("output " + Twine(i) + " of the graph '" + name + "' is not named '" + want + "'")) && false;
  return true;
}

bool EncoderDecoderSteps::checkEncoder() {
  SmallVector<StringRef> inputs{"encoder_input_ids", isWhisper ? "decoder_input_ids" : "encoder_attention_mask"};
  hasFirstStep = isWhisper || encoder->input_size() > 2;
  if (!isWhisper && hasFirstStep)
    inputs.push_back("decoder_input_ids");
  SmallVector<StringRef> outputs{"present_key_cross_0", "present_value_cross_0"};
  if (hasFirstStep)
    outputs = {"logits", "encoder_hidden_states", "present_key_self_0", "present_value_self_0"};
  if (!checkNames(*encoder, "encoder", inputs, outputs))
    return false;
  int count = encoder->output_size();
  states = hasFirstStep ? (count - 2) / 2 : count;
  if (encoder->input_size() != static_cast<int>(inputs.size()) || (hasFirstStep ? count < 6 || (count - 2) % 4 : count % 2))
    return failed(node.error("the graph 'encoder' has " + Twine(encoder->input_size()) + " inputs and " + Twine(count) +
                             " outputs, expected a key and a value of each layer's attentions behind the first ones")) && false;
  return true;
}

bool EncoderDecoderSteps::checkDecoder() {
  SmallVector<StringRef> inputs{"input_ids"};
  if (!isWhisper)
    inputs.push_back("encoder_attention_mask");
  hasHidden = decoder->input_size() > static_cast<int>(inputs.size()) && decoder->input(inputs.size()).name() == "encoder_hidden_states";
  if (hasHidden)
    inputs.push_back("encoder_hidden_states");
  int first = static_cast<int>(inputs.size()), count = decoder->input_size();
  inputs.append({"past_key_self_0", "past_value_self_0"});
  if (!checkNames(*decoder, "decoder", inputs, {"logits", "present_key_self_0", "present_value_self_0"}))
    return false;
  pastForm = SharedPasts::read(*decoder, first + static_cast<int>(2 * states));
  givesScores = node.getFlag("decoder_output_cross_qk");
  int64_t outputs = 1 + states + givesScores * (states / 2);
  if (count != first + 2 * states + pastForm.countInputs() || decoder->output_size() != outputs)
    return failed(node.error("the graph 'decoder' has " + Twine(count) + " inputs and " + Twine(decoder->output_size()) + " outputs, expected " +
                             Twine(first + 2 * states + pastForm.countInputs()) + " and " + Twine(outputs) + " for the encoder's " +
                             Twine(states / 2) + " layers")) && false;
  if (hasHidden && !hasFirstStep)
    return failed(node.error("the graph 'decoder' takes encoder_hidden_states, which the graph 'encoder' does not give")) && false;
  const auto &tokens = decoder->input(0).type().tensor_type().shape();
  if (tokens.dim_size() == 2 && tokens.dim(1).dim_value() != 1)
    return failed(node.unsupported("the graph 'decoder' takes all tokens so far", "export it with input_ids of shape [batch, 1]")) && false;
  const auto &type = decoder->input(first).type().tensor_type();
  if (type.elem_type() != onnx::TensorProto::FLOAT && type.elem_type() != onnx::TensorProto::FLOAT16)
    return failed(node.unsupported("the states of the graph 'decoder' are not of type float or float16", "export the decoder in one of these")) && false;
  if (type.shape().dim_size() != 4 || type.shape().dim(1).dim_value() < 1 || type.shape().dim(3).dim_value() < 1)
    return failed(node.error("'past_key_self_0' of the graph 'decoder' is not declared as [batch, heads, length, size] with known heads and size")) && false;
  heads = type.shape().dim(1).dim_value(), size = type.shape().dim(3).dim_value();
  Builder &b = node.builder();
  element = type.elem_type() == onnx::TensorProto::FLOAT ? Type(b.getF32Type()) : Type(b.getF16Type());
  return true;
}

/// The decoder's first tokens: those that the node has, or one that starts.
bool EncoderDecoderSteps::readDecoderIds(AffineExpr entries) {
  Type i32 = node.builder().getI32Type();
  if (Value given = isWhisper ? node.optionalInput(10) : Value())
    return node.expectRank(given, 2, "decoder_input_ids") &&
           node.unify(node.dims(given)[0], entries, "decoder_input_ids does not have a row for each entry of the batch") &&
           readPrompt(node.reshape(given, {entries, node.dims(given)[1]}));
  int64_t first = node.getInt("decoder_start_token_id", -1);
  if (first < 0 && !node.failed())
    return failed(node.error("attribute 'decoder_start_token_id' is missing or negative")) && false;
  return !node.failed() && readPrompt(node.splat({entries, node.number(1)}, i32, static_cast<double>(first)));
}

bool EncoderDecoderSteps::read() {
  encoderIds = node.input(0);
  node.ignore("decoder_start_token_id");
  if (node.failed() || node.isUnsupported() || !node.expectRank(encoderIds, isWhisper ? 3 : 2, "input_ids"))
    return false;
  if (!isWhisper && !node.elementType(encoderIds).isSignlessInteger(32))
    return failed(node.error("input_ids is not of type int32")) && false;
  DimExprs dims = node.dims(encoderIds);
  if (!readDecoderIds(dims[0]))
    return false;
  if (isWhisper) {
    (void)node.optionalInput(9);
    return true;
  }
  if (Value given = node.optionalInput(9)) {
    encoderMask = alignDims(node, given, dims, "attention_mask does not fit input_ids");
  } else {
    Value isPadding = node.cast(node.compare<EqualOp>(encoderIds, node.splatLike(encoderIds, static_cast<double>(padding))), node.elementType(encoderIds));
    encoderMask = node.binary<SubOp>(node.splatLike(isPadding, 1), isPadding);
  }
  mask = repeat(encoderMask);
  return !node.failed();
}

FailureOr<SmallVector<Value>> EncoderDecoderSteps::runGraph(const onnx::GraphProto &graph, ArrayRef<Value> arguments, StringRef name, const Twine &prefix) {
  FailureOr<SmallVector<Value>> results = node.importBody(graph, arguments, prefix);
  if (failed(results) || node.failed() || node.isUnsupported())
    return failure();
  if (!llvm::all_of(*results, [](Value value) { return isa<RankedTensorType>(value.getType()); }))
    return node.error("the graph '" + name + "' gives a sequence, expected tensors");
  return results;
}

LogicalResult EncoderDecoderSteps::runDecoder(Value tokens, ArrayRef<Value> pasts, AffineExpr past, const Twine &prefix, Value &logits,
                                              SmallVectorImpl<Value> &presents) {
  SmallVector<Value> arguments{tokens};
  if (mask)
    arguments.push_back(mask);
  if (hasHidden)
    arguments.push_back(hidden);
  llvm::append_range(arguments, pasts);
  llvm::append_range(arguments, cross);
  pastForm.addArguments(node, past, rows, beams, most, arguments);
  DimExprs ids = node.dims(tokens);
  FailureOr<SmallVector<Value>> results = runGraph(*decoder, arguments, "decoder", prefix);
  if (failed(results))
    return failure();
  logits = takeLastLogits(node, results->front(), ids, "decoder");
  for (Value present : ArrayRef(*results).slice(1, states))
    if (!node.failed())
      presents.push_back(alignDims(node, present, stateDims(countTokens(nn::simplifyDim(past + ids[1]))),
                                   "a present of the graph 'decoder' does not fit its past and its tokens"));
  if (givesScores)
    setScores(ArrayRef(*results).drop_front(1 + states), ids[1]);
  return failure(node.failed());
}

/// The scores of each layer, of one token.
void EncoderDecoderSteps::setScores(ArrayRef<Value> layers, AffineExpr tokens) {
  SmallVector<Value> all;
  AffineExpr source = node.failed() ? node.number(1) : node.dims(cross.front())[lengthAxis];
  for (Value each : layers) {
    if (node.failed())
      return;
    each = alignDims(node, each, {rows, node.number(heads), tokens, source},
                     "the scores that the graph 'decoder' gives do not fit its tokens and the encoder's");
    if (!node.failed())
      all.push_back(node.cast(node.reshape(each, {rows, node.number(heads), source}), node.builder().getF32Type()));
  }
  if (!node.failed())
    crossScores = node.concat(all, 1);
}

LogicalResult EncoderDecoderSteps::start(Value &logits, SmallVectorImpl<Value> &buffers) {
  SmallVector<Value> arguments{encoderIds};
  if (encoderMask)
    arguments.push_back(encoderMask);
  if (hasFirstStep)
    arguments.push_back(ids);
  DimExprs first = node.dims(ids);
  FailureOr<SmallVector<Value>> results = runGraph(*encoder, arguments, "encoder", node.name() + "[0]/");
  if (failed(results))
    return failure();
  SmallVector<Value> presents;
  ArrayRef<Value> rest = *results;
  if (hasFirstStep) {
    Value all = rest[0];
    if (!node.expectRank(all, 3, "what the graph 'encoder' gives as logits"))
      return failure();
    // Some give the logits of the last token only.
    if (nn::getConstantDim(node.dims(all)[1]) == 1)
      first[1] = node.number(1);
    logits = repeat(takeLastLogits(node, all, first, "encoder"));
    hidden = repeat(rest[1]);
    rest = rest.drop_front(2);
    for (Value present : rest.take_front(states))
      presents.push_back(alignDims(node, repeat(present), stateDims(length), "a present of the graph 'encoder' does not fit its tokens"));
    rest = rest.drop_front(states);
  }
  for (Value each : rest)
    cross.push_back(repeat(each));
  ids = repeat(ids);
  if (node.failed())
    return failure();
  if (givesScores) {
    crossLayers = states / 2;
    crossScores = node.splat({rows, node.number(crossLayers * heads), node.dims(cross.front())[lengthAxis]}, node.builder().getF32Type(), 0);
  }
  if (!hasFirstStep) {
    SmallVector<Value> pasts(states, node.splat(stateDims(countTokens(node.number(0))), element, 0));
    if (failed(runDecoder(ids, pasts, node.number(0), node.name() + "[first]/", logits, presents)))
      return failure();
  }
  widen(presents, buffers);
  return failure(node.failed());
}

LogicalResult EncoderDecoderSteps::step(AffineExpr number, Value tokens, Value &logits, SmallVectorImpl<Value> &buffers) {
  AffineExpr past = nn::simplifyDim(length + number);
  SmallVector<Value> pasts, presents;
  for (Value buffer : buffers)
    pasts.push_back(pastForm.isShared ? buffer : node.slice(buffer, lengthAxis, node.number(0), past));
  if (failed(runDecoder(tokens, pasts, past, node.name() + "[step]/", logits, presents)))
    return failure();
  widen(presents, buffers);
  return failure(node.failed());
}

std::unique_ptr<DecoderSteps> makeDecoderSteps(Node &node, int64_t beams) {
  int64_t type = node.getInt("model_type", node.opType() == "WhisperBeamSearch" ? 2 : 0);
  if (type == 0)
    return std::make_unique<GptSteps>(node, beams, 9);
  return std::make_unique<EncoderDecoderSteps>(node, beams, type == 2);
}

} // namespace kiln::import
