//===- LibraryFile.h - What a compiled library says of itself --------------===//
#ifndef KILN_TOOLS_KILN_LIBRARYFILE_H
#define KILN_TOOLS_KILN_LIBRARYFILE_H

#include "compiler/Description.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace kiln {

/// What the library says of itself: its record, or only the signature, from the NAME_info table, when it has none. Takes an archive of 64-bit
/// little-endian ELF objects, for any CPU; runs nothing.
llvm::Expected<Description> readLibrary(llvm::MemoryBufferRef archive);

} // namespace kiln

#endif // KILN_TOOLS_KILN_LIBRARYFILE_H
