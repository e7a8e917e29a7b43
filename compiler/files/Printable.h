//===- Printable.h - Foreign text in messages and tables -------------------===//
#ifndef KILN_COMPILER_FILES_PRINTABLE_H
#define KILN_COMPILER_FILES_PRINTABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace kiln {

/// Text that may come from a model, a library or another file, as it may stand in one line on a terminal: control characters, bytes that are no
/// UTF-8, and characters that change the order or the look of others are written \n or \xNN. What is printable already stays as it is, so that
/// it does no harm to call this twice. Text that becomes longer than `limit` bytes is cut, with "..." behind it.
std::string printable(llvm::StringRef text, size_t limit = std::string::npos);

/// Prints a line of text, printable. Everything that a command says goes through here.
void printLine(llvm::raw_ostream &os, const llvm::Twine &line);

/// Text as it may stand in JSON: what is no UTF-8 becomes U+FFFD.
std::string jsonText(llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_FILES_PRINTABLE_H
