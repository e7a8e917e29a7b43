//===- Printable.cpp - Foreign text in messages and tables -----------------===//
#include "compiler/files/Printable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace kiln {

namespace {
struct CharacterRange {
  UTF32 first, last;
};
} // namespace

/// Characters beyond ASCII that a terminal or editor obeys and does not show: controls, marks of direction, joiners, line ends, tags.
static constexpr CharacterRange obeyed[] = {{0x80, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},
                                            {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

/// The bytes of the character that text begins with when it is valid and shown; 0 otherwise.
static size_t shownBytes(StringRef text) {
  auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80)
    return byte >= 0x20 && byte != 0x7f;
  size_t count = getNumBytesForUTF8(byte);
  auto *source = reinterpret_cast<const UTF8 *>(text.data());
  if (count > text.size() || !isLegalUTF8Sequence(source, source + count))
    return 0;
  UTF32 letter = 0, *target = &letter;
  if (ConvertUTF8toUTF32(&source, source + count, &target, target + 1, strictConversion) != conversionOK)
    return 0;
  return any_of(obeyed, [&](CharacterRange range) { return range.first <= letter && letter <= range.last; }) ? 0 : count;
}

std::string printable(StringRef text, size_t limit) {
  std::string result;
  while (!text.empty()) {
    if (result.size() >= limit)
      return result + "...";
    size_t count = shownBytes(text);
    if (count)
      result += text.take_front(count);
    else if (text.front() == '\n')
      result += "\\n";
    else
      result += "\\x" + utohexstr(static_cast<unsigned char>(text.front()), /*LowerCase=*/true, 2);
    text = text.drop_front(std::max<size_t>(count, 1));
  }
  return result;
}

void printLine(raw_ostream &os, const Twine &line) { os << printable(line.str()) << "\n"; }

std::string jsonText(StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

} // namespace kiln
