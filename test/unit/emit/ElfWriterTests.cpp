//===- ElfWriterTests.cpp - Large data lie where huge pages can ------------===//
#include "compiler/emit/ElfWriter.h"

#include "llvm/BinaryFormat/ELF.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace kiln;

namespace {

/// What the file says of the alignment of so many bytes. The first section behind the null one has the data.
uint64_t readAlignment(uint64_t size) {
  DataObject object = makeElfData("x86_64-unknown-linux-gnu", "m_weights", size);
  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, object.head.data(), sizeof(header));
  llvm::ELF::Elf64_Shdr section;
  std::memcpy(&section, object.tail.data() + (header.e_shoff - object.head.size() - size) + sizeof(section), sizeof(section));
  EXPECT_EQ(section.sh_size, size);
  return section.sh_addralign;
}

TEST(ElfWriter, OnlyManyPagesAreAlignedToHugeOnes) {
  constexpr uint64_t mebibyte = uint64_t(1) << 20;
  EXPECT_EQ(readAlignment(1), 64u);
  EXPECT_EQ(readAlignment(64 * mebibyte - 1), 64u);
  EXPECT_EQ(readAlignment(64 * mebibyte), 2 * mebibyte);
  EXPECT_EQ(readAlignment(uint64_t(12) << 30), 2 * mebibyte);
}

} // namespace
