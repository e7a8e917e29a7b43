//===- RecordSection.cpp - A section of an object of any format ------------===//
//
// Each format has a header that counts its sections, and their headers with names, beginnings and sizes. Numbers of the file are compared with its size before
// anything is added to them or read there.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln/RecordSection.h"
#include "compiler/emit/MachOWriter.h"
#include "compiler/emit/WasmWriter.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/LEB128.h"

using namespace llvm;

namespace kiln {

/// A record of the file, whose bytes need no alignment; nullopt when it does not lie inside.
template <typename T> static std::optional<T> readRecord(StringRef file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T))
    return std::nullopt;
  T record;
  memcpy(&record, file.data() + offset, sizeof(T));
  return record;
}

static std::optional<StringRef> readBytes(StringRef file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || file.size() - offset < size)
    return std::nullopt;
  return file.substr(offset, size);
}

/// Whether a text with that name and a zero lies there.
static bool isName(StringRef file, uint64_t offset, StringRef name) {
  std::optional<StringRef> text = readBytes(file, offset, name.size() + 1);
  return text && text->drop_back() == name && text->back() == '\0';
}

/// A name that fills a field up to zeros.
static bool isField(const char *field, size_t size, StringRef name) { return StringRef(field, strnlen(field, size)) == name; }

template <typename Elf> static std::optional<StringRef> findElf(StringRef object, StringRef name) {
  auto header = readRecord<typename Elf::Ehdr>(object, 0);
  if (!header || header->e_type != ELF::ET_REL || header->e_shentsize != sizeof(typename Elf::Shdr))
    return std::nullopt;
  auto section = [&](uint64_t index) { return readRecord<typename Elf::Shdr>(object, header->e_shoff + index * sizeof(typename Elf::Shdr)); };
  std::optional<typename Elf::Shdr> names = header->e_shoff <= object.size() ? section(header->e_shstrndx) : std::nullopt;
  for (uint64_t i = 0; names && i < header->e_shnum; ++i) {
    std::optional<typename Elf::Shdr> row = section(i);
    if (!row || names->sh_offset > object.size())
      return std::nullopt;
    if (row->sh_type == ELF::SHT_PROGBITS && isName(object, uint64_t(names->sh_offset) + row->sh_name, name))
      return readBytes(object, row->sh_offset, row->sh_size);
  }
  return std::nullopt;
}

static std::optional<StringRef> findCoff(StringRef object, StringRef name) {
  auto header = readRecord<object::coff_file_header>(object, 0);
  if (!header || (header->Machine != COFF::IMAGE_FILE_MACHINE_AMD64 && header->Machine != COFF::IMAGE_FILE_MACHINE_ARM64 &&
                  header->Machine != COFF::IMAGE_FILE_MACHINE_I386))
    return std::nullopt;
  uint64_t names = header->PointerToSymbolTable + uint64_t(header->NumberOfSymbols) * sizeof(object::coff_symbol16);
  uint64_t first = sizeof(object::coff_file_header) + header->SizeOfOptionalHeader;
  for (uint64_t i = 0; i < header->NumberOfSections; ++i) {
    auto row = readRecord<object::coff_section>(object, first + i * sizeof(object::coff_section));
    if (!row)
      return std::nullopt;
    // A long name is a slash and its place in the table of names.
    StringRef text(row->Name, strnlen(row->Name, sizeof(row->Name)));
    uint64_t place = 0;
    bool isLong = text.consume_front("/") && !text.getAsInteger(10, place);
    if (isLong ? place <= object.size() && isName(object, names + place, name) : text == name)
      return readBytes(object, row->PointerToRawData, row->SizeOfRawData);
  }
  return std::nullopt;
}

static std::optional<StringRef> findMachO(StringRef object, StringRef name) {
  auto header = readRecord<MachO::mach_header_64>(object, 0);
  std::string field = nameMachOSection(name);
  uint64_t at = sizeof(MachO::mach_header_64);
  for (uint64_t i = 0; header && i < header->ncmds; ++i) {
    auto command = readRecord<MachO::load_command>(object, at);
    if (!command || command->cmdsize < sizeof(MachO::load_command))
      return std::nullopt;
    auto segment = command->cmd == MachO::LC_SEGMENT_64 ? readRecord<MachO::segment_command_64>(object, at) : std::nullopt;
    if (segment && (command->cmdsize < sizeof(*segment) || segment->nsects > (command->cmdsize - sizeof(*segment)) / sizeof(MachO::section_64)))
      return std::nullopt;
    for (uint64_t j = 0; segment && j < segment->nsects; ++j) {
      auto row = readRecord<MachO::section_64>(object, at + sizeof(MachO::segment_command_64) + j * sizeof(MachO::section_64));
      if (!row)
        return std::nullopt;
      if (isField(row->sectname, sizeof(row->sectname), field))
        return readBytes(object, row->offset, row->size);
    }
    at += command->cmdsize;
  }
  return std::nullopt;
}

/// Reads a number of WebAssembly and takes it from the front.
static std::optional<uint64_t> takeNumber(StringRef &bytes) {
  unsigned length = 0;
  const char *error = nullptr;
  auto *begin = bytes.bytes_begin();
  uint64_t number = decodeULEB128(begin, &length, bytes.bytes_end(), &error);
  if (error)
    return std::nullopt;
  bytes = bytes.drop_front(length);
  return number;
}

static std::optional<StringRef> findWasm(StringRef object, StringRef name) {
  for (StringRef rest = object.drop_front(wasmMagic().size()); !rest.empty();) {
    char id = rest.front();
    rest = rest.drop_front();
    std::optional<uint64_t> size = takeNumber(rest);
    if (!size || *size > rest.size())
      return std::nullopt;
    StringRef section = rest.take_front(*size);
    rest = rest.drop_front(*size);
    if (id != static_cast<char>(wasm::WASM_SEC_CUSTOM))
      continue;
    std::optional<uint64_t> length = takeNumber(section);
    if (!length || *length > section.size())
      return std::nullopt;
    if (section.take_front(*length) == name)
      return section.drop_front(*length);
  }
  return std::nullopt;
}

std::optional<StringRef> findRecordSection(StringRef object, StringRef name) {
  if (object.starts_with(StringRef(ELF::ElfMagic)) && object.size() > ELF::EI_DATA) {
    if (object[ELF::EI_DATA] != ELF::ELFDATA2LSB)
      return std::nullopt;
    return object[ELF::EI_CLASS] == ELF::ELFCLASS32 ? findElf<object::ELF32LE>(object, name) : findElf<object::ELF64LE>(object, name);
  }
  if (object.starts_with(wasmMagic()))
    return findWasm(object, name);
  // The magic number of Mach-O has the lower byte first.
  if (object.starts_with("\xcf\xfa\xed\xfe"))
    return findMachO(object, name);
  return findCoff(object, name);
}

} // namespace kiln
