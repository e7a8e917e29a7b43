//===- ElfCheck.h - Whether an object can be read safely --------------------===//
#ifndef KILN_COMPILER_EMIT_ELFCHECK_H
#define KILN_COMPILER_EMIT_ELFCHECK_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// Whether the bytes begin like an ELF file.
bool isElf(llvm::StringRef bytes);

/// Whether a relocatable ELF file of 64 bits, little-endian, is consistent: its sections are inside the file, names inside their tables, symbols in
/// existing sections or none, and relocations inside their section and with existing symbols. On inconsistent files, LLVM's readers end the program or
/// loop for as long as a broken count says.
bool isSoundElf(llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ELFCHECK_H
