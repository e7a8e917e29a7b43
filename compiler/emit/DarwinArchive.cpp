//===- DarwinArchive.cpp - Objects as a static library for macOS -----------===//
//
// "!<arch>", then the members. Each is a header of 60 bytes, the name, whose length is in the header, and the data; both the data and its size are multiples of
// 8. The first member, "__.SYMDEF", is the index: pairs of a name's offset and a member's, in bytes, and then the names; each of the two behind its size.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/DarwinArchive.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

static constexpr StringLiteral darwinMagic = "!<arch>\n";
static constexpr uint64_t darwinHeaderBytes = 60, alignment = 8;

/// A member's name with zeros behind it, so that the data are aligned.
static std::string padName(StringRef name) {
  std::string padded = name.str();
  padded.resize(alignTo(darwinHeaderBytes + name.size() + 1, alignment) - darwinHeaderBytes, '\0');
  return padded;
}

static uint64_t memberBytes(StringRef name, uint64_t bytes) { return darwinHeaderBytes + padName(name).size() + alignTo(bytes, alignment); }

namespace {
struct Index {
  std::string name, data;
  /// Of the whole archive.
  uint64_t bytes = 0;
};
} // namespace

/// The index with numbers of `word` bytes.
static Index makeIndex(ArrayRef<ArchiveMember> members, unsigned word) {
  Index index{word == 8 ? "__.SYMDEF_64" : "__.SYMDEF", "", 0};
  uint64_t symbols = 0, textBytes = 0;
  for (const ArchiveMember &member : members)
    for (const std::string &symbol : member.symbols) {
      ++symbols;
      textBytes += symbol.size() + 1;
    }
  auto number = [&](uint64_t value) {
    char text[8];
    support::endian::write64le(text, value);
    index.data.append(text, word);
  };
  textBytes = alignTo(textBytes, alignment);
  index.bytes = darwinMagic.size() + memberBytes(index.name, 2 * word * (symbols + 1) + textBytes);
  number(2 * word * symbols);
  std::string texts;
  for (const ArchiveMember &member : members) {
    for (const std::string &symbol : member.symbols) {
      number(texts.size());
      number(index.bytes);
      texts += symbol + std::string(1, '\0');
    }
    index.bytes += memberBytes(member.name, member.bytes);
  }
  texts.resize(textBytes, '\0');
  number(textBytes);
  index.data += texts;
  return index;
}

static Index makeIndex(ArrayRef<ArchiveMember> members) {
  Index index = makeIndex(members, 4);
  return index.bytes <= UINT32_MAX ? index : makeIndex(members, 8);
}

uint64_t darwinArchiveBytes(ArrayRef<ArchiveMember> members) { return makeIndex(members).bytes; }

/// name, time, owner, group, mode, size; then the name itself.
static void writeHeader(raw_ostream &out, StringRef name, uint64_t bytes) {
  std::string padded = padName(name);
  auto put = [&](const Twine &text, size_t columns) {
    std::string field = text.str();
    field.resize(columns, ' ');
    out << field;
  };
  put("#1/" + Twine(padded.size()), 16);
  put("0", 12);
  put("0", 6);
  put("0", 6);
  put("644", 8);
  put(Twine(padded.size() + alignTo(bytes, alignment)), 10);
  out << "`\n" << padded;
}

void writeDarwinArchive(raw_ostream &out, ArrayRef<ArchiveMember> members) {
  Index index = makeIndex(members);
  auto pad = [&](uint64_t bytes) { out << std::string(alignTo(bytes, alignment) - bytes, '\n'); };
  out << darwinMagic;
  writeHeader(out, index.name, index.data.size());
  out << index.data;
  pad(index.data.size());
  for (const ArchiveMember &member : members) {
    writeHeader(out, member.name, member.bytes);
    member.write(out);
    pad(member.bytes);
  }
}

} // namespace kiln
