//===- ObjectTables.h - Reading untrusted archives and objects -------===//
#ifndef KILN_TOOLS_KILN_OBJECTTABLES_H
#define KILN_TOOLS_KILN_OBJECTTABLES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <vector>

namespace kiln {

/// The data of the members of an archive in order, including its index and its names.
llvm::Expected<std::vector<llvm::StringRef>> listMembers(llvm::StringRef archive);

/// The sections, symbols and relocations of a 64-bit little-endian relocatable ELF object. The object may contain any bytes: every table is
/// checked to be inside of it, and its size bounds the time and memory.
class ObjectTables {
public:
  /// A byte of a section.
  struct Place {
    uint64_t section = 0, offset = 0;
  };
  struct Symbol {
    llvm::StringRef name;
    Place place;
  };

  /// Nullopt if the bytes are not such an object, or if its tables are outside of it.
  static std::optional<ObjectTables> read(llvm::StringRef object);

  /// The symbols that are defined in a section and whose names have this suffix.
  std::vector<Symbol> findSymbols(llvm::StringRef ending) const;

  std::optional<uint64_t> readInteger(Place place, unsigned bytes) const;
  /// The target of a pointer with a relocation.
  std::optional<Place> follow(Place pointer);
  /// The text up to a zero or the section's end.
  llvm::StringRef readText(Place place) const;
  /// The bytes of the section from this place on.
  llvm::StringRef readRest(Place place) const;

private:
  using Elf = llvm::object::ELF64LE;
  struct Pointer {
    uint64_t section, offset;
    const Elf::Rela *relocation;
  };

  template <typename T> llvm::ArrayRef<T> readTable(uint64_t offset, uint64_t count) const;
  bool readSections();
  void readRelocations();
  llvm::StringRef contents(const Elf::Shdr &section) const;
  std::optional<Place> locate(const Elf::Sym &symbol, uint64_t addend) const;

  llvm::StringRef object;
  llvm::ArrayRef<Elf::Shdr> sections;
  llvm::ArrayRef<Elf::Sym> symbols;
  llvm::StringRef symbolNames;
  /// By section and offset; filled in when the first pointer is followed.
  std::optional<std::vector<Pointer>> pointers;
};

} // namespace kiln

#endif // KILN_TOOLS_KILN_OBJECTTABLES_H
