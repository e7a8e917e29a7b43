//===- AttributeNames.h - Discardable attributes of the nn dialect ---------===//
//
// Every attribute by which one pass tells another something, unless it is inherent to its operation. AttributeRules.cpp says where each belongs and what
// it must be, docs/Architecture.md who writes and who reads it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_ATTRIBUTENAMES_H
#define KILN_DIALECTS_NN_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// @name Of the module
/// @{
/// The prefix of all external symbols.
inline constexpr llvm::StringLiteral modelAttrName = "nn.model";
/// The names of the symbolic dimensions, in the order of the affine symbols.
inline constexpr llvm::StringLiteral symbolsAttrName = "nn.symbols";
/// For each symbol that the caller gives, its lowest and highest value, or nothing.
inline constexpr llvm::StringLiteral symbolBoundsAttrName = "nn.symbol_bounds";
/// Upper bounds of the last symbols, which the model computes.
inline constexpr llvm::StringLiteral computedSymbolsAttrName = "nn.computed_symbols";
/// Expressions of the symbols that must be zero at run time.
inline constexpr llvm::StringLiteral constraintsAttrName = "nn.constraints";
/// An affine map of the symbols. Its results are zero if sizes that broadcast with each other are equal, which the model probably intends but does not
/// state. They are also in `nn.constraints`: the module is a version for runs in which they hold.
inline constexpr llvm::StringLiteral assumedAttrName = "nn.assumed";
/// Of a version for special sizes: a size for each symbol, or -1.
inline constexpr llvm::StringLiteral specialSizesAttrName = "nn.special_sizes";
/// Pairs of an input and an output that must be one buffer.
inline constexpr llvm::StringLiteral askedInPlaceAttrName = "nn.asked_in_place";
/// Sequences and optionals in the signature (Sequences.h).
inline constexpr llvm::StringLiteral sequencesAttrName = "nn.sequences";
/// What the user asked for: `strict` or `fast`.
inline constexpr llvm::StringLiteral accuracyAttrName = "nn.accuracy";
/// A unit: the user asked that kernels take subnormal numbers for zero.
inline constexpr llvm::StringLiteral flushSubnormalsAttrName = "nn.flush_subnormals";
/// How many transposes the choice of layouts left.
inline constexpr llvm::StringLiteral transposesAttrName = "nn.transposes";
/// @}

/// @name Of arguments and results of @main
/// @{
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
/// @}

/// @name Of operations
/// @{
/// Of a composite that is kept whole, and of the parts of one that is not: the decision and the reason.
inline constexpr llvm::StringLiteral formAttrName = "nn.form";
/// Of the module: lines that say what is rounded on request. Of products, convolutions and weights: what became of them, or why nothing did (Rounding.h).
inline constexpr llvm::StringLiteral roundingAttrName = "nn.rounding";
/// The range of the results, for tests and inspection.
inline constexpr llvm::StringLiteral valueRangeAttrName = "nn.value_range";
/// @}

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_ATTRIBUTENAMES_H
