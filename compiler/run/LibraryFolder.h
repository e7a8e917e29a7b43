//===- LibraryFolder.h - Where Kiln's functions for libraries lie ----------===//
#ifndef KILN_COMPILER_RUN_LIBRARYFOLDER_H
#define KILN_COMPILER_RUN_LIBRARYFOLDER_H

#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// $KILN_LIBRARY_DIR, or the folder of libraries beside that of this program.
std::string libraryFolder();

/// The path of a file there; empty when there is none.
std::string findLibraryFile(llvm::StringRef name);

/// Makes the functions of a library that a target may list callable from models in this process. They stay until it ends.
llvm::Error loadLibrary(llvm::StringRef name);

/// The same for a user's shared library, whose functions a target names for composites.
llvm::Error loadFunctions(llvm::StringRef path);

} // namespace kiln

#endif // KILN_COMPILER_RUN_LIBRARYFOLDER_H
