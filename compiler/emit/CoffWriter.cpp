//===- CoffWriter.cpp - Binary data as an object of Windows -------------------===//
//
// The file's header, one section's header, the data, one symbol, and the table of names.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/CoffWriter.h"

#include "llvm/Object/COFF.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace kiln {

/// The machine number of COFF; zero for others.
static uint16_t machineOf(StringRef name) {
  Triple triple(name);
  if (!triple.isOSBinFormatCOFF())
    return COFF::IMAGE_FILE_MACHINE_UNKNOWN;
  switch (triple.getArch()) {
  case Triple::x86_64:
    return COFF::IMAGE_FILE_MACHINE_AMD64;
  case Triple::aarch64:
    return COFF::IMAGE_FILE_MACHINE_ARM64;
  case Triple::x86:
    return COFF::IMAGE_FILE_MACHINE_I386;
  default:
    return COFF::IMAGE_FILE_MACHINE_UNKNOWN;
  }
}

bool canMakeCoff(StringRef triple) { return machineOf(triple) != COFF::IMAGE_FILE_MACHINE_UNKNOWN; }

template <typename T> static void append(std::string &bytes, const T &record) { bytes.append(reinterpret_cast<const char *>(&record), sizeof(record)); }

DataObject makeCoffData(StringRef triple, StringRef symbol, uint64_t size) {
  constexpr uint64_t headers = sizeof(object::coff_file_header) + sizeof(object::coff_section);
  object::coff_file_header header = {};
  header.Machine = machineOf(triple);
  header.NumberOfSections = 1;
  header.PointerToSymbolTable = static_cast<uint32_t>(headers + size);
  header.NumberOfSymbols = 1;
  object::coff_section section = {};
  copy(StringRef(".rdata"), section.Name);
  section.SizeOfRawData = static_cast<uint32_t>(size);
  section.PointerToRawData = headers;
  section.Characteristics = COFF::IMAGE_SCN_CNT_INITIALIZED_DATA | COFF::IMAGE_SCN_MEM_READ | COFF::IMAGE_SCN_ALIGN_64BYTES;
  // Every name is in the table, which begins with its own size. On 32-bit x86, names in C have an underscore more in objects.
  std::string names = (header.Machine == COFF::IMAGE_FILE_MACHINE_I386 ? "_" : "") + symbol.str() + std::string(1, '\0');
  object::coff_symbol16 entry = {};
  entry.Name.Offset.Offset = sizeof(uint32_t);
  entry.SectionNumber = 1;
  entry.StorageClass = COFF::IMAGE_SYM_CLASS_EXTERNAL;

  std::string head, tail;
  append(head, header);
  append(head, section);
  append(tail, entry);
  append(tail, support::ulittle32_t(sizeof(uint32_t) + names.size()));
  tail += names;
  return {head, tail, head.size() + size + tail.size()};
}

std::string makeCoffRecord(StringRef triple, StringRef name, StringRef text) {
  constexpr uint64_t headers = sizeof(object::coff_file_header) + sizeof(object::coff_section);
  object::coff_file_header header = {};
  header.Machine = machineOf(triple);
  header.NumberOfSections = 1;
  // The table of names follows that of symbols, which is empty.
  header.PointerToSymbolTable = static_cast<uint32_t>(headers + text.size());
  object::coff_section section = {};
  copy(StringRef("/4"), section.Name);
  section.SizeOfRawData = static_cast<uint32_t>(text.size());
  section.PointerToRawData = headers;
  section.Characteristics = COFF::IMAGE_SCN_LNK_INFO | COFF::IMAGE_SCN_LNK_REMOVE | COFF::IMAGE_SCN_ALIGN_1BYTES;
  std::string bytes, names = name.str() + std::string(1, '\0');
  append(bytes, header);
  append(bytes, section);
  bytes += text;
  append(bytes, support::ulittle32_t(sizeof(uint32_t) + names.size()));
  return bytes + names;
}

} // namespace kiln
