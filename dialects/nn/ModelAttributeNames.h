//===- ModelAttributeNames.h - What a module remembers of its ONNX file -----===//
//
// More names of AttributeNames.h: attributes of the module that no pass computes with, but that people are told.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_MODELATTRIBUTENAMES_H
#define KILN_DIALECTS_NN_MODELATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// For each of `nn.constraints`, the ONNX node that demands it, or an empty text (Constraints.h).
inline constexpr llvm::StringLiteral constraintNodesAttrName = "nn.constraint_nodes";
/// The keys and values of the file's metadata_props, in turn.
inline constexpr llvm::StringLiteral metadataAttrName = "nn.metadata";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_MODELATTRIBUTENAMES_H
