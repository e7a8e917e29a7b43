//===- SignatureAttributeNames.h - Attributes of the signature ------------===//
//
// Attributes of the arguments and results of @main, and of the module where they concern several of these.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_SIGNATUREATTRIBUTENAMES_H
#define KILN_DIALECTS_NN_SIGNATUREATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// The prefix of all external symbols.
inline constexpr llvm::StringLiteral modelAttrName = "nn.model";
/// Pairs of an input and an output that must be one buffer.
inline constexpr llvm::StringLiteral askedInPlaceAttrName = "nn.asked_in_place";
/// Sequences and optionals in the signature (Sequences.h).
inline constexpr llvm::StringLiteral sequencesAttrName = "nn.sequences";
/// The ONNX name.
inline constexpr llvm::StringLiteral nameAttrName = "nn.name";
/// Of a result that is shown for inspection: the ONNX node that computes it.
inline constexpr llvm::StringLiteral nodeAttrName = "nn.node";
/// Of an argument: the lowest and highest value that the caller promises.
inline constexpr llvm::StringLiteral rangeAttrName = "nn.range";
/// Of an argument or a result: what its integers stand for (TensorQuantization.h).
inline constexpr llvm::StringLiteral quantizationAttrName = "nn.quantization";
/// Of a result: what the classes are whose labels or scores it has (ClassLabels.h).
inline constexpr llvm::StringLiteral labelsAttrName = "nn.labels";
/// Of an argument or a result that has the caller's layout instead of the model's: nwc, nhwc or ndhwc.
inline constexpr llvm::StringLiteral layoutAttrName = "nn.layout";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SIGNATUREATTRIBUTENAMES_H
