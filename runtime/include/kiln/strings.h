// What kernels do with strings (kiln_string): compare, find, match, split and join bytes of UTF-8. Nothing here owns memory; bytes that
// are new go to a buffer of the caller's, and status says when they do not fit.
#ifndef KILN_STRINGS_H
#define KILN_STRINGS_H

#include "kiln/entry.h"
#include "kiln/keys.h"

namespace kiln {

// The sign of a - b, by bytes; a string that another begins with comes first.
static inline int compare_strings(const kiln_string &a, const kiln_string &b) {
  const int64_t common = a.size < b.size ? a.size : b.size;
  for (int64_t i = 0; i < common; ++i)
    if (a.data[i] != b.data[i])
      return uint8_t(a.data[i]) < uint8_t(b.data[i]) ? -1 : 1;
  return a.size < b.size ? -1 : a.size > b.size;
}

template <typename Bool>
static inline void string_equal(const kiln_string *a, const kiln_string *b, Bool *out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    out[i] = compare_strings(a[i], b[i]) == 0;
}

static inline void string_fill(kiln_string *out, int64_t count, const kiln_string *values, int64_t) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = values[i];
}

// The number of the first key that the string is, otherwise `missing`.
static inline void string_find(const kiln_string *in, int64_t *out, int64_t begin, int64_t end, const kiln_string *keys, int64_t,
                               const int32_t *slots, int64_t slotCount, int64_t missing) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t key = find_key(in[i], keys, slots, slotCount, true);
    out[i] = key < 0 ? missing : key;
  }
}

// MurmurHash3_x86_32 of the bytes, with or without a sign.
template <typename Int>
static inline void string_hash(const kiln_string *in, Int *out, int64_t begin, int64_t end, int64_t seed) {
  auto rotate = [](uint32_t x, int by) { return x << by | x >> (32 - by); };
  for (int64_t i = begin; i < end; ++i) {
    uint32_t hash = uint32_t(seed), word = 0;
    for (int64_t at = 0; at < in[i].size; ++at) {
      word |= uint32_t(uint8_t(in[i].data[at])) << (8 * (at % 4));
      const bool isWhole = at % 4 == 3;
      if (!isWhole && at + 1 < in[i].size)
        continue;
      hash ^= rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
      hash = isWhole ? rotate(hash, 13) * 5 + 0xe6546b64u : hash;
      word = 0;
    }
    hash ^= uint32_t(in[i].size);
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    out[i] = Int(hash ^ hash >> 16);
  }
}

// Whether an automaton accepts the whole string. classes: what each byte is to it; next: a row of `width` states for each state, of whose
// last entry bit 0 says whether it accepts at the end. State 0 is the first one.
template <typename Bool>
static inline void string_match(const kiln_string *in, Bool *out, int64_t begin, int64_t end, const int32_t *classes, int64_t,
                                const int32_t *next, int64_t, int64_t width) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t state = 0;
    for (int64_t at = 0; at < in[i].size; ++at)
      state = next[state * width + classes[uint8_t(in[i].data[at])]];
    out[i] = (next[state * width + width - 1] & 1) != 0;
  }
}

namespace {

// Bytes that a kernel makes, one string behind the other; there is room for `capacity` of them. Of the translation unit: units for several
// targets meet in one library.
class StringBytes {
public:
  StringBytes(char *bytes, int64_t capacity, int32_t *status) : bytes(bytes), capacity(capacity), status(status) {}
  void add(char byte) {
    if (used < capacity)
      bytes[used++] = byte;
    else
      fail(status, KILN_STATUS_STRING_ROOM_TOO_SMALL);
  }
  void add(const kiln_string &text) {
    for (int64_t i = 0; i < text.size; ++i)
      add(text.data[i]);
  }
  // What was added since the last call.
  kiln_string take() {
    const kiln_string text = {bytes + taken, used - taken};
    taken = used;
    return text;
  }
  int64_t size() const { return used; }

private:
  char *bytes;
  int64_t capacity, used = 0, taken = 0;
  int32_t *status;
};

} // namespace

template <typename Byte>
static inline void string_concat(const kiln_string *a, const kiln_string *b, kiln_string *out, Byte *bytes, int64_t *size,
                                 int32_t *status, int64_t count, int64_t capacity, int64_t each) {
  StringBytes room(reinterpret_cast<char *>(bytes), capacity + count * each, status);
  for (int64_t i = 0; i < count; ++i) {
    room.add(a[i]);
    room.add(b[i]);
    out[i] = room.take();
  }
  *size = room.size();
}

template <typename Byte>
static inline void string_case(const kiln_string *in, kiln_string *out, Byte *bytes, int64_t *size, int32_t *status,
                               int64_t count, int64_t capacity, int64_t each, int64_t upper) {
  StringBytes room(reinterpret_cast<char *>(bytes), capacity + count * each, status);
  for (int64_t i = 0; i < count; ++i) {
    int length;
    for (int64_t at = 0; at < in[i].size; at += length) {
      const uint32_t letter = read_letter(in[i], at, length), changed = change_case(letter, upper != 0);
      if (length == 2) {
        room.add(char(0xc0 | (changed >> 6)));
        room.add(char(0x80 | (changed & 0x3f)));
      } else {
        room.add(letter == 0xffffffffu ? in[i].data[at] : char(changed));
      }
    }
    out[i] = room.take();
  }
  *size = room.size();
}

// Those that are none of the stop words, in order; one empty string when none is left.
static inline void string_filter(const kiln_string *in, kiln_string *out, int64_t *kept, int64_t count, const kiln_string *stops, int64_t,
                                 const int32_t *slots, int64_t slotCount, int64_t caseSensitive) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i)
    if (find_key(in[i], stops, slots, slotCount, caseSensitive != 0) < 0)
      out[found++] = in[i];
  if (found == 0)
    out[found++] = kiln_string{"", 0};
  *kept = found;
}

static inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline bool begins_with(const kiln_string &text, int64_t at, const kiln_string &part) {
  if (text.size - at < part.size)
    return false;
  for (int64_t i = 0; i < part.size; ++i)
    if (text.data[at + i] != part.data[i])
      return false;
  return true;
}

// The parts of a string; `use(part, number)` gets each. Without a delimiter white space parts words. At most `splits` splits: the rest is
// the last part.
template <typename Use>
static inline int64_t split_string(const kiln_string &text, const kiln_string &delimiter, int64_t splits, Use use) {
  int64_t parts = 0, start = 0;
  const bool words = delimiter.size == 0;
  while (words && start < text.size && is_space(text.data[start]))
    ++start;
  if (words && start == text.size)
    return 0;
  for (int64_t at = start; at < text.size && parts < splits;) {
    if (words ? !is_space(text.data[at]) : !begins_with(text, at, delimiter)) {
      ++at;
      continue;
    }
    use(kiln_string{text.data + start, at - start}, parts++);
    start = words ? at + 1 : at + delimiter.size;
    while (words && start < text.size && is_space(text.data[start]))
      ++start;
    if (words && start == text.size)
      return parts;
    at = start;
  }
  use(kiln_string{text.data + start, text.size - start}, parts++);
  return parts;
}

// Rows of the result are as long as the most parts; shorter ones are filled up with empty strings. No more than `capacity` parts.
static inline void string_split(const kiln_string *in, kiln_string *out, int64_t *counts, int64_t *most, int32_t *status, int64_t count,
                                int64_t capacity, int64_t splits, kiln_string delimiter) {
  int64_t length = 0;
  for (int64_t i = 0; i < count; ++i) {
    counts[i] = split_string(in[i], delimiter, splits, [](kiln_string, int64_t) {});
    length = counts[i] > length ? counts[i] : length;
  }
  if (length > capacity) {
    fail(status, KILN_STATUS_STRING_ROOM_TOO_SMALL);
    length = capacity;
  }
  for (int64_t i = 0; i < count; ++i) {
    kiln_string *row = out + i * length;
    split_string(in[i], delimiter, splits, [&](kiln_string part, int64_t number) {
      if (number < length)
        row[number] = part;
    });
    for (int64_t j = counts[i]; j < length; ++j)
      row[j] = kiln_string{"", 0};
  }
  *most = length;
}

// The number of strings before each one, in the order of their bytes: a heap sort of the places, of which equal ones stay in order.
static inline void string_order(const kiln_string *in, int64_t *out, int64_t *places, int64_t count) {
  auto isBefore = [&](int64_t a, int64_t b) {
    const int order = compare_strings(in[a], in[b]);
    return order < 0 || (order == 0 && a < b);
  };
  auto sink = [&](int64_t at, int64_t size) {
    const int64_t moving = places[at];
    for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
      child += child + 1 < size && isBefore(places[child], places[child + 1]);
      if (!isBefore(moving, places[child]))
        break;
      places[at] = places[child];
      at = child;
    }
    places[at] = moving;
  };
  for (int64_t i = 0; i < count; ++i)
    places[i] = i;
  for (int64_t i = count / 2; i-- > 0;)
    sink(i, count);
  for (int64_t size = count; --size > 0;) {
    const int64_t last = places[size];
    places[size] = places[0];
    places[0] = last;
    sink(0, size);
  }
  for (int64_t i = 0; i < count; ++i)
    out[places[i]] = i > 0 && compare_strings(in[places[i - 1]], in[places[i]]) == 0 ? out[places[i - 1]] : i;
}

} // namespace kiln

#endif // KILN_STRINGS_H
