//===- SizeRules.h - What a model demands of its dimensions -----------------===//
#ifndef KILN_COMPILER_EMIT_SIZERULES_H
#define KILN_COMPILER_EMIT_SIZERULES_H

#include "compiler/emit/Signature.h"

namespace kiln {

/// Reads what a run checks of the dimensions that the caller gives: the rules of the signature, and what they mean for each of its symbols.
void readSizeRules(Signature &signature);

/// An expression of the fields of `dims`, as C with the functions of kiln/explain.h.
std::string fieldText(mlir::AffineExpr expr, const Signature &signature);

/// What NAME_explain looks at, one after the other.
struct SizeDemand {
  /// The same thing in two forms: as code with the functions of kiln/explain.h, and as a number in the language of kiln_tensor_info that must be 0, or with
  /// `isLeast` 0 or more. `number` is empty where it would be too long.
  std::string condition, number;
  bool isLeast = false;
  /// It is a bound of one symbol, and not what ties sizes to each other.
  bool isBound = false;
  /// By their places in the signature.
  std::vector<unsigned> symbols;
  /// Behind the sizes: "must be a multiple of 32 (Add 'p')".
  std::string words;
};

/// All demands, bounds first. `nameOf` is what stands for a symbol in conditions.
std::vector<SizeDemand> listSizeDemands(const Signature &signature, llvm::function_ref<std::string(const SignatureSymbol &)> nameOf);

/// The status of a run that does not do as demanded, as C.
llvm::StringRef demandStatus(const SizeDemand &demand);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_SIZERULES_H
