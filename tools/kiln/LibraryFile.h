//===- LibraryFile.h - What a compiled library says of itself --------------===//
#ifndef KILN_TOOLS_KILN_LIBRARYFILE_H
#define KILN_TOOLS_KILN_LIBRARYFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <string>
#include <vector>

namespace kiln {

/// The NAME_info table of a library.
struct LibraryDescription {
  struct Symbol {
    std::string name;
    int64_t min, max;
  };
  std::string name, target;
  std::vector<std::pair<std::string, std::string>> inputs, outputs; // name, "f32[1,3]"
  std::vector<Symbol> symbols;
  int64_t workspaceBytes = -1, weightsBytes = 0;
};

/// Reads the table from an archive of 64-bit little-endian ELF objects, for any CPU; runs nothing.
llvm::Expected<LibraryDescription> readLibrary(llvm::MemoryBufferRef archive);

} // namespace kiln

#endif // KILN_TOOLS_KILN_LIBRARYFILE_H
