//===- CrossScores.h - The scores of a search's cross attentions -------------===//
#ifndef KILN_COMPILER_IMPORT_CROSSSCORES_H
#define KILN_COMPILER_IMPORT_CROSSSCORES_H

#include "compiler/import/DecoderSearch.h"

namespace kiln::import {

/// What WhisperBeamSearch gives as cross_qk. A step of the search gives the scores of its tokens, [rows, pairs, frames], which stay where they are. Which row
/// has written the token at each place of a sequence (-1: none), is carried along with the sequence.
class CrossScores {
public:
  CrossScores(Node &node, const DecoderSteps &decoder, int64_t beams) : node(node), decoder(decoder), beams(beams) {}
  /// Reads cross_qk_layer_head and extra_decoding_ids.
  bool read();
  /// The scores of these tokens, of which each batch entry has `beams` rows, where extra_decoding_ids says what the next one is: behind sequences of `length`.
  Value force(Value scores, AffineExpr length) const;
  /// Of the scores of all heads of all layers [rows, layers * heads, frames] those that are asked for.
  Value choose(Value scores) const;
  /// What no steps have given.
  Value beginHistory() const;
  /// The rows that have written the prompt: none.
  Value begin() const;
  /// Each row has written the token at that place of its sequence.
  Value write(Value origins, AffineExpr place) const;
  /// [batch, kept, pairs, steps, frames] for sequences whose tokens the rows [batch, kept, most] have written, of what all steps gave, [steps, rows, pairs,
  /// frames].
  Value finish(Value history, Value origins) const;

private:
  Node &node;
  const DecoderSteps &decoder;
  int64_t beams;
  Value pairs, forced;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_CROSSSCORES_H
