//===- ArchiveWriter.cpp - Objects as a static library ---------------------===//
//
// GNU's format: "!<arch>", then the members. Each is a header of 60 bytes and the data, and begins at an even offset. The first member, "/", is the index: the
// number of symbols, the offset of each symbol's member, and the names. The second, "//", has the names of members that are longer than 15 characters.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ArchiveWriter.h"
#include "compiler/emit/ElfCheck.h"

#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

static constexpr StringLiteral magic = "!<arch>\n";
static constexpr uint64_t headerBytes = 60;

std::vector<std::string> definedSymbols(StringRef bytes) {
  std::vector<std::string> symbols;
  if (isElf(bytes) && !isSoundElf(bytes))
    return symbols;
  auto object = object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, ""));
  if (!object) {
    consumeError(object.takeError());
    return symbols;
  }
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    bool isDefined = flags && name && (*flags & object::SymbolRef::SF_Global) && !(*flags & object::SymbolRef::SF_Undefined);
    if (isDefined)
      symbols.push_back(name->str());
    consumeError(flags.takeError());
    consumeError(name.takeError());
  }
  return symbols;
}

namespace {
/// Everything but the data of the members.
struct Layout {
  explicit Layout(ArrayRef<ArchiveMember> members);
  std::string index, names;
  /// The name field of each member: NAME/ or the offset in `names`.
  std::vector<std::string> fields;
  uint64_t bytes = 0;
  /// Whether an offset needs more than 32 bits, so that the index has 64-bit entries.
  bool isWide = false;

private:
  void place(ArrayRef<ArchiveMember> members);
};
} // namespace

static uint64_t evenBytes(uint64_t bytes) { return alignTo(bytes, 2); }

Layout::Layout(ArrayRef<ArchiveMember> members) {
  for (const ArchiveMember &member : members) {
    bool isLong = member.name.size() > 15;
    fields.push_back(isLong ? "/" + std::to_string(names.size()) : member.name + "/");
    if (isLong)
      names += member.name + "/\n";
  }
  place(members);
  if (bytes <= UINT32_MAX)
    return;
  isWide = true;
  place(members);
}

void Layout::place(ArrayRef<ArchiveMember> members) {
  size_t word = isWide ? 8 : 4, count = 0;
  std::string texts;
  for (const ArchiveMember &member : members)
    for (const std::string &symbol : member.symbols) {
      texts += symbol + std::string(1, '\0');
      ++count;
    }
  auto number = [&](uint64_t value) {
    char text[8];
    support::endian::write64be(text, value);
    index.append(text + 8 - word, word);
  };
  bytes = magic.size() + headerBytes + evenBytes(word * (count + 1) + texts.size());
  if (!names.empty())
    bytes += headerBytes + evenBytes(names.size());
  index.clear();
  number(count);
  for (const ArchiveMember &member : members) {
    for (size_t i = 0; i < member.symbols.size(); ++i)
      number(bytes);
    bytes += headerBytes + evenBytes(member.bytes);
  }
  index += texts;
  index.resize(evenBytes(index.size()), '\0');
}

/// name, time, owner, group, mode, size; the index and the names have no mode.
static void writeHeader(raw_ostream &out, StringRef field, uint64_t bytes, bool isMember) {
  auto put = [&](const Twine &text, size_t columns) {
    std::string padded = text.str();
    padded.resize(columns, ' ');
    out << padded;
  };
  bool isNames = field == "//";
  put(field, 16);
  put(isNames ? "" : "0", 12);
  put(isNames ? "" : "0", 6);
  put(isNames ? "" : "0", 6);
  put(isNames ? "" : isMember ? "644" : "0", 8);
  put(Twine(bytes), 10);
  out << "`\n";
}

uint64_t archiveBytes(ArrayRef<ArchiveMember> members) { return Layout(members).bytes; }

void writeArchive(raw_ostream &out, ArrayRef<ArchiveMember> members) {
  Layout layout(members);
  out << magic;
  writeHeader(out, layout.isWide ? "/SYM64/" : "/", layout.index.size(), false);
  out << layout.index;
  if (!layout.names.empty()) {
    std::string names = layout.names;
    names.resize(evenBytes(names.size()), '\n');
    writeHeader(out, "//", names.size(), false);
    out << names;
  }
  for (auto [field, member] : zip_equal(layout.fields, members)) {
    writeHeader(out, field, member.bytes, true);
    member.write(out);
    if (member.bytes % 2)
      out << '\n';
  }
}

} // namespace kiln
