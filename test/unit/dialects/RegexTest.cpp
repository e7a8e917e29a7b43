#include "dialects/nn/Regex.h"

#include <gtest/gtest.h>

using namespace kiln::nn;

namespace {

bool matches(llvm::StringRef pattern, llvm::StringRef text) {
  std::string reason;
  auto automaton = compileRegex(pattern, reason);
  EXPECT_TRUE(automaton) << pattern.str() << ": " << reason;
  if (!automaton)
    return false;
  int64_t state = 0;
  for (unsigned char byte : text)
    state = automaton->next[state * automaton->width + automaton->classes[byte]];
  return (automaton->next[state * automaton->width + automaton->width - 1] & 1) != 0;
}

std::string refusal(llvm::StringRef pattern) {
  std::string reason;
  EXPECT_FALSE(compileRegex(pattern, reason)) << pattern.str();
  return reason;
}

TEST(Regex, MatchesWholeStrings) {
  EXPECT_TRUE(matches("abc", "abc"));
  EXPECT_FALSE(matches("abc", "abcd"));
  EXPECT_FALSE(matches("abc", "ab"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("a|bc|", "bc"));
  EXPECT_TRUE(matches("a|bc|", ""));
}

TEST(Regex, Repetitions) {
  for (const char *text : {"", "ab", "abab"})
    EXPECT_TRUE(matches("(ab)*", text)) << text;
  EXPECT_FALSE(matches("(ab)+", ""));
  EXPECT_TRUE(matches("(?:ab)+?", "abab"));
  EXPECT_TRUE(matches("colou?r", "color"));
  EXPECT_FALSE(matches("a{2}", "a"));
  EXPECT_TRUE(matches("a{2}", "aa"));
  EXPECT_TRUE(matches("a{2,}", "aaaa"));
  EXPECT_TRUE(matches("a{0,2}b", "b"));
  EXPECT_FALSE(matches("a{0,2}b", "aaab"));
  EXPECT_TRUE(matches("a{,2}", "a{,2}"));
}

TEST(Regex, Classes) {
  EXPECT_TRUE(matches("[a-c\\]x-]+", "ab]x-"));
  EXPECT_FALSE(matches("[^a-c]", "b"));
  EXPECT_TRUE(matches("[^a-c]", "\u4e2d"));
  EXPECT_TRUE(matches("\\d+\\s\\w\\D\\S\\W", "42 _x.!"));
  EXPECT_TRUE(matches("[\\d.]+", "1.5"));
  EXPECT_TRUE(matches("[]a]+", "]a"));
}

TEST(Regex, CharactersBeyondAscii) {
  EXPECT_TRUE(matches("...", "a\u00e4\U0001f600"));
  EXPECT_FALSE(matches(".", "\n"));
  EXPECT_FALSE(matches(".", "\xff"));
  EXPECT_FALSE(matches("..", "\u4e2d"));
  EXPECT_TRUE(matches("\u00e4+", "\u00e4\u00e4"));
  EXPECT_FALSE(matches("\u00e4+", "\u00e4\xc3"));
}

TEST(Regex, Edges) {
  EXPECT_TRUE(matches("^a$", "a"));
  EXPECT_FALSE(matches("a^b", "ab"));
  EXPECT_TRUE(matches("a\\b\\.\\bcom\\b", "a.com"));
  EXPECT_FALSE(matches("a\\bb", "ab"));
  EXPECT_TRUE(matches("a\\Bb", "ab"));
  EXPECT_TRUE(matches("(\\W|^)\\w+(\\W|$)", "word"));
  EXPECT_FALSE(matches("(\\W|^)\\w+(\\W|$)", "a word"));
}

TEST(Regex, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(refusal("a)"), "a parenthesis is closed that was not opened");
  EXPECT_EQ(refusal("(a"), "a parenthesis is not closed");
  EXPECT_EQ(refusal("[a"), "a bracket is not closed");
  EXPECT_EQ(refusal("*a"), "nothing precedes '*'");
  EXPECT_EQ(refusal("a\\"), "ends in a backslash");
  EXPECT_EQ(refusal("\\pL"), "\\p is not supported");
  EXPECT_EQ(refusal("[b-a]"), "a range in brackets ends before it begins");
  EXPECT_EQ(refusal("[[:alpha:]]"), "named classes ([:alpha:]) are not supported");
  EXPECT_EQ(refusal("[\u00e4]"), "characters beyond ASCII, and letters behind a backslash, are not supported in brackets");
  EXPECT_EQ(refusal("(?i)a"), "groups with flags or names are not supported");
  EXPECT_EQ(refusal("a{2000}"), "a repetition has a bound above 1000, or its bounds are in the wrong order");
  EXPECT_EQ(refusal("((((a{99}){99}){99}){99}){99}"), "the pattern is too large once its repetitions are expanded");
  EXPECT_EQ(refusal("(a|b)*a(a|b){14}"), "the automaton has more than 4000 states");
  EXPECT_EQ(refusal(std::string(200, '(')), "groups are nested too deep");
}

} // namespace
