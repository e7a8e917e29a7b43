//===- DecoderSearch.h - What searches over a decoder have in common --------===//
//
// GreedySearch and BeamSearch of domain com.microsoft run a decoder once on all of the prompt, and then in an nn.loop once for each further token. The loop
// carries the sequences and the decoder's states in buffers of the most tokens; a step cuts out of them what is there.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_IMPORT_DECODERSEARCH_H
#define KILN_COMPILER_IMPORT_DECODERSEARCH_H

#include "compiler/import/Node.h"

#include <optional>

namespace kiln::import {

/// A scalar of int64 that is a dimension or the number of a step.
Value makeNumber(Node &node, AffineExpr number);

/// An operand of one element as a scalar; some value after an error.
Value asScalar(Node &node, Value value, llvm::StringRef what);

/// The sequences in a buffer [rows, most], with the tokens [rows, 1] (int32) at a place of each.
Value writeColumn(Node &node, Value buffer, AffineExpr place, Value tokens);

/// What a search takes besides its decoder: its operands by their places, which operators differ in; -1 where it has none.
struct SearchOperands {
  int minLength = -1, repetitionPenalty = -1, vocabMask = -1, prefixVocabMask = -1;
};

/// The logits [rows, vocabulary] (f32) of the last of the tokens `ids` [rows, tokens], of what the graph `name` gives for all of them; some value after an
/// error.
Value takeLastLogits(Node &node, Value logits, llvm::ArrayRef<AffineExpr> ids, llvm::StringRef name);

/// Changes the scores [rows, vocabulary] of the next token (f32), as the operands and attributes of the search ask. Each batch entry has `beams` rows.
class ScoreRules {
public:
  ScoreRules(Node &node, const SearchOperands &operands, int64_t beams);
  /// `sequences` [rows, length] are the tokens so far; `isFirst`: those of the prompt.
  Value apply(Value scores, Value sequences, bool isFirst) const;

private:
  Value markTokens(Value scores, Value sequences, Value marks) const;
  Value penalizeRepetition(Value scores, Value sequences) const;
  Value forbidNgrams(Value scores, Value sequences) const;
  Value forbidMasked(Value scores, Value mask) const;
  Value forbidEnd(Value scores, AffineExpr length) const;

  Node &node;
  int64_t ngram, end, beams;
  Value minLength, penalty, vocabMask, prefixMask;
};

/// Whether a decoder's graph takes its pasts in buffers of the most tokens, which past and present share. Behind the pasts it then takes the number of tokens
/// that are there, and perhaps the number of beams and which of them wrote each token (cache_indirection).
struct SharedPasts {
  bool isShared = false, hasBeams = false;

  /// By the names of the inputs from `first` on.
  static SharedPasts read(const onnx::GraphProto &graph, int first);
  int countInputs() const { return isShared + 2 * hasBeams; }
  /// Adds these inputs: `past` tokens are in buffers [.., most, ..]. A beam's states are its own, as a search gathers them between steps.
  void addArguments(Node &node, AffineExpr past, AffineExpr rows, int64_t beams, AffineExpr most, llvm::SmallVectorImpl<Value> &arguments) const;
};

/// What a decoder of the GPT-2 form takes and gives: input_ids, position_ids, attention_mask and a past for each layer; logits and a present for each layer.
class GptDecoder {
public:
  /// An error or a refusal at the node where the graph named so has another form.
  GptDecoder(Node &node, llvm::StringRef attribute, int64_t beams);

  /// The inputs of a step but for the past: tokens and their positions [rows, tokens], and the mask [rows, past + tokens], all int32.
  struct Feeds {
    Value ids, positions, mask;
  };
  /// The logits of the last token [rows, vocabulary], and the presents: of one token more than the pasts for each of the step's, or as long as the pasts.
  mlir::LogicalResult run(const Feeds &feeds, llvm::ArrayRef<Value> pasts, AffineExpr pastLength, const llvm::Twine &prefix, Value &logits,
                          llvm::SmallVectorImpl<Value> &presents) const;
  /// The pasts of no tokens, of at most so many.
  llvm::SmallVector<Value> emptyPasts(AffineExpr rows, AffineExpr most) const;
  bool sharesPasts() const { return pastForm.isShared; }

private:
  bool checkSignature();
  DimExprs stateDims(AffineExpr rows, AffineExpr length) const;

  Node &node;
  const onnx::GraphProto *graph;
  std::string name;
  int64_t beams, layers = 0, heads = 0, size = 0;
  SharedPasts pastForm;
  Type element;
};

/// The prompt as a decoder sees it: positions count tokens that are no padding, which is hidden unless the node has a mask.
struct Prompt {
  Prompt(Node &node, Value ids, Value mask, int64_t padding);
  Value positions, mask;
  /// The position of the first token behind the prompt [rows, 1].
  Value next;
};

/// The steps of a search: the one on the prompt, and those on a token of each row. Between them the states are in buffers of the most tokens.
class DecoderSteps {
public:
  virtual ~DecoderSteps() = default;
  /// Reads the prompt and the most tokens; false after an error or a refusal.
  virtual bool read() = 0;
  virtual mlir::LogicalResult start(Value &logits, llvm::SmallVectorImpl<Value> &states) = 0;
  /// Step `number` of those behind the prompt's, on the tokens [rows, 1].
  virtual mlir::LogicalResult step(AffineExpr number, Value tokens, Value &logits, llvm::SmallVectorImpl<Value> &states) = 0;
  /// The prompt in buffers [rows, most], with padding behind it.
  Value widenPrompt() const;
  /// The steps behind the prompt's.
  AffineExpr countSteps() const { return nn::simplifyDim(most - length - 1); }

  /// The prompt [rows, length].
  Value ids;
  /// The scores of the cross attentions of the last step's tokens, [rows, layers * heads, source] (f32), and the number of layers; null where nobody asks for
  /// them. Before the first step the scores have only their shape.
  Value crossScores;
  int64_t crossLayers = 0;
  AffineExpr batch, rows, length, most;
  int64_t padding;
  /// The dimensions of states that count rows and tokens.
  const int64_t rowsAxis, lengthAxis;

protected:
  /// Each sequence of the prompt has `beams` rows.
  DecoderSteps(Node &node, int64_t beams, int64_t rowsAxis, int64_t lengthAxis);
  /// Takes the prompt [batch, length] and reads the most tokens; false after an error or a refusal.
  bool readPrompt(Value prompt);
  /// Each entry of the first dimension as often as there are beams.
  Value repeat(Value x) const;
  void widen(llvm::ArrayRef<Value> presents, llvm::SmallVectorImpl<Value> &states) const;

  Node &node;
  int64_t beams;
};

/// Those of a decoder of the GPT-2 form.
class GptSteps : public DecoderSteps {
public:
  /// `maskInput` is the place of the node's mask.
  GptSteps(Node &node, int64_t beams, unsigned maskInput);
  bool read() override;
  mlir::LogicalResult start(Value &logits, llvm::SmallVectorImpl<Value> &states) override;
  mlir::LogicalResult step(AffineExpr number, Value tokens, Value &logits, llvm::SmallVectorImpl<Value> &states) override;

private:
  unsigned maskInput;
  GptDecoder decoder;
  std::optional<Prompt> prompt;
};

/// Whether one of the rows has not ended (bool).
Value hasMore(Node &node, Value ended);

/// A number that the model gives or computes, at most `most`.
AffineExpr readLength(Node &node, unsigned input, int64_t most, llvm::StringRef what);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_DECODERSEARCH_H
