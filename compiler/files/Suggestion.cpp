//===- Suggestion.cpp - Did you mean -------------------------------------------===//
#include "compiler/files/Suggestion.h"
#include <algorithm>
#include <vector>

using namespace llvm;

namespace kiln {

StringRef findNearest(StringRef text, ArrayRef<StringRef> names) {
  // Every name is near to one or two letters.
  if (text.size() < 3)
    return {};
  // A third of the letters may be wrong, or two that changed places: beyond that, the guess is more often wrong than right.
  unsigned nearest = text.size() < 4 ? 2 : std::max(unsigned(text.size() / 3), 2u) + 1;
  StringRef found;
  for (StringRef name : names)
    if (unsigned distance = text.edit_distance_insensitive(name, /*AllowReplacements=*/true, nearest); distance < nearest) {
      nearest = distance;
      found = name;
    }
  return found;
}

std::string suggest(StringRef text, ArrayRef<StringRef> names) {
  StringRef name = findNearest(text, names);
  return name.empty() ? "" : " (did you mean '" + name.str() + "'?)";
}

std::string suggest(StringRef text, ArrayRef<std::string> names) {
  std::vector<StringRef> list(names.begin(), names.end());
  return suggest(text, ArrayRef<StringRef>(list));
}

} // namespace kiln
