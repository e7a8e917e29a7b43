#include "Level.h"

#include "kiln/strings.h"
#include "kiln/tokens.h"

#include <string>
#include <vector>

using namespace kiln;

namespace {

class Strings : public LevelTest {};

kiln_string view(const char *text) { return {text, int64_t(std::char_traits<char>::length(text))}; }

std::vector<kiln_string> views(std::initializer_list<const char *> texts) {
  std::vector<kiln_string> result;
  for (const char *text : texts)
    result.push_back(view(text));
  return result;
}

std::vector<std::string> texts(const kiln_string *strings, int64_t count) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < count; ++i)
    result.emplace_back(strings[i].data, size_t(strings[i].size));
  return result;
}

using Texts = std::vector<std::string>;

TEST_F(Strings, CompareByBytes) {
  EXPECT_EQ(compare_strings(view("a"), view("a")), 0);
  EXPECT_EQ(compare_strings(view("a"), view("ab")), -1);
  EXPECT_EQ(compare_strings(view("b"), view("ab")), 1);
  EXPECT_EQ(compare_strings(view("z"), view("\xc3\xa4")), -1);
  EXPECT_EQ(compare_strings(view(""), {nullptr, 0}), 0);
}

/// Slots of which all but one are taken, so that searches go round the end.
std::vector<int32_t> fillSlots(const std::vector<kiln_string> &keys, bool caseSensitive) {
  std::vector<int32_t> slots(4);
  for (size_t key = 0; key < keys.size(); ++key) {
    size_t at = hash_key(keys[key], caseSensitive) % slots.size();
    while (slots[at])
      at = (at + 1) % slots.size();
    slots[at] = int32_t(key) + 1;
  }
  return slots;
}

TEST_F(Strings, FindGivesPlacesOfKeys) {
  auto in = views({"b", "x", "", "ab", "a", "A"}), keys = views({"ab", "b", "a"});
  auto slots = fillSlots(keys, true);
  int64_t found[6];
  string_find(in.data(), found, 0, 6, keys.data(), 3, slots.data(), 4, 9);
  EXPECT_EQ(std::vector<int64_t>(found, found + 6), (std::vector<int64_t>{1, 9, 9, 0, 2, 9}));
  string_find(in.data(), found, 0, 1, nullptr, 0, nullptr, 0, 7);
  EXPECT_EQ(found[0], 7);
}

TEST_F(Strings, KeysOfAnyCaseHaveOneHash) {
  auto words = views({"\u00c4pfel", "\u00e4PFEL", "\u0401\u4e2d\xff", "\u0451\u4e2d\xff", "a\xc3"});
  EXPECT_EQ(hash_key(words[0], false), hash_key(words[1], false));
  EXPECT_NE(hash_key(words[0], true), hash_key(words[1], true));
  EXPECT_TRUE(equal_keys(words[2], words[3], false));
  EXPECT_EQ(hash_key(words[2], false), hash_key(words[3], false));
  auto slots = fillSlots({words[0], words[2], words[4]}, false);
  const std::vector<kiln_string> keys = {words[0], words[2], words[4]};
  EXPECT_EQ(find_key(words[1], keys.data(), slots.data(), 4, false), 0);
  EXPECT_EQ(find_key(words[3], keys.data(), slots.data(), 4, false), 1);
  EXPECT_EQ(find_key(words[4], keys.data(), slots.data(), 4, false), 2);
}

TEST_F(Strings, ConcatFillsItsRoomAndNoMore) {
  auto a = views({"ab", ""}), b = views({"c", "def"});
  kiln_string out[2];
  uint8_t bytes[6];
  int64_t size;
  int32_t status = KILN_STATUS_OK;
  string_concat(a.data(), b.data(), out, bytes, &size, &status, 2, 4, 1);
  EXPECT_EQ(texts(out, 2), (Texts{"abc", "def"}));
  EXPECT_EQ(size, 6);
  EXPECT_EQ(status, KILN_STATUS_OK);
  string_concat(a.data(), b.data(), out, bytes, &size, &status, 2, 5, 0);
  EXPECT_EQ(texts(out, 2), (Texts{"abc", "de"}));
  EXPECT_EQ(status, KILN_STATUS_STRING_ROOM_TOO_SMALL);
}

TEST_F(Strings, CaseOfLettersOfOneAndTwoBytes) {
  auto in = views({"aZ 9", "\u00e4\u00d7\u00f7\u00df", "\u03c9\u0434\u0451", "\u4e2d\xff\xc3"});
  kiln_string out[4];
  uint8_t bytes[64];
  int64_t size;
  int32_t status = KILN_STATUS_OK;
  string_case(in.data(), out, bytes, &size, &status, 4, 0, 16, true);
  EXPECT_EQ(texts(out, 4), (Texts{"AZ 9", "\u00c4\u00d7\u00f7\u00df", "\u03a9\u0414\u0401", "\u4e2d\xff\xc3"}));
  string_case(out, out, bytes, &size, &status, 0, 64, 0, false);
  auto capitals = views({"\u03a9\u0414\u0401\u00c4"});
  string_case(capitals.data(), out, bytes, &size, &status, 1, 64, 0, false);
  EXPECT_EQ(texts(out, 1), (Texts{"\u03c9\u0434\u0451\u00e4"}));
  EXPECT_EQ(status, KILN_STATUS_OK);
}

TEST_F(Strings, FilterLeavesOneEmptyString) {
  auto in = views({"The", "cat", "the"}), stops = views({"the"});
  kiln_string out[3];
  int64_t kept;
  auto exact = fillSlots(stops, true), any = fillSlots(stops, false);
  string_filter(in.data(), out, &kept, 3, stops.data(), 1, exact.data(), 4, true);
  EXPECT_EQ(texts(out, kept), (Texts{"The", "cat"}));
  string_filter(in.data(), out, &kept, 3, stops.data(), 1, any.data(), 4, false);
  EXPECT_EQ(texts(out, kept), (Texts{"cat"}));
  string_filter(in.data(), out, &kept, 1, stops.data(), 1, any.data(), 4, false);
  EXPECT_EQ(texts(out, kept), (Texts{""}));
}

struct Split {
  Texts parts;
  std::vector<int64_t> counts;
  int32_t status = KILN_STATUS_OK;
};

Split split(std::initializer_list<const char *> in, const char *delimiter, int64_t splits = INT64_MAX, int64_t room = 8) {
  auto strings = views(in);
  std::vector<kiln_string> out(strings.size() * size_t(room));
  Split result;
  result.counts.resize(strings.size());
  int64_t most;
  string_split(strings.data(), out.data(), result.counts.data(), &most, &result.status, int64_t(strings.size()), room, splits, view(delimiter));
  result.parts = texts(out.data(), int64_t(strings.size()) * most);
  return result;
}

// An automaton for one space, by hand: rows of states have the next one for other bytes and for a space, and before which sides the state accepts. The first
// three states are those behind each side.
Texts tokens(std::initializer_list<const char *> in, bool between, int64_t least, bool marks, int64_t room, int64_t &longest, int32_t &status) {
  std::vector<int32_t> classes(256);
  classes[' '] = 1;
  const int32_t next[] = {4, 3, 0, 4, 3, 0, 4, 3, 0, 4, 4, 7, 4, 4, 0}, start = 0, width = 3;
  auto strings = views(in);
  std::vector<kiln_string> out(strings.size() * size_t(room));
  token_rows(strings.data(), out.data(), &longest, &status, int64_t(strings.size()), room, classes.data(), 256, next, 15, &start, 1, &width, 1, between, least, marks,
             view("#"));
  return texts(out.data(), int64_t(strings.size()) * longest);
}

TEST_F(Strings, Tokens) {
  int64_t longest;
  int32_t status = KILN_STATUS_OK;
  EXPECT_EQ(tokens({"ab  c", "\xc3\xa4 "}, true, 1, false, 4, longest, status), (Texts{"ab", "c", "\xc3\xa4", "#"}));
  EXPECT_EQ(tokens({"ab c", "d"}, true, 2, true, 4, longest, status), (Texts{"\x02", "ab", "\x03", "\x02", "\x03", "#"}));
  EXPECT_EQ(tokens({" a  "}, false, 1, false, 4, longest, status), (Texts{" ", " ", " "}));
  EXPECT_EQ(tokens({"", " "}, true, 1, true, 4, longest, status), Texts());
  EXPECT_EQ(longest, 0);
  EXPECT_EQ(status, KILN_STATUS_OK);
  EXPECT_EQ(tokens({"a b c"}, true, 1, false, 2, longest, status), (Texts{"a", "b"}));
  EXPECT_EQ(status, KILN_STATUS_STRING_ROOM_TOO_SMALL);
}

// A letter is a token at the edges of words only: behind a word, the first state leads nowhere, and a match does not end before a word.
TEST_F(Strings, TokensAtTheEdgesOfWords) {
  std::vector<int32_t> classes(256, 1);
  classes['a'] = 0;
  const int32_t next[] = {3, 4, 0, 4, 4, 0, 3, 4, 0, 4, 4, 5, 4, 4, 0}, start = 0, width = 3;
  auto strings = views({"a aa a", "-a-"});
  kiln_string out[8];
  int64_t longest;
  int32_t status = KILN_STATUS_OK;
  token_rows(strings.data(), out, &longest, &status, 2, 4, classes.data(), 256, next, 15, &start, 1, &width, 1, false, 1, false, view("#"));
  EXPECT_EQ(texts(out, 2 * longest), (Texts{"a", "a", "a", "#"}));
}

// As the reference implementation's, which hashes "hello" with seed 0 to 0x248bfa47.
TEST_F(Strings, Hashes) {
  auto in = views({"", "a", "hello", "hello, world"});
  uint32_t out[4];
  string_hash(in.data(), out, 0, 4, 0);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 0x3c2569b2u);
  EXPECT_EQ(out[2], 0x248bfa47u);
  EXPECT_EQ(out[3], 0x149bbb7fu);
}

// As Python's str.split does.
TEST_F(Strings, SplitAtDelimiters) {
  EXPECT_EQ(split({"a.b", "c"}, ".").parts, (Texts{"a", "b", "c", ""}));
  EXPECT_EQ(split({"a.b", "c"}, ".").counts, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(split({".a..", ""}, ".").parts, (Texts{"", "a", "", "", "", "", "", ""}));
  EXPECT_EQ(split({".a..", ""}, ".").counts, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(split({"a::b:c"}, "::").parts, (Texts{"a", "b:c"}));
  EXPECT_EQ(split({"a.b.c"}, ".", 1).parts, (Texts{"a", "b.c"}));
}

TEST_F(Strings, SplitAtWhiteSpace) {
  EXPECT_EQ(split({"  a \t b\n", " "}, "").parts, (Texts{"a", "b", "", ""}));
  EXPECT_EQ(split({"  a \t b\n", " "}, "").counts, (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(split({"a b  c "}, "", 1).parts, (Texts{"a", "b  c "}));
  EXPECT_EQ(split({"a  "}, "", 1).parts, (Texts{"a"}));
}

TEST_F(Strings, SplitStopsAtItsRoom) {
  Split result = split({"a b c", "d"}, "", INT64_MAX, 2);
  EXPECT_EQ(result.status, KILN_STATUS_STRING_ROOM_TOO_SMALL);
  EXPECT_EQ(result.parts, (Texts{"a", "b", "d", ""}));
}

TEST_F(Strings, FillRepeatsTheViews) {
  auto from = views({"a", "", "bc"});
  kiln_string out[3] = {};
  string_fill(out, 3, from.data(), 3);
  EXPECT_EQ(texts(out, 3), (Texts{"a", "", "bc"}));
  EXPECT_EQ(out[2].data, from[2].data);
}

TEST_F(Strings, OrderIsThatOfBytesAndEqualOnesShareIt) {
  auto in = views({"b", "a", "", "b", "ab", "\u00e4"});
  int64_t order[6], places[6];
  string_order(in.data(), order, places, 6);
  EXPECT_EQ(std::vector<int64_t>(order, order + 6), (std::vector<int64_t>{3, 1, 0, 3, 2, 5}));
  EXPECT_EQ(std::vector<int64_t>(places, places + 6), (std::vector<int64_t>{2, 1, 4, 0, 3, 5}));
}

} // namespace
