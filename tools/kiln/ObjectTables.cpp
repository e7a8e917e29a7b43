//===- ObjectTables.cpp - Reading untrusted archives and objects -----------===//
//
// LLVM's classes for objects end the process when an object is broken in some ways, and a thin archive makes them open other files: kiln inspect reads the
// few tables that it needs by itself. Nothing here multiplies or adds numbers of the file before they are known to lie inside of it.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/ObjectTables.h"
#include "compiler/run/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace kiln {

//===- Archives ------------------------------------------------------------===//

namespace {
/// Before each member's data: text in fixed columns, filled up with blanks.
struct MemberHeader {
  char name[16], time[12], owner[6], group[6], mode[8], size[10], end[2];
};
} // namespace

Expected<std::vector<StringRef>> listMembers(StringRef archive) {
  constexpr StringLiteral magic = "!<arch>\n", thinMagic = "!<thin>\n";
  StringRef rest = archive;
  if (rest.starts_with(thinMagic))
    return makeError("a thin archive, whose members are other files");
  if (!rest.consume_front(magic))
    return makeError("not an archive");
  std::vector<StringRef> members;
  while (!rest.empty()) {
    size_t at = archive.size() - rest.size();
    if (rest.size() < sizeof(MemberHeader))
      return makeError("the archive is cut off: no whole header at byte " + Twine(at));
    auto *header = reinterpret_cast<const MemberHeader *>(rest.data());
    rest = rest.drop_front(sizeof(MemberHeader));
    StringRef name(header->name, sizeof(header->name)), size(header->size, sizeof(header->size));
    uint64_t bytes = 0, nameBytes = 0;
    if (StringRef(header->end, sizeof(header->end)) != "`\n" || size.rtrim(' ').getAsInteger(10, bytes))
      return makeError("the archive is broken: no header of a member at byte " + Twine(at));
    if (bytes > rest.size())
      return makeError("the archive is cut off: the member at byte " + Twine(at) + " has " + Twine(bytes) + " bytes, but " + Twine(rest.size()) +
                       " are left");
    StringRef data = rest.take_front(bytes);
    // BSD's format puts a long name in front of the data.
    if (name.consume_front("#1/") && !name.rtrim(' ').getAsInteger(10, nameBytes))
      data = data.drop_front(std::min<uint64_t>(nameBytes, data.size()));
    members.push_back(data);
    rest = rest.drop_front(std::min<uint64_t>(bytes + bytes % 2, rest.size()));
  }
  return members;
}

//===- Tables --------------------------------------------------------------===//

/// A table of the file, where it lies; empty when it does not lie inside. The types have no alignment.
template <typename T> ArrayRef<T> ObjectTables::readTable(uint64_t offset, uint64_t count) const {
  static_assert(alignof(T) == 1);
  if (offset > object.size() || count > (object.size() - offset) / sizeof(T))
    return {};
  return ArrayRef(reinterpret_cast<const T *>(object.data() + offset), size_t(count));
}

StringRef ObjectTables::contents(const Elf::Shdr &section) const {
  if (section.sh_type == ELF::SHT_NOBITS)
    return "";
  ArrayRef<uint8_t> bytes = readTable<uint8_t>(section.sh_offset, section.sh_size);
  return StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

bool ObjectTables::readSections() {
  ArrayRef<Elf::Ehdr> header = readTable<Elf::Ehdr>(0, 1);
  if (header.empty() || !object.starts_with(StringRef(ELF::ElfMagic)) || header[0].e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      header[0].e_ident[ELF::EI_DATA] != ELF::ELFDATA2LSB || header[0].e_type != ELF::ET_REL || header[0].e_shentsize != sizeof(Elf::Shdr))
    return false;
  ArrayRef<Elf::Shdr> first = readTable<Elf::Shdr>(header[0].e_shoff, 1);
  if (first.empty())
    return false;
  // Numbers of more than 16 bits are stored in the first section.
  sections = readTable<Elf::Shdr>(header[0].e_shoff, header[0].e_shnum ? uint64_t(header[0].e_shnum) : uint64_t(first[0].sh_size));
  uint64_t names = header[0].e_shstrndx == ELF::SHN_XINDEX ? uint64_t(first[0].sh_link) : uint64_t(header[0].e_shstrndx);
  if (names >= sections.size())
    return false;
  const Elf::Shdr *table = find_if(sections, [](const Elf::Shdr &section) { return section.sh_type == ELF::SHT_SYMTAB; });
  if (table == sections.end() || table->sh_link >= sections.size())
    return true;
  symbols = readTable<Elf::Sym>(table->sh_offset, table->sh_size / sizeof(Elf::Sym));
  symbolNames = contents(sections[table->sh_link]);
  return true;
}

std::optional<ObjectTables> ObjectTables::read(StringRef object) {
  ObjectTables tables;
  tables.object = object;
  return tables.readSections() ? std::optional(std::move(tables)) : std::nullopt;
}

/// A name of a section or symbol. Longer ones are none of Kiln's, and many that share one long text would cost time.
static StringRef nameAt(StringRef names, uint64_t at) {
  constexpr size_t longest = 1024;
  return names.drop_front(std::min<uint64_t>(at, names.size())).take_front(longest).split('\0').first;
}

std::optional<ObjectTables::Place> ObjectTables::locate(const Elf::Sym &symbol, uint64_t addend) const {
  // Special indices are above those of sections that a symbol can name.
  if (symbol.st_shndx == ELF::SHN_UNDEF || symbol.st_shndx >= ELF::SHN_LORESERVE || symbol.st_shndx >= sections.size())
    return std::nullopt;
  // A sum that wraps is an offset like any other: it is checked when it is read.
  return Place{symbol.st_shndx, symbol.st_value + addend};
}

std::vector<ObjectTables::Symbol> ObjectTables::findSymbols(StringRef ending) const {
  std::vector<Symbol> found;
  for (const Elf::Sym &symbol : symbols)
    if (StringRef name = nameAt(symbolNames, symbol.st_name); name.ends_with(ending))
      if (std::optional<Place> place = locate(symbol, 0))
        found.push_back({name, *place});
  return found;
}

StringRef ObjectTables::readRest(Place place) const {
  StringRef bytes = place.section < sections.size() ? contents(sections[place.section]) : "";
  return bytes.drop_front(std::min<uint64_t>(place.offset, bytes.size()));
}

StringRef ObjectTables::readText(Place place) const { return readRest(place).split('\0').first; }

std::optional<uint64_t> ObjectTables::readInteger(Place place, unsigned bytes) const {
  StringRef data = readRest(place);
  if (data.size() < bytes)
    return std::nullopt;
  return bytes == 4 ? support::endian::read32le(data.data()) : support::endian::read64le(data.data());
}

void ObjectTables::readRelocations() {
  std::vector<Pointer> all;
  // Sections of an object do not overlap: all tables together have no more entries than the file has room for.
  uint64_t room = object.size() / sizeof(Elf::Rela);
  for (const Elf::Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_RELA || section.sh_info >= sections.size())
      continue;
    ArrayRef<Elf::Rela> table = readTable<Elf::Rela>(section.sh_offset, section.sh_size / sizeof(Elf::Rela));
    if (table.size() > room)
      break;
    room -= table.size();
    for (const Elf::Rela &relocation : table)
      all.push_back({section.sh_info, relocation.r_offset, &relocation});
  }
  // Of several for one place the first counts.
  llvm::sort(all, [](const Pointer &a, const Pointer &b) {
    return std::tie(a.section, a.offset, a.relocation) < std::tie(b.section, b.offset, b.relocation);
  });
  pointers = std::move(all);
}

std::optional<ObjectTables::Place> ObjectTables::follow(Place pointer) {
  if (!pointers)
    readRelocations();
  auto found = partition_point(*pointers, [&](const Pointer &other) {
    return std::tie(other.section, other.offset) < std::tie(pointer.section, pointer.offset);
  });
  if (found == pointers->end() || found->section != pointer.section || found->offset != pointer.offset)
    return std::nullopt;
  uint32_t symbol = found->relocation->getSymbol(/*isMips64EL=*/false);
  return symbol < symbols.size() ? locate(symbols[symbol], uint64_t(int64_t(found->relocation->r_addend))) : std::nullopt;
}

} // namespace kiln
