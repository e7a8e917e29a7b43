//===- LibraryFolder.h - The folder of Kiln's functions for libraries ----------===//
#ifndef KILN_COMPILER_RUN_LIBRARYFOLDER_H
#define KILN_COMPILER_RUN_LIBRARYFOLDER_H

#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// $KILN_LIBRARY_DIR, or the folder of libraries beside that of this program.
std::string libraryFolder();

/// The path of a file in the folder; empty if it does not exist.
std::string findLibraryFile(llvm::StringRef name);

/// Loads Kiln's functions for a library into this process, so that models can call them. They stay loaded.
llvm::Error loadLibrary(llvm::StringRef name);

/// Loads a user's shared library, which has a target's functions for composites.
llvm::Error loadFunctions(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_RUN_LIBRARYFOLDER_H
