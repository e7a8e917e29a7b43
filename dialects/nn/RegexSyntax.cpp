//===- RegexSyntax.cpp - Reads regular expressions ----------------------------===//
#include "dialects/nn/RegexSyntax.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace kiln::nn {

bool isWordByte(unsigned byte) { return byte < 128 && (llvm::isAlnum(static_cast<char>(byte)) || byte == '_'); }

namespace {
using Part = std::unique_ptr<RegexPart>;

class Parser {
public:
  Parser(StringRef pattern, std::string &reason) : rest(pattern), reason(reason) {}
  Part parse();

private:
  static constexpr int mostRepeats = 1000, deepest = 100;

  Part fail(const llvm::Twine &what) {
    if (reason.empty())
      reason = what.str();
    return nullptr;
  }
  static Part make(RegexPart::Kind kind) {
    auto part = std::make_unique<RegexPart>();
    part->kind = kind;
    return part;
  }
  static Part make(const CharacterSet &set) {
    Part part = make(RegexPart::Set);
    part->set = set;
    return part;
  }
  char take() {
    char c = rest.front();
    rest = rest.drop_front();
    return c;
  }
  Part choice();
  Part sequence();
  Part repeated();
  Part atom();
  Part group();
  Part escape();
  Part character(char first);
  bool escapedSet(char letter, CharacterSet &set);
  bool braces(int &least, int &most);
  Part brackets();
  bool bracketItem(CharacterSet &set);
  int bracketEnd(char c);

  StringRef rest;
  std::string &reason;
  int depth = 0;
};
} // namespace

static void addRange(CharacterSet &set, unsigned first, unsigned last) {
  for (unsigned c = first; c <= last && c < 128; ++c)
    set.ascii.set(c);
}

static CharacterSet invert(CharacterSet set) { return {~set.ascii, !set.others}; }

/// \d, \w, \s and their opposites; false: the letter is none of these.
bool Parser::escapedSet(char letter, CharacterSet &set) {
  CharacterSet found;
  switch (llvm::toLower(letter)) {
  case 'd':
    addRange(found, '0', '9');
    break;
  case 'w':
    for (unsigned c = 0; c < 128; ++c)
      found.ascii.set(c, isWordByte(c));
    break;
  case 's':
    for (char c : StringRef("\t\n\f\r "))
      found.ascii.set(c);
    break;
  default:
    return false;
  }
  if (letter != llvm::toLower(letter))
    found = invert(found);
  set.ascii |= found.ascii;
  set.others |= found.others;
  return true;
}

/// A literal character. Those beyond ASCII become their bytes.
Part Parser::character(char first) {
  auto byte = static_cast<unsigned char>(first);
  if (byte < 128) {
    CharacterSet set;
    set.ascii.set(byte);
    return make(set);
  }
  Part bytes = make(RegexPart::Sequence);
  auto add = [&](unsigned char value) {
    bytes->parts.push_back(make(RegexPart::Byte));
    bytes->parts.back()->byte = value;
  };
  add(byte);
  while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xc0) == 0x80)
    add(static_cast<unsigned char>(take()));
  return bytes;
}

/// The character of \n and the like, or of punctuation; -1: none.
static int controlOf(char letter) {
  static constexpr StringRef letters = "ntrfva", controls = "\n\t\r\f\v\a";
  if (size_t at = letters.find(letter); at != StringRef::npos)
    return controls[at];
  return !llvm::isAlnum(letter) && static_cast<unsigned char>(letter) < 128 ? letter : -1;
}

Part Parser::escape() {
  if (rest.empty())
    return fail("ends in a backslash");
  char letter = take();
  CharacterSet set;
  if (escapedSet(letter, set))
    return make(set);
  if (letter == 'b' || letter == 'B')
    return make(letter == 'b' ? RegexPart::WordEdge : RegexPart::NoWordEdge);
  if (letter == 'A' || letter == 'z')
    return make(letter == 'A' ? RegexPart::Begin : RegexPart::End);
  if (int c = controlOf(letter); c >= 0)
    return character(static_cast<char>(c));
  return fail("\\" + llvm::Twine(letter) + " is not supported");
}

/// The last character of a range in brackets, which is `c` or what it escapes; -1 after a mistake.
int Parser::bracketEnd(char c) {
  if (c != '\\')
    return static_cast<unsigned char>(c);
  return rest.empty() ? -1 : controlOf(take());
}

bool Parser::bracketItem(CharacterSet &set) {
  if (rest.starts_with("[:"))
    return fail("named classes ([:alpha:]) are not supported") != nullptr;
  char c = take();
  if (c == '\\' && !rest.empty() && escapedSet(rest.front(), set)) {
    take();
    return true;
  }
  int first = bracketEnd(c), last = first;
  if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
    take();
    last = bracketEnd(take());
  }
  if (first < 0 || last < 0 || first > 127 || last > 127)
    return fail("characters beyond ASCII, and letters behind a backslash, are not supported in brackets") != nullptr;
  if (last < first)
    return fail("a range in brackets ends before it begins") != nullptr;
  addRange(set, first, last);
  return true;
}

Part Parser::brackets() {
  CharacterSet set;
  bool isInverted = rest.consume_front("^");
  for (bool isFirst = true; !rest.empty() && (isFirst || rest.front() != ']'); isFirst = false)
    if (!bracketItem(set))
      return nullptr;
  if (!rest.consume_front("]"))
    return fail("a bracket is not closed");
  return make(isInverted ? invert(set) : set);
}

Part Parser::group() {
  if (rest.consume_front("?:") || !rest.starts_with("?")) {
    Part inside = choice();
    if (inside && !rest.consume_front(")"))
      return fail("a parenthesis is not closed");
    return inside;
  }
  return fail("groups with flags or names are not supported");
}

Part Parser::atom() {
  switch (char c = take()) {
  case '(':
    return group();
  case '[':
    return brackets();
  case '\\':
    return escape();
  case '^':
    return make(RegexPart::Begin);
  case '$':
    return make(RegexPart::End);
  case '.': {
    CharacterSet newline;
    newline.ascii.set('\n');
    return make(invert(newline));
  }
  case '*':
  case '+':
  case '?':
    return fail("nothing precedes '" + llvm::Twine(c) + "'");
  default:
    return character(c);
  }
}

/// {n}, {n,} or {n,m}; anything else in braces is text.
bool Parser::braces(int &least, int &most) {
  StringRef inside = rest.drop_front().take_until([](char c) { return c == '}'; });
  auto [low, high] = inside.split(',');
  if (inside.size() + 1 >= rest.size() || low.getAsInteger(10, least) || least < 0)
    return false;
  most = !inside.contains(',') ? least : -1;
  if (inside.contains(',') && !high.empty() && (high.getAsInteger(10, most) || most < 0))
    return false;
  rest = rest.drop_front(inside.size() + 2);
  return true;
}

Part Parser::repeated() {
  Part part = atom();
  while (part && !rest.empty()) {
    int least = 0, most = -1;
    if (rest.front() == '{') {
      if (!braces(least, most))
        return part;
    } else if (StringRef("*+?").contains(rest.front())) {
      char c = take();
      least = c == '+';
      most = c == '?' ? 1 : -1;
    } else {
      return part;
    }
    // A lazy repetition accepts the same whole strings.
    rest.consume_front("?");
    if (least > mostRepeats || most > mostRepeats || (most >= 0 && most < least))
      return fail("a repetition has a bound above 1000, or its bounds are in the wrong order");
    Part outer = make(RegexPart::Repeat);
    outer->least = least;
    outer->most = most;
    outer->parts.push_back(std::move(part));
    part = std::move(outer);
  }
  return part;
}

Part Parser::sequence() {
  Part all = make(RegexPart::Sequence);
  while (!rest.empty() && rest.front() != '|' && rest.front() != ')') {
    Part part = repeated();
    if (!part)
      return nullptr;
    all->parts.push_back(std::move(part));
  }
  return all;
}

Part Parser::choice() {
  if (++depth > deepest)
    return fail("groups are nested too deep");
  Part all = make(RegexPart::Choice);
  do {
    Part part = sequence();
    if (!part)
      return nullptr;
    all->parts.push_back(std::move(part));
  } while (rest.consume_front("|"));
  --depth;
  return all;
}

Part Parser::parse() {
  Part all = choice();
  return all && !rest.empty() ? fail("a parenthesis is closed that was not opened") : std::move(all);
}

std::unique_ptr<RegexPart> parseRegex(StringRef pattern, std::string &reason) {
  reason.clear();
  return Parser(pattern, reason).parse();
}

} // namespace kiln::nn
