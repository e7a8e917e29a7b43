//===- ElfWriter.h - Binary data as an object file -------------------------===//
#ifndef KILN_COMPILER_EMIT_ELFWRITER_H
#define KILN_COMPILER_EMIT_ELFWRITER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

/// Whether writeDataObject can write objects for this target.
bool canWriteDataObject(llvm::StringRef triple);

/// Writes a relocatable ELF file with one hidden read-only symbol over `size` bytes, aligned to 64. `writeData` writes the bytes, so that
/// gigabytes never pass through an assembler or through memory.
void writeDataObject(llvm::raw_ostream &out, llvm::StringRef triple, llvm::StringRef symbol, uint64_t size,
                     llvm::function_ref<void(llvm::raw_ostream &)> writeData);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ELFWRITER_H
