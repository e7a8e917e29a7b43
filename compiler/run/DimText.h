//===- DimText.h - Expressions of a model's dynamic dimensions -------------===//
#ifndef KILN_COMPILER_RUN_DIMTEXT_H
#define KILN_COMPILER_RUN_DIMTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <optional>

namespace kiln {

/// Looks up a dimension by name.
using DimLookup = std::function<std::optional<int64_t>(llvm::StringRef name)>;

/// Evaluates the text of a dimension in kiln_tensor_info: integers, names, + - * floordiv ceildiv mod and parentheses.
/// Division rounds as in MLIR's affine expressions. An unknown name, a division by zero and an overflow are errors.
llvm::Expected<int64_t> evaluateDim(llvm::StringRef text, const DimLookup &lookup);

} // namespace kiln

#endif // KILN_COMPILER_RUN_DIMTEXT_H
