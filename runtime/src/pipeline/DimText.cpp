// Reads expressions as the compiler prints them: numbers, names, + - * / %, floordiv, ceildiv, mod, max(a, b) and parentheses. They come from the program's own
// libraries, so a text that is none of this only has no value.
#include "DimText.h"

#include <string.h>

using namespace kiln;

namespace {

bool isNameCharacter(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || (c & 0x80); }

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// How expressions call a symbol: where a dimension is the bare symbol, its text is that name.
const char *nameOfSymbol(const kiln_model_info &info, int32_t symbol) {
  const kiln_tensor_info *lists[] = {info.inputs, info.outputs};
  int32_t counts[] = {info.num_inputs, info.num_outputs};
  for (int list = 0; list < 2; ++list)
    for (int32_t i = 0; i < counts[list]; ++i)
      for (int32_t axis = 0; lists[list][i].dim_symbols && axis < lists[list][i].rank; ++axis)
        if (lists[list][i].dim_symbols[axis] == symbol)
          return lists[list][i].dim_texts[axis];
  return info.symbols[symbol].name;
}

class DimParser {
public:
  DimParser(const kiln_model_info &info, const int64_t *dims, const char *text) : info(info), dims(dims), text(text) {}

  int64_t parse() {
    int64_t value = parseSum();
    skipSpaces();
    return isWrong || *text ? -1 : value;
  }

private:
  void skipSpaces() {
    while (*text == ' ')
      ++text;
  }

  bool take(const char *token) {
    skipSpaces();
    size_t length = strlen(token);
    if (strncmp(text, token, length) != 0 || (isNameCharacter(token[0]) && isNameCharacter(text[length])))
      return false;
    text += length;
    return true;
  }

  int64_t fail() {
    isWrong = true;
    return 0;
  }

  int64_t parseSum() {
    int64_t value = parseProduct();
    while (!isWrong) {
      bool isPlus = take("+");
      if (!isPlus && !take("-"))
        break;
      int64_t right = parseProduct();
      if (isPlus ? __builtin_add_overflow(value, right, &value) : __builtin_sub_overflow(value, right, &value))
        return fail();
    }
    return value;
  }

  int64_t parseProduct() {
    int64_t value = parsePrimary();
    while (!isWrong) {
      bool isTimes = take("*"), isFloor = !isTimes && (take("floordiv") || take("/")), isCeil = !isTimes && !isFloor && take("ceildiv");
      if (!isTimes && !isFloor && !isCeil && !take("mod") && !take("%"))
        break;
      int64_t right = parsePrimary(), left = value;
      if (isTimes) {
        if (__builtin_mul_overflow(left, right, &value))
          return fail();
        continue;
      }
      if (right <= 0)
        return fail();
      int64_t floor = left / right - (left % right < 0);
      value = isFloor ? floor : isCeil ? floor + (floor * right != left) : left - floor * right;
    }
    return value;
  }

  int64_t parsePrimary() {
    if (++depth > 200)
      return fail();
    int64_t value = parseOne();
    --depth;
    return value;
  }

  int64_t parseOne() {
    if (take("(")) {
      int64_t value = parseSum();
      return take(")") ? value : fail();
    }
    if (take("max")) {
      if (!take("("))
        return fail();
      int64_t first = parseSum();
      if (!take(","))
        return fail();
      int64_t second = parseSum();
      return take(")") ? (first > second ? first : second) : fail();
    }
    if (take("-"))
      return -parsePrimary();
    skipSpaces();
    return isDigit(*text) ? parseNumber() : parseName();
  }

  int64_t parseNumber() {
    int64_t value = 0;
    for (; isDigit(*text); ++text)
      if (__builtin_mul_overflow(value, int64_t(10), &value) || __builtin_add_overflow(value, int64_t(*text - '0'), &value))
        return fail();
    return value;
  }

  int64_t parseName() {
    const char *begin = text;
    while (isNameCharacter(*text))
      ++text;
    size_t length = size_t(text - begin);
    for (int32_t symbol = 0; length && dims && symbol < info.num_symbols; ++symbol) {
      const char *name = nameOfSymbol(info, symbol);
      if (strlen(name) == length && memcmp(name, begin, length) == 0)
        return dims[symbol];
    }
    return fail();
  }

  const kiln_model_info &info;
  const int64_t *dims;
  const char *text;
  int depth = 0;
  bool isWrong = false;
};

int64_t bytesOfElement(int32_t type) {
  switch (type) {
  case KILN_ELEMENT_F64:
  case KILN_ELEMENT_I64:
  case KILN_ELEMENT_U64:
  case KILN_ELEMENT_COMPLEX64:
    return 8;
  case KILN_ELEMENT_F32:
  case KILN_ELEMENT_I32:
  case KILN_ELEMENT_U32:
    return 4;
  case KILN_ELEMENT_F16:
  case KILN_ELEMENT_BF16:
  case KILN_ELEMENT_I16:
  case KILN_ELEMENT_U16:
    return 2;
  case KILN_ELEMENT_COMPLEX128:
    return 16;
  case KILN_ELEMENT_STRING:
  case KILN_ELEMENT_UNDEFINED:
    return -1;
  default:
    return 1;
  }
}

} // namespace

int64_t kiln::evaluateDim(const kiln_model_info &info, const kiln_tensor_info &tensor, int32_t axis, const int64_t *dims) {
  if (tensor.dims[axis] >= 0)
    return tensor.dims[axis];
  return tensor.dim_texts ? DimParser(info, dims, tensor.dim_texts[axis]).parse() : -1;
}

int64_t kiln::countBytes(const kiln_model_info &info, const kiln_tensor_info &tensor, const int64_t *dims) {
  int64_t bytes = bytesOfElement(tensor.element_type);
  if (bytes < 0 || tensor.byte_size >= 0)
    return bytes < 0 ? -1 : tensor.byte_size;
  for (int32_t axis = 0; axis < tensor.rank; ++axis) {
    int64_t size = evaluateDim(info, tensor, axis, dims);
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return -1;
  }
  return bytes;
}
