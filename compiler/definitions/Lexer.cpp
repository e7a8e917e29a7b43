//===- Lexer.cpp - The tokens of a file of definitions ----------------------===//
#include "compiler/definitions/Lexer.h"
#include "compiler/files/Printable.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln::definitions {

/// Longer signs stand before their beginnings.
static constexpr StringLiteral signs[] = {"...", "->", "//", "+=", "*=", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", ",", ";",
                                          ":",   "=",  "+",  "-",  "*",  "/",  "%",  "<",  ">",  "!"};

static bool isNameStart(char c) { return isAlpha(c) || c == '_'; }
static bool isNamePart(char c) { return isAlnum(c) || c == '_'; }

/// The characters of a number: digits with at most one point and an exponent. A point must not begin `...`.
static size_t measureNumber(StringRef text, bool &isReal) {
  size_t at = 0;
  auto skipDigits = [&] {
    while (at < text.size() && isDigit(text[at]))
      ++at;
  };
  skipDigits();
  if (at < text.size() && text[at] == '.' && !text.substr(at).starts_with("..")) {
    isReal = true;
    ++at;
    skipDigits();
  }
  size_t exponent = at;
  if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) {
    ++exponent;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-'))
      ++exponent;
    if (exponent < text.size() && isDigit(text[exponent])) {
      isReal = true;
      at = exponent;
      skipDigits();
    }
  }
  return at;
}

/// The token at the beginning of the text, which is not empty; its length is 0 if there is none.
static std::pair<Token::Kind, size_t> readToken(StringRef text) {
  if (isNameStart(text[0])) {
    size_t length = text.take_while(isNamePart).size();
    return {Token::Kind::Name, length};
  }
  if (isDigit(text[0]) || (text[0] == '.' && text.size() > 1 && isDigit(text[1]))) {
    bool isReal = false;
    size_t length = measureNumber(text, isReal);
    // 3x is no number followed by a name.
    if (length < text.size() && isNamePart(text[length]))
      length = 0;
    return {isReal ? Token::Kind::Real : Token::Kind::Integer, length};
  }
  if (text[0] == '"') {
    size_t end = text.find_first_of("\"\n", 1);
    return {Token::Kind::String, end == StringRef::npos || text[end] == '\n' ? 0 : end + 1};
  }
  for (StringRef sign : signs)
    if (text.starts_with(sign))
      return {Token::Kind::Sign, sign.size()};
  return {Token::Kind::End, 0};
}

bool splitTokens(StringRef text, std::vector<Token> &tokens, Fault &fault) {
  Place place;
  auto skip = [&](size_t count) {
    for (char c : text.take_front(count)) {
      place.column = c == '\n' ? 1 : place.column + 1;
      place.line += c == '\n';
    }
    text = text.drop_front(count);
  };
  while (!text.empty()) {
    if (StringRef(" \t\r\n").contains(text[0])) {
      skip(1);
      continue;
    }
    if (text[0] == '#') {
      skip(std::min(text.find('\n'), text.size()));
      continue;
    }
    auto [kind, length] = readToken(text);
    if (length == 0) {
      std::string what = kind == Token::Kind::String    ? "a text without its closing quote"
                         : kind != Token::Kind::End     ? "a number is followed by a letter"
                                                        : "unexpected character '" + printable(text.take_front(1)) + "'";
      fault = {place, what};
      return false;
    }
    StringRef written = text.take_front(length);
    tokens.push_back({kind, kind == Token::Kind::String ? written.drop_front().drop_back() : written, place});
    skip(length);
  }
  tokens.push_back({Token::Kind::End, "", place});
  return true;
}

} // namespace kiln::definitions
