//===- EncoderDecoder.h - Searches over an encoder and a decoder -----------===//
#ifndef KILN_COMPILER_IMPORT_ENCODERDECODER_H
#define KILN_COMPILER_IMPORT_ENCODERDECODER_H

#include "compiler/import/DecoderSearch.h"

#include <memory>

namespace kiln::import {

/// The steps of a BeamSearch or WhisperBeamSearch, by the form of its graphs: attribute model_type is 0 for GPT-2, 1 for T5 and 2 for Whisper.
std::unique_ptr<DecoderSteps> makeDecoderSteps(Node &node, int64_t beams);

} // namespace kiln::import

#endif // KILN_COMPILER_IMPORT_ENCODERDECODER_H
