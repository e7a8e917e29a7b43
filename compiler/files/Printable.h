//===- Printable.h - Foreign text in messages and tables -------------------===//
#ifndef KILN_COMPILER_FILES_PRINTABLE_H
#define KILN_COMPILER_FILES_PRINTABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace kiln {

/// Makes text from a model, a library or another file safe to print in one line on a terminal: control characters, invalid UTF-8, and characters that
/// change the order or the appearance of others become \n or \xNN. Printable text is unchanged, so the function is idempotent. Text that becomes
/// longer than `limit` bytes is truncated and ends in "...".
std::string printable(llvm::StringRef text, size_t limit = std::string::npos);

/// Prints a line of text, made printable. All output of the commands goes through this function.
void printLine(llvm::raw_ostream &os, const llvm::Twine &line);

/// Makes text safe for JSON: invalid UTF-8 becomes U+FFFD.
std::string jsonText(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_FILES_PRINTABLE_H
