// Numbers from decimal text and back, exactly rounded. Without a locale and without the C library.
#ifndef KILN_DECIMAL_H
#define KILN_DECIMAL_H

#include "kiln/digits.h"
#include "kiln/strings.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

// Text as a number: [-+]digits[.digits][e[-+]digits], or infinity or NaN in letters of any case.
struct Decimal {
  static constexpr int most = 780; // digits after which none counts but as one that is not zero
  enum Kind { Fault, Finite, Infinite, NotANumber } kind = Fault;
  bool negative = false;
  uint8_t digits[most + 1];
  int count = 0;
  int64_t exponent = 0; // of ten, for the digits as an integer

  explicit Decimal(const kiln_string &text) {
    int64_t at = 0;
    negative = text.size > 0 && text.data[0] == '-';
    if (text.size > 0 && (text.data[0] == '-' || text.data[0] == '+'))
      ++at;
    if (matches(text, at, "inf") || matches(text, at, "infinity"))
      kind = Infinite;
    else if (matches(text, at, "nan"))
      kind = NotANumber;
    else if (readDigits(text, at) && readExponent(text, at) && at == text.size)
      kind = Finite;
  }

  // The integer part, which saturates.
  uint64_t integer() const {
    uint64_t value = 0;
    for (int64_t i = 0; i < count + exponent; ++i) {
      const uint64_t digit = i < count ? digits[i] : 0;
      if (value > (UINT64_MAX - digit) / 10)
        return UINT64_MAX;
      value = value * 10 + digit;
      if (value == 0 && i >= count)
        break;
    }
    return value;
  }
  double nearest() const {
    if (count == 0 || count + exponent < -330)
      return 0;
    if (count + exponent > 310)
      return __builtin_inf();
    // A guess that is some units off at most, then the unit that the exact comparison says.
    constexpr uint64_t infinity = uint64_t(0x7ff) << 52;
    uint64_t bits = bitcast<uint64_t>(guess());
    bits = bits >= infinity ? infinity - 1 : bits;
    while (bits < infinity && isAbove(bits))
      ++bits;
    while (bits > 0 && !isAbove(bits - 1))
      --bits;
    return bitcast<double>(bits);
  }

private:
  static bool matches(const kiln_string &text, int64_t at, const char *word) {
    for (; *word; ++word, ++at)
      if (at >= text.size || (text.data[at] | 0x20) != *word)
        return false;
    return at == text.size;
  }
  static bool isDigit(const kiln_string &text, int64_t at) { return at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; }
  bool readDigits(const kiln_string &text, int64_t &at) {
    int64_t before = 0, after = 0, dropped = 0;
    bool isMore = false;
    auto take = [&](int64_t &number) {
      for (; isDigit(text, at); ++at, ++number) {
        const uint8_t digit = uint8_t(text.data[at] - '0');
        if (count == most)
          ++dropped, isMore |= digit != 0;
        else if (count > 0 || digit != 0)
          digits[count++] = digit;
      }
    };
    take(before);
    if (at < text.size && text.data[at] == '.') {
      ++at;
      take(after);
    }
    exponent = dropped - after;
    if (isMore) {
      digits[count++] = 1;
      --exponent;
    }
    return before + after > 0;
  }
  bool readExponent(const kiln_string &text, int64_t &at) {
    if (at == text.size || (text.data[at] | 0x20) != 'e')
      return true;
    ++at;
    const bool isNegative = at < text.size && text.data[at] == '-';
    if (at < text.size && (text.data[at] == '-' || text.data[at] == '+'))
      ++at;
    if (!isDigit(text, at))
      return false;
    int64_t value = 0;
    for (; isDigit(text, at); ++at)
      value = value < 100000000 ? value * 10 + (text.data[at] - '0') : value;
    exponent += isNegative ? -value : value;
    return true;
  }
  double guess() const {
    double value = 0;
    int64_t power = exponent;
    for (int i = 0; i < count; ++i) {
      if (i < 18)
        value = value * 10 + digits[i];
      else
        ++power;
    }
    for (; power >= 16; power -= 16)
      value *= 1e16;
    for (; power > 0; --power)
      value *= 10;
    for (; power <= -16; power += 16)
      value /= 1e16;
    for (; power < 0; ++power)
      value /= 10;
    return value;
  }
  // Whether the number belongs above the double of these bits: it is beyond the middle to the next one, or there and the bits are odd.
  bool isAbove(uint64_t bits) const {
    const int64_t field = int64_t(bits >> 52), power = (field ? field : 1) - 1076;
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    Natural number(0), middle(2 * (field ? fraction | uint64_t(1) << 52 : fraction) + 1);
    for (int i = 0; i < count; ++i)
      number.multiply(10, digits[i]);
    (exponent < 0 ? middle : number).multiply_power(10, exponent < 0 ? -exponent : exponent);
    (power < 0 ? number : middle).shift(power < 0 ? -power : power);
    const int order = number.compare(middle);
    return order > 0 || (order == 0 && bits % 2 == 1);
  }
};

static inline void print_word(StringBytes &room, const char *word) {
  for (; *word; ++word)
    room.add(*word);
}

static inline void print_integer(StringBytes &room, uint64_t value) {
  char text[20];
  int size = 0;
  do
    text[size++] = char('0' + value % 10);
  while (value /= 10);
  while (size > 0)
    room.add(text[--size]);
}

// As Python writes a float: 0.0001, 12.0, 1e+16.
static inline void print_digits(StringBytes &room, const ShortestDigits &number) {
  auto put = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      room.add(i >= 0 && i < number.count ? char('0' + number.digits[i]) : '0');
  };
  const int exponent = number.point - 1;
  if (exponent >= -4 && exponent < 16) {
    put(0, number.point > 0 ? number.point : 0);
    print_word(room, number.point > 0 ? "." : "0.");
    put(number.point, number.count > number.point ? number.count : number.point + 1);
    return;
  }
  put(0, 1);
  if (number.count > 1)
    room.add('.');
  put(1, number.count);
  print_word(room, exponent < 0 ? "e-" : "e+");
  const uint64_t size = uint64_t(exponent < 0 ? -exponent : exponent);
  if (size < 10)
    room.add('0');
  print_integer(room, size);
}

template <typename T> static inline void print_number(StringBytes &room, T value) {
  if constexpr (isSame<T, float> || isSame<T, double>) {
    constexpr int fractionBits = sizeof(T) == 4 ? 23 : 52, fields = sizeof(T) == 4 ? 0xff : 0x7ff, bias = fields / 2 + fractionBits;
    const uint64_t bits = bitcast<uint_like<T>>(value), one = uint64_t(1) << fractionBits, fraction = bits % one;
    const int field = int(bits >> fractionBits) & fields;
    if (bits >> (8 * sizeof(T) - 1) && !(field == fields && fraction))
      room.add('-');
    if (field == fields)
      print_word(room, fraction ? "nan" : "inf");
    else if (field == 0 && fraction == 0)
      print_word(room, "0.0");
    else
      print_digits(room, ShortestDigits(field ? fraction | one : fraction, (field ? field : 1) - bias, fraction == 0 && field > 1));
  } else {
    const bool isNegative = value < T(0);
    if (isNegative)
      room.add('-');
    print_integer(room, isNegative ? 0 - uint64_t(value) : uint64_t(value));
  }
}

} // namespace

template <typename T>
static inline void decimal_parse(const kiln_string *in, T *out, int32_t *status, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const Decimal number(in[i]);
    const bool isFinite = number.kind == Decimal::Finite;
    if constexpr (isSame<T, double>) {
      const double size = isFinite ? number.nearest() : number.kind == Decimal::NotANumber ? __builtin_nan("") : __builtin_inf();
      out[i] = number.negative ? -size : size;
    } else {
      constexpr uint64_t most = T(-1) < T(0) ? uint64_t(INT64_MAX) : UINT64_MAX;
      const uint64_t size = isFinite ? number.integer() : 0, limit = most + (most != UINT64_MAX && number.negative);
      const uint64_t kept = size < limit ? size : limit;
      out[i] = T(number.negative ? 0 - kept : kept);
    }
    if (number.kind == Decimal::Fault || (!isFinite && !isSame<T, double>))
      fail(status, KILN_STATUS_STRING_IS_NO_NUMBER);
  }
}

template <typename T, typename Byte>
static inline void decimal_print(const T *in, kiln_string *out, Byte *bytes, int64_t *size, int32_t *status, int64_t count, int64_t capacity,
                                 int64_t each) {
  StringBytes room(reinterpret_cast<char *>(bytes), capacity + count * each, status);
  for (int64_t i = 0; i < count; ++i) {
    print_number(room, in[i]);
    out[i] = room.take();
  }
  *size = room.size();
}

} // namespace kiln

#endif // KILN_DECIMAL_H
