// Foreign text as it stands in messages.
#include "compiler/files/Printable.h"
#include <gtest/gtest.h>

using namespace kiln;

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ(printable("plain text"), "plain text");
  EXPECT_EQ(printable("\x1b[31mred\x1b]0;title\a"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\nb\tc\rd\x7f"), "a\\nb\\x09c\\x0dd\\x7f");
  EXPECT_EQ(printable(llvm::StringRef("a\0b", 3)), "a\\x00b");
  // Controls of eight bits, an override of direction, a character without width.
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\u202egnp"), "\\xe2\\x80\\xaegnp");
  EXPECT_EQ(printable("a\u200bb"), "a\\xe2\\x80\\x8bb");
}

TEST(Printable, KeepsTextOfAllLanguages) {
  for (const char *text : {"gr\u00f6\u00dfe", "\u4e2d\u6587", "\U0001f600", "\u0645\u0631\u062d\u0628\u0627"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesWhatIsNoUTF8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  // Cut off, too long, a surrogate, beyond the last character.
  EXPECT_EQ(printable("\xe4\xb8"), "\\xe4\\xb8");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, IsTheSameTwice) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += char(byte);
  EXPECT_EQ(printable(printable(all)), printable(all));
}

TEST(Printable, CutsLongText) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("\xff\xff", 3), "\\xff...");
}

TEST(Printable, JsonIsAlwaysUTF8) {
  EXPECT_EQ(jsonText("gr\u00f6\u00dfe\x1b"), "gr\u00f6\u00dfe\x1b");
  EXPECT_EQ(jsonText("a\xff"), "a\ufffd");
}
