//===- MachOWriter.cpp - Binary data as an object of macOS --------------------===//
//
// The file's header; commands that describe one segment with one section, the system, and the symbols; the data; one symbol and its name.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/MachOWriter.h"

#include "llvm/BinaryFormat/MachO.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>

using namespace llvm;

namespace kiln {

bool canMakeMachO(StringRef name) {
  Triple triple(name);
  return triple.isMacOSX() && (triple.getArch() == Triple::x86_64 || triple.getArch() == Triple::aarch64);
}

template <typename T> static void append(std::string &bytes, const T &record) { bytes.append(reinterpret_cast<const char *>(&record), sizeof(record)); }

static MachO::mach_header_64 makeHeader(StringRef name, uint32_t commands, uint32_t commandBytes) {
  bool isArm = Triple(name).getArch() == Triple::aarch64;
  MachO::mach_header_64 header = {};
  header.magic = MachO::MH_MAGIC_64;
  header.cputype = isArm ? MachO::CPU_TYPE_ARM64 : MachO::CPU_TYPE_X86_64;
  header.cpusubtype = isArm ? static_cast<uint32_t>(MachO::CPU_SUBTYPE_ARM64_ALL) : static_cast<uint32_t>(MachO::CPU_SUBTYPE_X86_64_ALL);
  header.filetype = MachO::MH_OBJECT;
  header.ncmds = commands;
  header.sizeofcmds = commandBytes;
  header.flags = MachO::MH_SUBSECTIONS_VIA_SYMBOLS;
  return header;
}

/// The only segment of an object, which has no name, and the section in it.
static std::string makeSegment(uint64_t start, uint64_t size, StringRef inSegment, StringRef name, unsigned align, uint32_t flags) {
  MachO::segment_command_64 segment = {};
  segment.cmd = MachO::LC_SEGMENT_64;
  segment.cmdsize = sizeof(MachO::segment_command_64) + sizeof(MachO::section_64);
  segment.vmsize = segment.filesize = size;
  segment.fileoff = start;
  segment.maxprot = segment.initprot = MachO::VM_PROT_READ | MachO::VM_PROT_WRITE | MachO::VM_PROT_EXECUTE;
  segment.nsects = 1;
  MachO::section_64 section = {};
  copy(name.take_front(mostMachOName), section.sectname);
  copy(inSegment, section.segname);
  section.size = size;
  section.offset = static_cast<uint32_t>(start);
  section.align = align;
  section.flags = flags;
  std::string bytes;
  append(bytes, segment);
  append(bytes, section);
  return bytes;
}

DataObject makeMachOData(StringRef triple, StringRef symbol, uint64_t size) {
  constexpr uint64_t commandBytes = sizeof(MachO::segment_command_64) + sizeof(MachO::section_64) + sizeof(MachO::build_version_command) +
                                    sizeof(MachO::symtab_command);
  constexpr uint64_t start = alignTo(sizeof(MachO::mach_header_64) + commandBytes, 64);
  MachO::build_version_command system = {};
  system.cmd = MachO::LC_BUILD_VERSION;
  system.cmdsize = sizeof(system);
  system.platform = MachO::PLATFORM_MACOS;
  system.minos = 11 << 16; // the first that runs on both kinds of CPU
  std::string names = std::string(1, '\0') + "_" + symbol.str() + std::string(1, '\0');
  uint64_t symbols = alignTo(start + size, 8);
  MachO::symtab_command table = {};
  table.cmd = MachO::LC_SYMTAB;
  table.cmdsize = sizeof(table);
  table.symoff = static_cast<uint32_t>(symbols);
  table.nsyms = 1;
  table.stroff = static_cast<uint32_t>(symbols + sizeof(MachO::nlist_64));
  table.strsize = names.size();
  MachO::nlist_64 entry = {};
  entry.n_strx = 1;
  entry.n_type = MachO::N_SECT | MachO::N_EXT | MachO::N_PEXT;
  entry.n_sect = 1;

  std::string head, tail(symbols - start - size, '\0');
  append(head, makeHeader(triple, 3, commandBytes));
  head += makeSegment(start, size, "__TEXT", "__const", 6, 0);
  append(head, system);
  append(head, table);
  head.resize(start, '\0');
  append(tail, entry);
  tail += names;
  return {head, tail, head.size() + size + tail.size()};
}

std::string nameMachOSection(StringRef section) {
  std::string name = "__" + section.ltrim('.').str();
  std::replace(name.begin(), name.end(), '.', '_');
  return name.substr(0, mostMachOName);
}

std::string makeMachORecord(StringRef triple, StringRef section, StringRef text) {
  constexpr uint64_t commandBytes = sizeof(MachO::segment_command_64) + sizeof(MachO::section_64);
  constexpr uint64_t start = sizeof(MachO::mach_header_64) + commandBytes;
  std::string bytes;
  append(bytes, makeHeader(triple, 1, commandBytes));
  // Linkers leave out what is for debuggers.
  bytes += makeSegment(start, text.size(), "__KILN", nameMachOSection(section), 0, MachO::S_ATTR_DEBUG);
  return bytes + text.str();
}

} // namespace kiln
