//===- Identifiers.cpp - C and C++ names -----------------------------------===//
#include "compiler/emit/Identifiers.h"

#include "dialects/kernel/Libraries.h"
#include "dialects/kernel/Names.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

bool isSystemHeader(StringRef name) {
  // The headers of C, and those that the headers of glibc and of the C++ library include.
  static const StringSet<> names = {
      "alloca",  "asm",       "assert", "byteswap", "complex", "crypt",  "ctype",       "dirent",  "dlfcn",     "endian",   "errno",
      "fcntl",   "features",  "fenv",   "float",    "getopt",  "glob",   "inttypes",    "iso646",  "libintl",   "limits",   "link",
      "locale",  "malloc",    "math",   "memory",   "poll",    "pthread", "regex",      "sched",   "semaphore", "setjmp",   "signal",
      "spawn",   "stdalign",  "stdarg", "stdatomic", "stdbit", "stdbool", "stdckdint",  "stddef",  "stdint",    "stdio",    "stdlib",
      "string",  "strings",   "stdnoreturn", "syscall", "syslog", "termios", "tgmath",  "threads", "time",      "uchar",    "ucontext",
      "unistd",  "utime",     "wait",   "wchar",    "wctype"};
  return names.contains(name);
}

bool isVectorName(StringRef text) {
  unsigned bits, lanes;
  StringRef whole = text;
  bool isFloat = text.consume_front("f"), isKind = isFloat || text.consume_front("i") || text.consume_front("u");
  if (!isKind || text.consumeInteger(10, bits) || !text.consume_front("x") || text.getAsInteger(10, lanes))
    return false;
  // The types that kiln/vector.h defines.
  bool isWidth = bits == 64 || bits == 32 || (!isFloat && (bits == 16 || bits == 8));
  bool isSize = bits * lanes == 128 || bits * lanes == 256 || bits * lanes == 512;
  return isWidth && isSize && whole.drop_front() == std::to_string(bits) + "x" + std::to_string(lanes);
}

std::string makeIdentifier(StringRef text) {
  std::string name;
  for (char c : text) {
    char next = isAlnum(c) ? c : '_';
    // C++ reserves names with two underscores in a row.
    if (next != '_' || name.empty() || name.back() != '_')
      name += next;
  }
  while (name.size() > 1 && name.back() == '_')
    name.pop_back();
  // A leading underscore before a capital is reserved, too.
  if (name.size() > 1 && name.front() == '_')
    name.erase(0, 1);
  if (name.empty() || name == "_" || isDigit(name.front()))
    name = "x" + (name == "_" ? std::string() : name);
  return kernel::isReservedName(name) || isVectorName(name) ? name + "_" : name;
}

std::string makeLibraryName(StringRef text) {
  std::string name = makeIdentifier(text);
  return isSystemHeader(name) ? name + "_" : name;
}

std::string makeMacroName(StringRef identifier) { return identifier.upper(); }

std::string makeCommentText(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '?' && !result.empty() && result.back() == '?') // a third character would make it a trigraph
      result += " ?";
    else if (!isPrint(c) || c == '\\')
      result += result.empty() || result.back() != '?' ? "?" : " ?";
    else if (c == '/' && !result.empty() && (result.back() == '*' || result.back() == '/'))
      result += " /";
    else if (c == '*' && !result.empty() && result.back() == '/')
      result += " *";
    else
      result += c;
  }
  return result;
}

std::string makeStringLiteral(StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      result += '\\', result += c;
    else if (isPrint(c) && c != '?') // a `?` could begin a trigraph
      result += c;
    else // exactly three octal digits, so that a following digit is not part of the escape
      result += '\\', result += char('0' + (c >> 6)), result += char('0' + ((c >> 3) & 7)), result += char('0' + (c & 7));
  }
  return result + "\"";
}

std::string takeName(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, "::");
  // Functions of the runtime may be templates of a number.
  if (kernel::isRuntimeFunction(text) || all_of(parts, [](StringRef part) { return kernel::isIdentifier(part); }))
    return text.str();
  return makeIdentifier(text);
}

std::string takeHeader(StringRef library) {
  const kernel::Library *known = kernel::findLibrary(library);
  return known ? known->header.str() : makeIdentifier(library) + ".h";
}

void NameScope::pop() {
  for (const std::string &name : levels.back())
    taken.erase(name);
  levels.pop_back();
}

std::string NameScope::unique(StringRef base) {
  std::string name = base.str();
  for (unsigned n = 1; !taken.insert(name).second; ++n)
    name = (base + (isDigit(base.back()) ? "_" : "") + Twine(n)).str();
  levels.back().push_back(name);
  return name;
}

} // namespace kiln
