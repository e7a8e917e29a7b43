//===- Suggestion.h - Did you mean ---------------------------------------------===//
#ifndef KILN_COMPILER_FILES_SUGGESTION_H
#define KILN_COMPILER_FILES_SUGGESTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln {

/// The name nearest to a mistyped one, if it is near enough to be meant; otherwise empty.
llvm::StringRef findNearest(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names);

/// " (did you mean 'NAME'?)", or nothing.
std::string suggest(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names);
std::string suggest(llvm::StringRef text, llvm::ArrayRef<std::string> names);

} // namespace kiln

#endif // KILN_COMPILER_FILES_SUGGESTION_H
