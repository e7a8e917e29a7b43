// Letters, and strings that are found among keys by their hashes. The compiler makes the tables with the same functions.
#ifndef KILN_KEYS_H
#define KILN_KEYS_H

#include "kiln/abi.h"

namespace kiln {

// The letter of the other case, for those of two bytes at most whose pair has as many: ASCII, Latin-1, Greek, Cyrillic.
static inline uint32_t change_case(uint32_t letter, bool upper) {
  struct Range {
    uint32_t first, last, distance;
  };
  constexpr Range ranges[] = {{'A', 'Z', 32},       {0xc0, 0xd6, 32},   {0xd8, 0xde, 32},  {0x391, 0x3a1, 32},
                              {0x3a3, 0x3a9, 32}, {0x410, 0x42f, 32}, {0x400, 0x40f, 80}};
  for (const Range &range : ranges) {
    const uint32_t shift = upper ? range.distance : 0;
    if (letter >= range.first + shift && letter <= range.last + shift)
      return upper ? letter - range.distance : letter + range.distance;
  }
  return letter;
}

// The letter at `at` and its bytes: one or two; longer ones are given byte by byte, and no case is changed in them.
static inline uint32_t read_letter(const kiln_string &text, int64_t at, int &length) {
  const uint32_t first = uint8_t(text.data[at]);
  length = 1;
  if (first < 0xc2 || first > 0xdf || at + 1 >= text.size || (uint8_t(text.data[at + 1]) & 0xc0) != 0x80)
    return first < 0x80 ? first : 0xffffffffu;
  length = 2;
  return ((first & 0x1f) << 6) | (uint8_t(text.data[at + 1]) & 0x3f);
}

static inline bool equal_letters(const kiln_string &a, const kiln_string &b) {
  int lengthA, lengthB;
  int64_t i = 0, j = 0;
  for (; i < a.size && j < b.size; i += lengthA, j += lengthB) {
    const uint32_t x = read_letter(a, i, lengthA), y = read_letter(b, j, lengthB);
    const bool isOther = x == 0xffffffffu || y == 0xffffffffu;
    if (isOther ? x != y || a.data[i] != b.data[j] : change_case(x, false) != change_case(y, false))
      return false;
  }
  return i == a.size && j == b.size;
}

static inline bool equal_bytes(const kiln_string &a, const kiln_string &b) {
  int64_t i = 0;
  if (a.size == b.size)
    while (i < a.size && a.data[i] == b.data[i])
      ++i;
  return i == a.size && i == b.size;
}

// Whether two strings are equal, by bytes or whatever the case of their letters.
static inline bool equal_keys(const kiln_string &a, const kiln_string &b, bool case_sensitive) {
  return case_sensitive ? equal_bytes(a, b) : equal_letters(a, b);
}

// The hash of a string (FNV-1a). Strings that equal_letters takes for equal have one hash.
static inline uint32_t hash_key(const kiln_string &text, bool case_sensitive) {
  uint32_t hash = 2166136261u;
  int length = 1;
  for (int64_t at = 0; at < text.size; at += length) {
    uint32_t letter = uint8_t(text.data[at]);
    if (!case_sensitive)
      if (const uint32_t read = read_letter(text, at, length); read != 0xffffffffu)
        letter = change_case(read, false);
    hash = (hash ^ letter) * 16777619u;
  }
  return hash ^ hash >> 15;
}

// The number of the key that equals the string, -1 if there is none. Each key stands in the first free slot from that of its hash on, by its number plus one;
// a free slot is 0. There is a free slot, and a power of two of them, or none at all if there are no keys.
static inline int64_t find_key(const kiln_string &text, const kiln_string *keys, const int32_t *slots, int64_t slot_count, bool case_sensitive) {
  if (slot_count == 0)
    return -1;
  const uint32_t mask = uint32_t(slot_count) - 1;
  for (uint32_t at = hash_key(text, case_sensitive) & mask; slots[at] != 0; at = (at + 1) & mask)
    if (equal_keys(keys[slots[at] - 1], text, case_sensitive))
      return slots[at] - 1;
  return -1;
}

} // namespace kiln

#endif // KILN_KEYS_H
