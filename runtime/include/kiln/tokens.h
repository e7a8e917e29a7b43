// The tokens of strings by regular expressions, as string_match has their automata: the longest match from the left. Nothing here owns
// memory.
#ifndef KILN_TOKENS_H
#define KILN_TOKENS_H

#include "kiln/strings.h"

namespace kiln {

// The character at `at` as automata see it: 0 beyond the text, 1 for a letter, digit or underscore of ASCII, 2 for others.
static inline int token_side(const kiln_string &text, int64_t at) {
  if (at < 0 || at >= text.size)
    return 0;
  const char c = text.data[at];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ? 1 : 2;
}

// The end of the longest match that begins at `at`, or -1 when there is none. The first state is the number of the side before the match, and
// the last entry of a state has a bit for each side before which a match may end.
static inline int64_t match_longest(const kiln_string &text, int64_t at, const int32_t *classes, const int32_t *next, int64_t width) {
  int64_t state = token_side(text, at - 1), end = -1;
  for (;; ++at) {
    if (next[state * width + width - 1] >> token_side(text, at) & 1)
      end = at;
    if (at >= text.size)
      return end;
    state = next[state * width + classes[uint8_t(text.data[at])]];
  }
}

// The next character, of UTF-8.
static inline int64_t skip_character(const kiln_string &text, int64_t at) {
  do
    ++at;
  while (at < text.size && (uint8_t(text.data[at]) & 0xc0) == 0x80);
  return at;
}

// Whether a part of a string has so many characters.
static inline bool has_characters(const kiln_string &part, int64_t least) {
  int64_t count = 0;
  for (int64_t at = 0; at < part.size && count < least; ++count)
    at = skip_character(part, at);
  return count >= least;
}

namespace {

// Automata, of each 256 classes and a table, and what becomes of their matches. Of the translation unit, as StringBytes is.
struct TokenRules {
  const int32_t *classes, *next, *starts, *widths;
  int64_t patterns, least;

  int64_t longest(const kiln_string &text, int64_t at, int64_t pattern) const {
    return match_longest(text, at, classes + 256 * pattern, next + starts[pattern], widths[pattern]);
  }

  // Uses the matches of the only pattern.
  template <typename Use>
  void find_tokens(const kiln_string &text, const Use &use) const {
    for (int64_t at = 0; at < text.size;) {
      const int64_t end = longest(text, at, 0);
      const kiln_string token = {text.data + at, end - at};
      const bool counts = end > at && has_characters(token, least);
      if (counts)
        use(token);
      at = counts ? end : skip_character(text, at);
    }
  }

  // Uses what lies between the matches of this pattern and of those behind it.
  template <typename Use>
  void split_tokens(const kiln_string &text, int64_t pattern, const Use &use) const {
    if (pattern == patterns) {
      use(text);
      return;
    }
    auto give = [&](int64_t start, int64_t end) {
      const kiln_string part = {text.data + start, end - start};
      if (has_characters(part, least))
        split_tokens(part, pattern + 1, use);
    };
    int64_t start = 0;
    for (int64_t at = 0; at < text.size;) {
      const int64_t end = longest(text, at, pattern);
      if (end <= at) {
        at = skip_character(text, at);
        continue;
      }
      give(start, at);
      start = at = end;
    }
    give(start, text.size);
  }
};

} // namespace

// Rows of the result are as long as the longest one; shorter ones are filled up. No more than `capacity` in a row. With marks, a byte 2 stands
// before the tokens and a byte 3 behind them, unless no string has a token.
static inline void token_rows(const kiln_string *in, kiln_string *out, int64_t *longest, int32_t *status, int64_t count, int64_t capacity,
                              const int32_t *classes, int64_t, const int32_t *next, int64_t, const int32_t *starts, int64_t patterns,
                              const int32_t *widths, int64_t, int64_t between, int64_t least, int64_t marks, kiln_string padding) {
  const TokenRules rules = {classes, next, starts, widths, patterns, least};
  auto use_all = [&](const kiln_string &text, const auto &use) {
    if (between)
      rules.split_tokens(text, 0, use);
    else
      rules.find_tokens(text, use);
  };
  int64_t length = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t found = 0;
    use_all(in[i], [&](const kiln_string &) { ++found; });
    length = found > length ? found : length;
  }
  if (length > 0 && marks)
    length += 2;
  if (length > capacity) {
    fail(status, KILN_STATUS_STRING_ROOM_TOO_SMALL);
    length = capacity;
  }
  for (int64_t i = 0; i < count && length > 0; ++i) {
    int64_t filled = 0;
    auto put = [&](const kiln_string &text) {
      if (filled < length)
        out[i * length + filled++] = text;
    };
    if (marks)
      put(kiln_string{"\x02", 1});
    use_all(in[i], put);
    if (marks)
      put(kiln_string{"\x03", 1});
    while (filled < length)
      put(padding);
  }
  *longest = length;
}

} // namespace kiln

#endif // KILN_TOKENS_H
