//===- ElfWriter.h - Binary data as an object file -------------------------===//
#ifndef KILN_COMPILER_EMIT_ELFWRITER_H
#define KILN_COMPILER_EMIT_ELFWRITER_H

#include "compiler/emit/DataObject.h"

namespace kiln {

/// Whether there are ELF files for this target that Kiln can write.
bool canMakeElf(llvm::StringRef triple);

/// makeDataObject for ELF.
DataObject makeElfData(llvm::StringRef triple, llvm::StringRef symbol, uint64_t size);

/// makeRecordObject for ELF.
std::string makeElfRecord(llvm::StringRef triple, llvm::StringRef section, llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ELFWRITER_H
