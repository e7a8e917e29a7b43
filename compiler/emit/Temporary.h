//===- Temporary.h - Temporary files and folders -------------------------===//
//
// LLVM's functions for this replace each `%` in a folder's name by a digit.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_EMIT_TEMPORARY_H
#define KILN_COMPILER_EMIT_TEMPORARY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// Calls `make` with `stem`, eight hexadecimal digits, `suffix` in `name`, with others while it fails because there is such a file. -1 and errno when it
/// fails otherwise, else what it returns.
int makeUnique(llvm::StringRef stem, llvm::StringRef suffix, std::string &name, llvm::function_ref<int(const char *)> make);

/// Makes and opens a file with such a name and the permissions that the umask leaves; the caller owns the descriptor.
int openUnique(llvm::StringRef stem, llvm::StringRef suffix, std::string &name);

/// A new folder in the system's folder for temporary files, open to the user alone. The caller removes it with removeTemporaryFolder(); a signal that ends the
/// program does, too. `purpose` ends the message of an error: "for the compiler".
llvm::Expected<std::string> makeTemporaryFolder(llvm::StringRef purpose);

/// Removes a folder of makeTemporaryFolder() with all that is in it.
void removeTemporaryFolder(const std::string &folder);

/// Removes all temporary folders, before the program ends without returning. Safe in a signal handler.
void removeTemporaryFolders();

} // namespace kiln

#endif // KILN_COMPILER_EMIT_TEMPORARY_H
