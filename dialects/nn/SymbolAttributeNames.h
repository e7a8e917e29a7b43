//===- SymbolAttributeNames.h - Attributes of the module about sizes ------===//
//
// Attributes of the module that describe its symbolic dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_DIALECTS_NN_SYMBOLATTRIBUTENAMES_H
#define KILN_DIALECTS_NN_SYMBOLATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::nn {

/// The names of the symbolic dimensions, in the order of the affine symbols.
inline constexpr llvm::StringLiteral symbolsAttrName = "nn.symbols";
/// For each symbol that the caller gives, its lowest and highest value, or nothing.
inline constexpr llvm::StringLiteral symbolBoundsAttrName = "nn.symbol_bounds";
/// Upper bounds of the last symbols, which the model computes.
inline constexpr llvm::StringLiteral computedSymbolsAttrName = "nn.computed_symbols";
/// The given symbols that bound computed ones without another bound. A run raises them.
inline constexpr llvm::StringLiteral raisedSymbolsAttrName = "nn.raised_symbols";
/// Expressions of the symbols that must be zero at run time.
inline constexpr llvm::StringLiteral constraintsAttrName = "nn.constraints";
/// An affine map of the symbols. Its results are zero if sizes that broadcast with each other are equal, which the model probably intends but does not
/// state. They are also in `nn.constraints`: the module is a version for runs in which they hold.
inline constexpr llvm::StringLiteral assumedAttrName = "nn.assumed";
/// Of a version for special sizes: a size for each symbol, or -1.
inline constexpr llvm::StringLiteral specialSizesAttrName = "nn.special_sizes";

} // namespace kiln::nn

#endif // KILN_DIALECTS_NN_SYMBOLATTRIBUTENAMES_H
