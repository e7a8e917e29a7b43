//===- ElfCheckTests.cpp - Broken objects are told before they are read ----===//
#include "compiler/emit/ArchiveWriter.h"
#include "compiler/emit/ClangCompiler.h"
#include "compiler/emit/ElfCheck.h"
#include "compiler/emit/Objects.h"
#include "compiler/emit/StackUse.h"

#include "llvm/BinaryFormat/ELF.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace kiln;
using llvm::StringRef;

namespace {

/// Functions that call each other, one of another object, and data with pointers.
constexpr const char *source = R"cpp(
extern "C" int outside(int *);
static int rows[64];
int *const table[] = {rows, rows + 8};
__attribute__((noinline)) int inner(int x) { int a[32] = {x}; return outside(a) + *table[x & 1]; }
extern "C" int m_run(int x) { return inner(x) + inner(x + 1); }
)cpp";

/// An object that tests change; the records of ELF are read and written in place.
struct Object {
  llvm::SmallVector<char, 0> bytes;

  StringRef text() const { return StringRef(bytes.data(), bytes.size()); }
  template <typename T> T read(uint64_t at) const {
    T record;
    std::memcpy(&record, bytes.data() + at, sizeof(T));
    return record;
  }
  template <typename T> void write(uint64_t at, const T &record) { std::memcpy(bytes.data() + at, &record, sizeof(T)); }
  llvm::ELF::Elf64_Ehdr header() const { return read<llvm::ELF::Elf64_Ehdr>(0); }
  /// The place of the header of the first section of a type; SHT_NULL is the first of all.
  uint64_t place(uint32_t type) const {
    for (uint64_t i = 0; i < header().e_shnum; ++i) {
      uint64_t at = header().e_shoff + i * sizeof(llvm::ELF::Elf64_Shdr);
      if (read<llvm::ELF::Elf64_Shdr>(at).sh_type == type)
        return at;
    }
    ADD_FAILURE() << "no section of type " << type;
    return 0;
  }
  template <typename Change> Object withSection(uint32_t type, Change change) const {
    Object copy = *this;
    auto section = read<llvm::ELF::Elf64_Shdr>(place(type));
    change(section);
    copy.write(place(type), section);
    return copy;
  }
  /// What the compiler reads of an object; it must come back.
  std::optional<int64_t> readAll() const {
    (void)definedSymbols(text());
    ObjectFile file;
    file.name = "m.o";
    file.bytes = bytes;
    return boundStackUse(file, "m_run");
  }
};

class ElfCheck : public testing::Test {
protected:
  static void SetUpTestSuite() {
    SourceFile unit = {"m.cpp", source};
    auto compiled = compileInProcess(unit, {}, {});
    ASSERT_TRUE(bool(compiled)) << toString(compiled.takeError());
    object = new Object{std::move(*compiled)};
  }
  static Object *object;
};
Object *ElfCheck::object = nullptr;

TEST_F(ElfCheck, WhatTheCompilerMakesIsSound) {
  EXPECT_TRUE(isElf(object->text()));
  EXPECT_TRUE(isSoundElf(object->text()));
  EXPECT_GT(object->readAll().value_or(0), 128);
  EXPECT_EQ(definedSymbols(object->text()).size(), 2u);
}

TEST_F(ElfCheck, CountsAndPlacesBeyondTheFile) {
  using namespace llvm::ELF;
  constexpr uint64_t most = ~uint64_t(0);
  auto refused = [&](uint32_t type, auto change) {
    Object broken = object->withSection(type, change);
    EXPECT_FALSE(isSoundElf(broken.text())) << type;
    EXPECT_FALSE(broken.readAll()) << type;
    EXPECT_TRUE(definedSymbols(broken.text()).empty()) << type;
  };
  for (uint32_t type : {SHT_SYMTAB, SHT_RELA, SHT_STRTAB, SHT_PROGBITS}) {
    refused(type, [&](Elf64_Shdr &section) { section.sh_size = most; });
    refused(type, [&](Elf64_Shdr &section) { section.sh_offset = section.sh_size ? most - section.sh_size + 1 : most; }); // the sum is zero
    refused(type, [&](Elf64_Shdr &section) { section.sh_name = 1 << 30; });
  }
  for (uint32_t type : {SHT_SYMTAB, SHT_RELA}) {
    refused(type, [&](Elf64_Shdr &section) { section.sh_entsize = 0; });
    refused(type, [&](Elf64_Shdr &section) { section.sh_entsize = 1; });
    refused(type, [&](Elf64_Shdr &section) { --section.sh_size; });
    refused(type, [&](Elf64_Shdr &section) { section.sh_link = 0; });
    refused(type, [&](Elf64_Shdr &section) { section.sh_link = 1 << 20; });
  }
  refused(SHT_RELA, [&](Elf64_Shdr &section) { section.sh_info = 1 << 20; });
  refused(SHT_RELA, [&](Elf64_Shdr &section) { section.sh_type = SHT_REL; });
  refused(SHT_SYMTAB, [&](Elf64_Shdr &section) { section.sh_type = SHT_DYNSYM; });
}

TEST_F(ElfCheck, SymbolsAndRelocationsOfNothing) {
  using namespace llvm::ELF;
  Object broken = *object;
  auto symbols = object->read<Elf64_Shdr>(object->place(SHT_SYMTAB)), relocations = object->read<Elf64_Shdr>(object->place(SHT_RELA));
  auto symbol = object->read<Elf64_Sym>(symbols.sh_offset + sizeof(Elf64_Sym));
  symbol.st_shndx = 0x7fff;
  broken.write(symbols.sh_offset + sizeof(Elf64_Sym), symbol);
  EXPECT_FALSE(isSoundElf(broken.text()));
  symbol.st_shndx = 0;
  symbol.st_name = 1 << 30;
  broken.write(symbols.sh_offset + sizeof(Elf64_Sym), symbol);
  EXPECT_FALSE(isSoundElf(broken.text()));
  broken = *object;
  auto relocation = object->read<Elf64_Rela>(relocations.sh_offset);
  relocation.setSymbolAndType(1 << 30, 1);
  broken.write(relocations.sh_offset, relocation);
  EXPECT_FALSE(isSoundElf(broken.text()));
  relocation = object->read<Elf64_Rela>(relocations.sh_offset);
  relocation.r_offset = ~uint64_t(0);
  broken.write(relocations.sh_offset, relocation);
  EXPECT_FALSE(isSoundElf(broken.text()));
  // A number without a symbol is sound, and nobody's call.
  relocation = object->read<Elf64_Rela>(relocations.sh_offset);
  relocation.setSymbolAndType(0, 1);
  broken.write(relocations.sh_offset, relocation);
  EXPECT_TRUE(isSoundElf(broken.text()));
  (void)broken.readAll();
}

TEST_F(ElfCheck, OtherFiles) {
  for (StringRef text : {"", "\x7f", "\x7f" "ELF", "not an object", "!<arch>\n"}) {
    EXPECT_FALSE(isSoundElf(text));
    EXPECT_TRUE(definedSymbols(text).empty());
  }
  for (size_t size : {size_t(63), size_t(64), object->bytes.size() / 2, object->bytes.size() - 1})
    EXPECT_FALSE(isSoundElf(object->text().take_front(size)));
}

/// Without the check LLVM's readers end the program over some of these.
TEST_F(ElfCheck, Mutants) {
  std::mt19937 random(1);
  const uint64_t interesting[] = {0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, ~uint64_t(0), ~uint64_t(0) - 8, uint64_t(1) << 63};
  unsigned sound = 0, broken = 0;
  for (int i = 0; i < 20000; ++i) {
    Object mutant = *object;
    for (unsigned change = 0, changes = 1 + random() % 4; change < changes; ++change) {
      // Half of the changes are in the tables, which are at the end.
      size_t tables = object->header().e_shoff, at = random() % 2 ? random() % object->bytes.size() : tables + random() % (object->bytes.size() - tables);
      size_t width = std::min<size_t>(size_t(1) << random() % 4, object->bytes.size() - at);
      std::memcpy(mutant.bytes.data() + at, &interesting[random() % std::size(interesting)], width);
    }
    isSoundElf(mutant.text()) ? ++sound : ++broken;
    (void)mutant.readAll();
  }
  EXPECT_GT(sound, 1000u);
  EXPECT_GT(broken, 1000u);
}

} // namespace
