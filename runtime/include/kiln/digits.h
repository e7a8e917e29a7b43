// Integers of thousands of bits, and the shortest decimal digits of a floating-point number.
#ifndef KILN_DIGITS_H
#define KILN_DIGITS_H

#include "kiln/vector.h"

namespace kiln {

// Their functions belong to the translation unit: units for several targets meet in one library.
namespace {

// A natural number of at most 5,120 bits: what the digits that count times a power of ten and of two can be.
class Natural {
public:
  explicit Natural(uint64_t value) : size(2) {
    words[0] = uint32_t(value), words[1] = uint32_t(value >> 32);
    trim();
  }
  Natural(const Natural &other) { *this = other; }
  // Word by word: a copy of all would be a call of the C library.
  Natural &operator=(const Natural &other) {
    size = other.size;
    for (int i = 0; i < size; ++i)
      words[i] = other.words[i];
    return *this;
  }

  void multiply(uint32_t by, uint32_t carry = 0) {
    uint64_t rest = carry;
    for (int i = 0; i < size; ++i) {
      rest += uint64_t(words[i]) * by;
      words[i] = uint32_t(rest);
      rest >>= 32;
    }
    if (rest && size < capacity)
      words[size++] = uint32_t(rest);
  }
  void multiply_power(uint32_t base, int64_t exponent) {
    for (; exponent > 0; --exponent)
      multiply(base);
  }
  void shift(int64_t bits) {
    for (; bits >= 31; bits -= 31)
      multiply(uint32_t(1) << 31);
    multiply(uint32_t(1) << bits);
  }
  void add(const Natural &other) {
    uint64_t carry = 0;
    for (int i = 0; i < size || i < other.size || carry; ++i) {
      if (i == capacity)
        return;
      carry += uint64_t(i < size ? words[i] : 0) + (i < other.size ? other.words[i] : 0);
      words[i] = uint32_t(carry);
      size = i < size ? size : i + 1;
      carry >>= 32;
    }
  }
  // Of a number that is not larger.
  void subtract(const Natural &other) {
    int64_t borrow = 0;
    for (int i = 0; i < size; ++i) {
      borrow += int64_t(words[i]) - (i < other.size ? other.words[i] : 0);
      words[i] = uint32_t(borrow);
      borrow >>= 32;
    }
    trim();
  }
  // The sign of the difference.
  int compare(const Natural &other) const {
    if (size != other.size)
      return size < other.size ? -1 : 1;
    for (int i = size - 1; i >= 0; --i)
      if (words[i] != other.words[i])
        return words[i] < other.words[i] ? -1 : 1;
    return 0;
  }

private:
  void trim() {
    while (size > 0 && words[size - 1] == 0)
      --size;
  }
  static constexpr int capacity = 160;
  uint32_t words[capacity];
  int size;
};

// The fewest digits that are nearer to a number than to any other of its type, and the power of ten behind the point in front of them.
struct ShortestDigits {
  uint8_t digits[20];
  int count = 0, point = 0;

  // fraction * 2^power, where the next smaller number is half as far away as the next larger one when `isEdge`.
  ShortestDigits(uint64_t fraction, int64_t power, bool isEdge) {
    Natural rest(fraction), unit(1), above(1);
    rest.shift(2 + (power > 0 ? power : 0));
    unit.shift(2 + (power < 0 ? -power : 0));
    above.shift(1 + (power > 0 ? power : 0));
    Natural below = above;
    // Quarters keep half of a half whole.
    if (isEdge) {
      below = Natural(1);
      below.shift(power > 0 ? power : 0);
    }
    const bool isEven = fraction % 2 == 0;
    auto reaches = [&](const Natural &margin) {
      Natural sum = rest;
      sum.add(margin);
      const int order = sum.compare(unit);
      return order > 0 || (order == 0 && isEven);
    };
    for (; reaches(above); ++point)
      unit.multiply(10);
    auto next = [&] { rest.multiply(10), above.multiply(10), below.multiply(10); };
    for (next(); !reaches(above); next())
      --point;
    for (;;) {
      int digit = 0;
      for (; rest.compare(unit) >= 0; ++digit)
        rest.subtract(unit);
      const int low = rest.compare(below);
      const bool isLow = low < 0 || (low == 0 && isEven), isHigh = reaches(above);
      if (isLow || isHigh) {
        Natural twice = rest;
        twice.multiply(2);
        const int half = twice.compare(unit);
        digits[count++] = uint8_t(digit + (isHigh && (!isLow || half > 0 || (half == 0 && digit % 2 == 1))));
        return;
      }
      digits[count++] = uint8_t(digit);
      next();
    }
  }
};

} // namespace

} // namespace kiln

#endif // KILN_DIGITS_H
