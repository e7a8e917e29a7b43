//===- DimText.cpp - Expressions of a model's dynamic dimensions -----------===//
#include "compiler/run/DimText.h"
#include "compiler/run/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::StringRef;

namespace kiln {

namespace {

/// Recursive descent; nesting is bounded, since the text may come from any archive.
class DimParser {
public:
  DimParser(StringRef text, const DimLookup &lookup) : text(text), lookup(lookup) {}

  std::optional<int64_t> parseAll() {
    std::optional<int64_t> value = parseSum();
    if (value && !text.trim().empty())
      return fail("unexpected '" + text.trim().str() + "'");
    return value;
  }

  std::string fault;

private:
  std::optional<int64_t> fail(const std::string &message) {
    if (fault.empty())
      fault = message;
    return std::nullopt;
  }

  bool take(StringRef token) {
    text = text.ltrim();
    if (!text.starts_with(token))
      return false;
    if (llvm::isAlpha(token[0]) && text.size() > token.size() && (llvm::isAlnum(text[token.size()]) || text[token.size()] == '_'))
      return false;
    text = text.drop_front(token.size());
    return true;
  }

  std::optional<int64_t> parseSum() {
    std::optional<int64_t> left = parseProduct();
    while (left) {
      bool plus = take("+");
      if (!plus && !take("-"))
        return left;
      std::optional<int64_t> right = parseProduct();
      if (!right)
        return right;
      if (plus ? llvm::AddOverflow(*left, *right, *left) : llvm::SubOverflow(*left, *right, *left))
        return fail("overflow");
    }
    return left;
  }

  std::optional<int64_t> parseProduct() {
    std::optional<int64_t> left = parseFactor();
    while (left) {
      bool times = take("*"), floor = !times && (take("floordiv") || take("/")), ceil = !times && !floor && take("ceildiv");
      if (!times && !floor && !ceil && !take("mod") && !take("%"))
        return left;
      std::optional<int64_t> right = parseFactor();
      if (!right)
        return right;
      if (times) {
        if (llvm::MulOverflow(*left, *right, *left))
          return fail("overflow");
        continue;
      }
      if (*right <= 0)
        return fail("division by " + std::to_string(*right));
      left = floor ? llvm::divideFloorSigned(*left, *right) : ceil ? llvm::divideCeilSigned(*left, *right) : llvm::mod(*left, *right);
    }
    return left;
  }

  std::optional<int64_t> parseFactor() {
    if (++depth > 200)
      return fail("too deeply nested");
    std::optional<int64_t> value = parsePrimary();
    --depth;
    return value;
  }

  std::optional<int64_t> parsePrimary() {
    if (take("(")) {
      std::optional<int64_t> value = parseSum();
      if (value && !take(")"))
        return fail("expected ')'");
      return value;
    }
    if (take("max")) {
      std::optional<int64_t> first = take("(") ? parseSum() : std::nullopt, second = first && take(",") ? parseSum() : std::nullopt;
      if (!second || !take(")"))
        return fail("expected max(a, b)");
      return std::max(*first, *second);
    }
    if (take("-")) {
      std::optional<int64_t> value = parseFactor();
      if (value && llvm::SubOverflow(int64_t(0), *value, *value))
        return fail("overflow");
      return value;
    }
    text = text.ltrim();
    int64_t number;
    if (!text.empty() && llvm::isDigit(text[0]))
      return text.consumeInteger(10, number) ? fail("overflow") : std::optional(number);
    StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || (c & 0x80); });
    if (name.empty())
      return fail("expected a number or a name at '" + text.str() + "'");
    text = text.drop_front(name.size());
    if (std::optional<int64_t> value = lookup(name))
      return value;
    return fail("dimension '" + name.str() + "' is not known");
  }

  StringRef text;
  const DimLookup &lookup;
  int depth = 0;
};

} // namespace

llvm::Expected<int64_t> evaluateDim(StringRef text, const DimLookup &lookup) {
  DimParser parser(text, lookup);
  if (std::optional<int64_t> value = parser.parseAll())
    return *value;
  return makeError("dimension '" + text + "': " + parser.fault);
}

} // namespace kiln
