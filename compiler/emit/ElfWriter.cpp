//===- ElfWriter.cpp - Binary data as an object file -----------------------===//
#include "compiler/emit/ElfWriter.h"
#include "compiler/emit/ElfRecords.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"
#include <string>
#include <vector>

using namespace llvm;

namespace kiln {

/// The machine number and flags of ELF; zero for others.
static std::pair<uint16_t, uint32_t> elfMachineOf(StringRef name) {
  Triple triple(name);
  if (!triple.isOSBinFormatELF())
    return {0, 0};
  switch (triple.getArch()) {
  case Triple::x86_64:
    return {ELF::EM_X86_64, 0};
  case Triple::aarch64:
    return {ELF::EM_AARCH64, 0};
  case Triple::riscv64:
    return {ELF::EM_RISCV, ELF::EF_RISCV_RVC | ELF::EF_RISCV_FLOAT_ABI_DOUBLE};
  // Linkers refuse objects that pass floats in another way, whereas they look at compressed instructions in no case.
  case Triple::riscv32:
    return {ELF::EM_RISCV, ELF::EF_RISCV_RVC};
  case Triple::arm:
  case Triple::thumb:
    return {ELF::EM_ARM, ELF::EF_ARM_EABI_VER5};
  default:
    return {0, 0};
  }
}

bool canMakeElf(StringRef triple) { return elfMachineOf(triple).first != 0; }

/// The sections of the file, in the order of the section header table.
enum Section { Null, Data, Stack, Symbols, Strings, Names, SectionCount };

template <typename T> static void appendRecord(std::string &bytes, const T &record) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char *>(&record), sizeof(record));
}

template <typename Records> static typename Records::Header makeHeader(StringRef triple, uint64_t sectionTable) {
  auto [machine, flags] = elfMachineOf(triple);
  typename Records::Header header = {};
  std::copy_n(ELF::ElfMagic, 4, header.e_ident);
  header.e_ident[ELF::EI_CLASS] = Records::fileClass;
  header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  header.e_type = ELF::ET_REL;
  header.e_machine = machine;
  header.e_version = ELF::EV_CURRENT;
  header.e_flags = flags;
  header.e_shoff = sectionTable;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(typename Records::Section);
  header.e_shnum = SectionCount;
  header.e_shstrndx = Names;
  return header;
}

/// One section of data, with a symbol over it unless `symbol` is empty.
template <typename Records>
static DataObject makeObjectOf(StringRef triple, const std::string &sectionName, uint64_t flags, uint64_t alignment, StringRef symbol, uint64_t size) {
  constexpr uint64_t start = 64; // behind the header; the data keep their alignment in the file
  std::string strings = std::string(1, '\0') + symbol.str() + std::string(1, '\0');
  std::string names(1, '\0');
  auto name = [&](StringRef text) {
    uint32_t at = names.size();
    names += text.str() + std::string(1, '\0');
    return at;
  };
  typename Records::Symbol symbols[2] = {};
  symbols[1].st_name = 1;
  symbols[1].st_info = ELF::STB_GLOBAL << 4 | ELF::STT_OBJECT;
  symbols[1].st_other = ELF::STV_HIDDEN;
  symbols[1].st_shndx = Data;
  symbols[1].st_size = size;

  typename Records::Section table[SectionCount] = {};
  uint64_t at = start;
  auto section = [&](Section index, StringRef text, uint32_t type, uint64_t flags, uint64_t bytes, uint64_t alignment) {
    at = alignTo(at, std::min<uint64_t>(alignment, 8));
    table[index].sh_name = name(text);
    table[index].sh_type = type;
    table[index].sh_flags = flags;
    table[index].sh_offset = at;
    table[index].sh_size = bytes;
    table[index].sh_addralign = alignment;
    at += bytes;
  };
  section(Data, sectionName, ELF::SHT_PROGBITS, flags, size, alignment);
  section(Stack, ".note.GNU-stack", ELF::SHT_PROGBITS, 0, 0, 1);
  uint64_t symbolBytes = symbol.empty() ? sizeof(symbols[0]) : sizeof(symbols);
  section(Symbols, ".symtab", ELF::SHT_SYMTAB, 0, symbolBytes, 8);
  table[Symbols].sh_link = Strings;
  table[Symbols].sh_info = 1; // the first global symbol
  table[Symbols].sh_entsize = sizeof(symbols[0]);
  section(Strings, ".strtab", ELF::SHT_STRTAB, 0, strings.size(), 1);
  uint32_t ownName = name(".shstrtab");
  section(Names, "", ELF::SHT_STRTAB, 0, names.size() + 1, 1);
  table[Names].sh_name = ownName;
  uint64_t sectionTable = alignTo(at, 8);

  std::string head, tail;
  appendRecord(head, makeHeader<Records>(triple, sectionTable));
  head.resize(start, '\0');
  uint64_t written = start + size;
  auto pad = [&](uint64_t to) { tail.resize(to - written, '\0'); };
  pad(table[Symbols].sh_offset);
  tail.append(reinterpret_cast<const char *>(symbols), symbolBytes);
  pad(table[Strings].sh_offset);
  tail += strings;
  pad(table[Names].sh_offset);
  tail += names;
  pad(sectionTable);
  appendRecord(tail, table);
  return {head, tail, head.size() + size + tail.size()};
}

static DataObject makeObject(StringRef triple, const std::string &sectionName, uint64_t flags, uint64_t alignment, StringRef symbol, uint64_t size) {
  return Triple(triple).isArch32Bit() ? makeObjectOf<Records32>(triple, sectionName, flags, alignment, symbol, size)
                                      : makeObjectOf<Records64>(triple, sectionName, flags, alignment, symbol, size);
}

uint64_t getElfAlignment(uint64_t size) {
  constexpr uint64_t hugePage = uint64_t(2) << 20, fewestPages = 32, cacheLine = 64;
  return size >= fewestPages * hugePage ? hugePage : cacheLine;
}

DataObject makeElfData(StringRef triple, StringRef symbol, uint64_t size) {
  return makeObject(triple, ".rodata." + symbol.str(), ELF::SHF_ALLOC, getElfAlignment(size), symbol, size);
}

std::string makeElfRecord(StringRef triple, StringRef section, StringRef text) {
  DataObject object = makeObject(triple, section.str(), ELF::SHF_EXCLUDE, 1, "", text.size());
  return object.head + text.str() + object.tail;
}

} // namespace kiln
