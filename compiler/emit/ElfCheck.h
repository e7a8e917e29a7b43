//===- ElfCheck.h - Whether an object can be read safely --------------------===//
#ifndef KILN_COMPILER_EMIT_ELFCHECK_H
#define KILN_COMPILER_EMIT_ELFCHECK_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// Whether the bytes begin like an ELF file.
bool isElf(llvm::StringRef bytes);

/// Whether a relocatable ELF file of 64 bits, little-endian, is consistent: its sections lie in the file, names in their tables, symbols in sections or none,
/// relocations at places of their section and with symbols that exist. LLVM's readers end the program, or go on for as long as a broken count says, over what
/// is not.
bool isSoundElf(llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ELFCHECK_H
