//===- ElfWriter.h - Binary data as an object file -------------------------===//
#ifndef KILN_COMPILER_EMIT_ELFWRITER_H
#define KILN_COMPILER_EMIT_ELFWRITER_H

#include "compiler/emit/DataObject.h"

namespace kiln {

/// Whether there are ELF files for this target that Kiln can write.
bool canMakeElf(llvm::StringRef triple);

/// The alignment of so many bytes of data. Programs and shared libraries with more than a few huge pages of data have them at addresses where the system can
/// map huge pages: it then maps and finds them faster. What is lost to the alignment, at most two such pages, is a small part of them.
uint64_t getElfAlignment(uint64_t size);

/// makeDataObject for ELF.
DataObject makeElfData(llvm::StringRef triple, llvm::StringRef symbol, uint64_t size);

/// makeRecordObject for ELF.
std::string makeElfRecord(llvm::StringRef triple, llvm::StringRef section, llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ELFWRITER_H
