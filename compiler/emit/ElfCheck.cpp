//===- ElfCheck.cpp - Whether an object can be read safely ------------------===//
#include "compiler/emit/ElfCheck.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include <cstring>
#include <optional>
#include <vector>

using namespace llvm;

namespace kiln {

bool isElf(StringRef bytes) { return bytes.starts_with(StringRef(ELF::ElfMagic, 4)); }

namespace {
class ElfChecker {
public:
  explicit ElfChecker(StringRef bytes) : bytes(bytes) {}
  bool check();

private:
  bool readSections();
  bool isSound(const ELF::Elf64_Shdr &section) const;
  bool isTableSound(const ELF::Elf64_Shdr &section) const;
  bool areSymbolsSound(const ELF::Elf64_Shdr &section) const;
  bool areRelocationsSound(const ELF::Elf64_Shdr &section) const;
  /// The section with this number, if it is of that type.
  const ELF::Elf64_Shdr *find(uint64_t index, uint32_t type) const;
  StringRef contentsOf(const ELF::Elf64_Shdr &section) const { return bytes.substr(section.sh_offset, section.sh_size); }

  StringRef bytes;
  ELF::Elf64_Ehdr header = {};
  std::vector<ELF::Elf64_Shdr> sections;
};
} // namespace

/// Reads a record at an offset that may be unaligned.
template <typename T> static T readAt(StringRef bytes, uint64_t offset) {
  T record;
  std::memcpy(&record, bytes.data() + offset, sizeof(T));
  return record;
}

/// Whether [offset, offset + size) lies in `limit` bytes; the sum may not fit 64 bits.
static bool isInside(uint64_t offset, uint64_t size, uint64_t limit) { return offset <= limit && size <= limit - offset; }

const ELF::Elf64_Shdr *ElfChecker::find(uint64_t index, uint32_t type) const {
  return index < sections.size() && sections[index].sh_type == type ? &sections[index] : nullptr;
}

bool ElfChecker::readSections() {
  constexpr uint64_t entry = sizeof(ELF::Elf64_Shdr);
  if (header.e_shentsize != entry || header.e_shnum == 0 || !isInside(header.e_shoff, header.e_shnum * entry, bytes.size()))
    return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i)
    sections.push_back(readAt<ELF::Elf64_Shdr>(bytes, header.e_shoff + i * entry));
  return find(header.e_shstrndx, ELF::SHT_STRTAB);
}

bool ElfChecker::areSymbolsSound(const ELF::Elf64_Shdr &section) const {
  constexpr uint64_t entry = sizeof(ELF::Elf64_Sym);
  const ELF::Elf64_Shdr *names = find(section.sh_link, ELF::SHT_STRTAB);
  if (!names || section.sh_entsize != entry || section.sh_size % entry != 0)
    return false;
  for (uint64_t offset = 0; offset < section.sh_size; offset += entry) {
    auto symbol = readAt<ELF::Elf64_Sym>(bytes, section.sh_offset + offset);
    bool isPlaced = symbol.st_shndx < sections.size() || (symbol.st_shndx >= ELF::SHN_LORESERVE && symbol.st_shndx != ELF::SHN_XINDEX);
    if (!isPlaced || (symbol.st_name != 0 && symbol.st_name >= names->sh_size))
      return false;
  }
  return true;
}

bool ElfChecker::areRelocationsSound(const ELF::Elf64_Shdr &section) const {
  constexpr uint64_t entry = sizeof(ELF::Elf64_Rela);
  const ELF::Elf64_Shdr *symbols = find(section.sh_link, ELF::SHT_SYMTAB);
  bool hasTarget = section.sh_info < sections.size() && sections[section.sh_info].sh_type != ELF::SHT_NOBITS;
  if (!symbols || !hasTarget || section.sh_entsize != entry || section.sh_size % entry != 0)
    return false;
  for (uint64_t offset = 0; offset < section.sh_size; offset += entry) {
    auto relocation = readAt<ELF::Elf64_Rela>(bytes, section.sh_offset + offset);
    if (relocation.getSymbol() >= symbols->sh_size / sizeof(ELF::Elf64_Sym) || relocation.r_offset >= sections[section.sh_info].sh_size)
      return false;
  }
  return true;
}

bool ElfChecker::isTableSound(const ELF::Elf64_Shdr &section) const {
  switch (section.sh_type) {
  case ELF::SHT_STRTAB:
    return section.sh_size == 0 || contentsOf(section).back() == '\0';
  case ELF::SHT_SYMTAB:
    return areSymbolsSound(section);
  case ELF::SHT_RELA:
    return areRelocationsSound(section);
  case ELF::SHT_REL: // neither is in an object for 64 bits
  case ELF::SHT_DYNSYM:
  case ELF::SHT_SYMTAB_SHNDX:
    return false;
  default:
    return true;
  }
}

bool ElfChecker::isSound(const ELF::Elf64_Shdr &section) const {
  bool hasName = section.sh_name == 0 || section.sh_name < sections[header.e_shstrndx].sh_size;
  bool hasBytes = section.sh_type != ELF::SHT_NOBITS && section.sh_type != ELF::SHT_NULL;
  return hasName && (!hasBytes || isInside(section.sh_offset, section.sh_size, bytes.size()));
}

bool ElfChecker::check() {
  if (!isElf(bytes) || bytes.size() < sizeof(header))
    return false;
  header = readAt<ELF::Elf64_Ehdr>(bytes, 0);
  bool isKnown = header.e_ident[ELF::EI_CLASS] == ELF::ELFCLASS64 && header.e_ident[ELF::EI_DATA] == ELF::ELFDATA2LSB && header.e_type == ELF::ET_REL;
  if (!isKnown || !readSections())
    return false;
  // All sections must lie in the file before any is read, because the tables refer to each other.
  bool areInside = all_of(sections, [&](const ELF::Elf64_Shdr &section) { return isSound(section); });
  return areInside && count_if(sections, [](const ELF::Elf64_Shdr &section) { return section.sh_type == ELF::SHT_SYMTAB; }) <= 1 &&
         all_of(sections, [&](const ELF::Elf64_Shdr &section) { return isTableSound(section); });
}

bool isSoundElf(StringRef bytes) { return ElfChecker(bytes).check(); }

} // namespace kiln
