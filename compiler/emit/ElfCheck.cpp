//===- ElfCheck.cpp - Whether an object can be read safely ------------------===//
#include "compiler/emit/ElfCheck.h"
#include "compiler/emit/ElfRecords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include <cstring>
#include <optional>
#include <vector>

using namespace llvm;

namespace kiln {

bool isElf(StringRef bytes) { return bytes.starts_with(StringRef(ELF::ElfMagic, 4)); }

/// Reads a record at an offset that may be unaligned.
template <typename T> static T readAt(StringRef bytes, uint64_t offset) {
  T record;
  std::memcpy(&record, bytes.data() + offset, sizeof(T));
  return record;
}

/// Whether [offset, offset + size) lies in `limit` bytes; the sum may not fit 64 bits.
static bool isInside(uint64_t offset, uint64_t size, uint64_t limit) { return offset <= limit && size <= limit - offset; }

namespace {
template <typename Records> class ElfChecker {
  using Header = typename Records::Header;
  using Section = typename Records::Section;
  using Symbol = typename Records::Symbol;

public:
  explicit ElfChecker(StringRef bytes) : bytes(bytes) {}
  bool check();

private:
  bool readSections();
  bool isSound(const Section &section) const;
  bool isTableSound(const Section &section) const;
  bool areSymbolsSound(const Section &section) const;
  template <typename Relocation> bool areRelocationsSound(const Section &section) const;
  /// The section with this number, if it is of that type.
  const Section *find(uint64_t index, uint32_t type) const;
  StringRef contentsOf(const Section &section) const { return bytes.substr(section.sh_offset, section.sh_size); }

  StringRef bytes;
  Header header = {};
  std::vector<Section> sections;
};
} // namespace

template <typename Records> auto ElfChecker<Records>::find(uint64_t index, uint32_t type) const -> const Section * {
  return index < sections.size() && sections[index].sh_type == type ? &sections[index] : nullptr;
}

template <typename Records> bool ElfChecker<Records>::readSections() {
  constexpr uint64_t entry = sizeof(Section);
  if (header.e_shentsize != entry || header.e_shnum == 0 || !isInside(header.e_shoff, header.e_shnum * entry, bytes.size()))
    return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i)
    sections.push_back(readAt<Section>(bytes, header.e_shoff + i * entry));
  return find(header.e_shstrndx, ELF::SHT_STRTAB);
}

template <typename Records> bool ElfChecker<Records>::areSymbolsSound(const Section &section) const {
  constexpr uint64_t entry = sizeof(Symbol);
  const Section *names = find(section.sh_link, ELF::SHT_STRTAB);
  if (!names || section.sh_entsize != entry || section.sh_size % entry != 0)
    return false;
  for (uint64_t offset = 0; offset < section.sh_size; offset += entry) {
    auto symbol = readAt<Symbol>(bytes, section.sh_offset + offset);
    bool isPlaced = symbol.st_shndx < sections.size() || (symbol.st_shndx >= ELF::SHN_LORESERVE && symbol.st_shndx != ELF::SHN_XINDEX);
    if (!isPlaced || (symbol.st_name != 0 && symbol.st_name >= names->sh_size))
      return false;
  }
  return true;
}

template <typename Records> template <typename Relocation> bool ElfChecker<Records>::areRelocationsSound(const Section &section) const {
  constexpr uint64_t entry = sizeof(Relocation);
  const Section *symbols = find(section.sh_link, ELF::SHT_SYMTAB);
  bool hasTarget = section.sh_info < sections.size() && sections[section.sh_info].sh_type != ELF::SHT_NOBITS;
  if (!symbols || !hasTarget || section.sh_entsize != entry || section.sh_size % entry != 0)
    return false;
  for (uint64_t offset = 0; offset < section.sh_size; offset += entry) {
    auto relocation = readAt<Relocation>(bytes, section.sh_offset + offset);
    if (relocation.getSymbol() >= symbols->sh_size / sizeof(Symbol) || relocation.r_offset >= sections[section.sh_info].sh_size)
      return false;
  }
  return true;
}

template <typename Records> bool ElfChecker<Records>::isTableSound(const Section &section) const {
  switch (section.sh_type) {
  case ELF::SHT_STRTAB:
    return section.sh_size == 0 || contentsOf(section).back() == '\0';
  case ELF::SHT_SYMTAB:
    return areSymbolsSound(section);
  case ELF::SHT_RELA:
    return areRelocationsSound<typename Records::Relocation>(section);
  case ELF::SHT_REL: // 32-bit Arm has these; no machine with 64 bits does
    return Records::fileClass == ELF::ELFCLASS32 && areRelocationsSound<typename Records::ShortRelocation>(section);
  case ELF::SHT_DYNSYM:
  case ELF::SHT_SYMTAB_SHNDX:
    return false;
  default:
    return true;
  }
}

template <typename Records> bool ElfChecker<Records>::isSound(const Section &section) const {
  bool hasName = section.sh_name == 0 || section.sh_name < sections[header.e_shstrndx].sh_size;
  bool hasBytes = section.sh_type != ELF::SHT_NOBITS && section.sh_type != ELF::SHT_NULL;
  return hasName && (!hasBytes || isInside(section.sh_offset, section.sh_size, bytes.size()));
}

template <typename Records> bool ElfChecker<Records>::check() {
  if (!isElf(bytes) || bytes.size() < sizeof(header))
    return false;
  header = readAt<Header>(bytes, 0);
  bool isKnown = header.e_ident[ELF::EI_CLASS] == Records::fileClass && header.e_ident[ELF::EI_DATA] == ELF::ELFDATA2LSB && header.e_type == ELF::ET_REL;
  if (!isKnown || !readSections())
    return false;
  // All sections must lie in the file before any is read, because the tables refer to each other.
  bool areInside = all_of(sections, [&](const Section &section) { return isSound(section); });
  return areInside && count_if(sections, [](const Section &section) { return section.sh_type == ELF::SHT_SYMTAB; }) <= 1 &&
         all_of(sections, [&](const Section &section) { return isTableSound(section); });
}

bool isSoundElf(StringRef bytes) {
  bool isNarrow = bytes.size() > ELF::EI_CLASS && static_cast<unsigned char>(bytes[ELF::EI_CLASS]) == ELF::ELFCLASS32;
  return isNarrow ? ElfChecker<Records32>(bytes).check() : ElfChecker<Records64>(bytes).check();
}

} // namespace kiln
