//===- ModelAttributeNames.h - Attributes that people are told ------------===//
//
// Attributes of the module that no pass computes with, but that people are told, such as those of its ONNX file.
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
/// How a model was cut for its ranks, and what was not (passes/ranks/DescribeSharding.h).
inline constexpr llvm::StringLiteral shardingAttrName = "nn.sharding";
/// How many copies put slices of an exchange of ranks in order, beside the transposes that change layouts.
inline constexpr llvm::StringLiteral sliceCopiesAttrName = "nn.slice_copies";
/// The number of transposes that the choice of layouts left.
inline constexpr llvm::StringLiteral transposesAttrName = "nn.transposes";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_MODELATTRIBUTENAMES_H
