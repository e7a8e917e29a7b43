//===- BuildText.cpp - Foreign text in the languages of builds ---------------===//
#include "compiler/emit/BuildText.h"
#include "compiler/emit/Identifiers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

/// Other characters become `_`.
static std::string keepOnly(StringRef text, StringRef others) {
  std::string result;
  for (char c : text)
    result += isAlnum(c) || others.contains(c) ? c : '_';
  return result;
}

std::string makeCMakeWord(StringRef text) { return keepOnly(text, "_.+-=/:,"); }

std::string makePkgConfigWord(StringRef text) { return keepOnly(text, "_.+-"); }

std::string makeAssemblerName(StringRef text) { return makeIdentifier(text); }

std::string makeCompilerOption(StringRef option, StringRef value) { return (option + keepOnly(value, "_.+-")).str(); }

Expected<std::string> makeDepfilePath(StringRef path) {
  std::string text;
  for (auto [i, c] : enumerate(path)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::string shown;
      raw_string_ostream stream(shown);
      printEscapedString(path, stream);
      return createStringError(inconvertibleErrorCode(), "a depfile cannot hold the path '" + shown + "', which has control characters");
    }
    // Backslashes count only before what they would escape: each is doubled there.
    size_t next = path.find_first_not_of('\\', i);
    bool escapes = c == '\\' && next != StringRef::npos && StringRef(" #:;").contains(path[next]);
    if (StringRef(" #:;").contains(c) || escapes)
      text += '\\';
    text += c == '$' ? "$$" : std::string(1, c);
  }
  return text;
}

} // namespace kiln
