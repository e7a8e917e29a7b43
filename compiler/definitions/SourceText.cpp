//===- SourceText.cpp - The text of a file of definitions -------------------===//
#include "compiler/definitions/SourceText.h"
#include "compiler/files/Printable.h"

using namespace llvm;

namespace kiln::definitions {

/// The most columns of a line that a message shows.
static constexpr size_t shownColumns = 160;

std::string SourceText::name(Place place) const {
  return printable(path) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string SourceText::describe(Place place, const Twine &message) const {
  StringRef rest = text, line;
  for (unsigned i = 0; i < place.line; ++i)
    std::tie(line, rest) = rest.split('\n');
  // A long line is shown around the place.
  size_t column = std::min<size_t>(place.column - 1, line.size());
  size_t first = column < shownColumns ? 0 : column - shownColumns / 2;
  std::string shown, caret;
  for (size_t i = first; i < std::min(line.size(), first + shownColumns); ++i) {
    // Tabs become spaces, so that the caret stands below its character.
    std::string part = line[i] == '\t' ? " " : line[i] == '\r' ? "" : printable(line.substr(i, 1));
    if (i < column)
      caret.append(part.size(), ' ');
    shown += part;
  }
  return name(place) + ": " + printable(message.str(), 2000) + "\n" + shown + "\n" + caret + "^";
}

} // namespace kiln::definitions
