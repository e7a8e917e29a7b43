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

static bool isPlain(StringRef word) {
  return !word.empty() && all_of(word, [](char c) { return isAlnum(c) || StringRef("_-./=:,+@%").contains(c); });
}

std::string quoteForShell(StringRef word) {
  if (isPlain(word))
    return word.str();
  std::string result = "'";
  for (char c : word)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string escapeForCMake(StringRef text) {
  std::string result;
  for (char c : text) {
    size_t control = StringRef("\n\r\t").find(c);
    bool escapes = control != StringRef::npos || StringRef("\\\"$@").contains(c);
    result += (escapes ? "\\" : "") + std::string(1, control == StringRef::npos ? c : "nrt"[control]);
  }
  return result;
}

std::string quoteForCMake(StringRef word) { return isPlain(word) ? word.str() : "\"" + escapeForCMake(word) + "\""; }

bool fitsCMakeList(StringRef word) { return word.find_first_of(";\\") == StringRef::npos && word.count('[') == word.count(']'); }

std::string makePkgConfigWord(StringRef text) { return keepOnly(text, "_.+-"); }

std::string makeAssemblerName(StringRef text) { return makeIdentifier(text); }

std::string makeCompilerOption(StringRef option, StringRef value) { return (option + keepOnly(value, "_.+-")).str(); }

Expected<std::string> makeDepfilePath(StringRef path) {
  bool isControlled = any_of(path, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  // For make, a semicolon begins a recipe and a bar begins another list, wherever they are.
  size_t separator = path.find_first_of(";|");
  if (isControlled || separator != StringRef::npos) {
    std::string shown;
    raw_string_ostream stream(shown);
    printEscapedString(path, stream);
    return createStringError(inconvertibleErrorCode(), "a depfile cannot hold the path '" + shown + "', which has " +
                                                           (isControlled ? "control characters" : "'" + path.substr(separator, 1) + "'"));
  }
  std::string text;
  for (auto [i, c] : enumerate(path)) {
    // Backslashes are special only before a character that they would escape, such as the blank after the path; there each is doubled.
    size_t next = path.find_first_not_of('\\', i);
    bool escapes = c == '\\' && (next == StringRef::npos || StringRef(" #:").contains(path[next]));
    if (StringRef(" #:").contains(c) || escapes)
      text += '\\';
    text += c == '$' ? "$$" : std::string(1, c);
  }
  return text;
}

std::string fillIn(StringRef form, const std::vector<std::pair<StringRef, std::string>> &values) {
  std::string text;
  while (!form.empty()) {
    auto value = llvm::find_if(values, [&](const auto &entry) { return form.starts_with(entry.first); });
    text += value == values.end() ? form.take_front().str() : value->second;
    form = form.drop_front(value == values.end() ? 1 : value->first.size());
  }
  return text;
}

} // namespace kiln
