//===- TimestampRules.h - Which tokens may follow each other in Whisper ------===//
#ifndef KILN_COMPILER_IMPORT_TIMESTAMPRULES_H
#define KILN_COMPILER_IMPORT_TIMESTAMPRULES_H

#include "compiler/import/Node.h"

namespace kiln::import {

/// What logits_processor 1 of WhisperBeamSearch forbids: the rules of OpenAI's Whisper for tokens that are times, as ONNX Runtime 1.30 has them. Times stand in
/// pairs, which never decrease; the first one is early; and a time follows where times together are likelier than each other token.
class TimestampRules {
public:
  /// Reads the attributes that name tokens.
  explicit TimestampRules(Node &node);
  /// The scores [rows, vocabulary] behind the tokens so far [rows, length]; the vocabulary has a known size.
  Value apply(Value scores, Value sequences) const;

private:
  Value isToken(Value places, llvm::ArrayRef<int64_t> tokens) const;
  Value forbid(Value scores, Value isForbidden) const;
  Value preferTimes(Value scores, Value places) const;

  Node &node;
  /// Tokens from `first` on are times.
  int64_t end, first, start, noTimes, startOfModel, transcribe, translate;
};

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_TIMESTAMPRULES_H
