//===- ElfRecords.h - The records of ELF files for either width of addresses ===//
#ifndef KILN_COMPILER_EMIT_ELFRECORDS_H
#define KILN_COMPILER_EMIT_ELFRECORDS_H

#include "llvm/BinaryFormat/ELF.h"

namespace kiln {

/// With both kinds of relocations that compilers write: those that hold what they add, and short ones.
struct Records32 {
  using Header = llvm::ELF::Elf32_Ehdr;
  using Section = llvm::ELF::Elf32_Shdr;
  using Symbol = llvm::ELF::Elf32_Sym;
  using Relocation = llvm::ELF::Elf32_Rela;
  using ShortRelocation = llvm::ELF::Elf32_Rel;
  static constexpr unsigned char fileClass = llvm::ELF::ELFCLASS32;
};
struct Records64 {
  using Header = llvm::ELF::Elf64_Ehdr;
  using Section = llvm::ELF::Elf64_Shdr;
  using Symbol = llvm::ELF::Elf64_Sym;
  using Relocation = llvm::ELF::Elf64_Rela;
  using ShortRelocation = llvm::ELF::Elf64_Rel;
  static constexpr unsigned char fileClass = llvm::ELF::ELFCLASS64;
};

} // namespace kiln

#endif // KILN_COMPILER_EMIT_ELFRECORDS_H
