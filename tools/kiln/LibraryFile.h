//===- LibraryFile.h - The description in a compiled library --------------===//
#ifndef KILN_TOOLS_KILN_LIBRARYFILE_H
#define KILN_TOOLS_KILN_LIBRARYFILE_H

#include "compiler/Description.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace kiln {

/// Reads the description of a library: its record or, without one, only the signature from the table NAME_info. The library is an archive of objects of any
/// format that Kiln writes; the table is read from 64-bit little-endian ELF objects. Nothing in it is run.
llvm::Expected<Description> readLibrary(llvm::MemoryBufferRef archive);

/// The text of the record of a library of kernels; nullopt: it is none, or has none.
std::optional<std::string> readKernelsRecord(llvm::MemoryBufferRef archive);

} // namespace kiln

#endif // KILN_TOOLS_KILN_LIBRARYFILE_H
