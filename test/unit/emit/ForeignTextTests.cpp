//===- ForeignTextTests.cpp - Text of a model in the languages of the output //
#include "compiler/emit/BuildText.h"
#include "compiler/emit/Identifiers.h"
#include "dialects/kernel/Names.h"

#include "llvm/Support/Error.h"
#include <gtest/gtest.h>

using namespace kiln;
using llvm::StringRef;

namespace {

TEST(ForeignText, CommentsEndWhereTheyDid) {
  EXPECT_EQ(makeCommentText("Conv_0(Conv)"), "Conv_0(Conv)");
  EXPECT_EQ(makeCommentText("a*/b"), "a* /b");
  EXPECT_EQ(makeCommentText("a/*b"), "a/ *b");
  EXPECT_EQ(makeCommentText("a//b"), "a/ /b");
  EXPECT_EQ(makeCommentText("a\\"), "a?");
  // No three characters are a trigraph, wherever they come from.
  for (StringRef text : {"\?\?/", "\?\?\?/", "\n\n/", "\\\\/", "\?\n/", "\n\?/", "\t\x7f/"})
    EXPECT_EQ(makeCommentText(text).find("\?\?"), std::string::npos) << makeCommentText(text);
}

TEST(ForeignText, LiteralsHoldAnyByte) {
  EXPECT_EQ(makeStringLiteral("a\"b\\c\n\?\x80"), "\"a\\\"b\\\\c\\012\\077\\200\"");
  EXPECT_EQ(makeStringLiteral(StringRef("\0007", 2)), "\"\\0007\"");
}

TEST(ForeignText, NamesThatMacrosAndKeywordsHave) {
  EXPECT_EQ(makeIdentifier("asm"), "asm_");
  EXPECT_EQ(makeIdentifier("INT8_MAX"), "INT8_MAX_");
  EXPECT_EQ(makeIdentifier("UINT_FAST16_MAX"), "UINT_FAST16_MAX_");
  EXPECT_EQ(makeIdentifier("SIZE_MAX"), "SIZE_MAX_");
  EXPECT_EQ(makeIdentifier("INT64_C"), "INT64_C_");
  EXPECT_EQ(makeIdentifier("KILN_ALIGNMENT"), "KILN_ALIGNMENT_");
  EXPECT_EQ(makeIdentifier("INTO_MAX"), "INTO_MAX");
  EXPECT_EQ(makeIdentifier("__asm__"), "asm_");
  for (StringRef name : {"__asm__", "_Pragma", "asm", "main", "", "1f", "f()", "a b", "a\nb", "KILN_KERNEL", "\xc3\xbc"})
    EXPECT_FALSE(kernel::isFunctionName(name)) << name.str();
  for (StringRef name : {"acme_gate", "_f", "f2", "kiln_onednn_conv"})
    EXPECT_TRUE(kernel::isFunctionName(name)) << name.str();
}

TEST(ForeignText, NamesThatStayAreNames) {
  EXPECT_EQ(takeName("KILN_STATUS_OK"), "KILN_STATUS_OK");
  EXPECT_EQ(takeName("kiln::string_find"), "kiln::string_find");
  EXPECT_EQ(takeName("kiln::fourier_rows<16>"), "kiln::fourier_rows<16>");
  for (StringRef text : {"0; } __asm__(\"\"); {", "f(", "kiln::f()", "a:b", "::", "a\nb", "", "*/"})
    EXPECT_TRUE(kernel::isIdentifier(takeName(text))) << takeName(text);
  EXPECT_EQ(takeHeader("onednn"), "kiln/onednn.h");
  EXPECT_EQ(takeHeader("\"\n#include \"/etc/passwd"), "include_etc_passwd.h");
}

TEST(ForeignText, StatusesAreThoseOfTheAbi) {
  EXPECT_TRUE(kernel::isFailureStatus("KILN_STATUS_INVALID_ARGUMENT"));
  EXPECT_TRUE(kernel::isFailureStatus("KILN_STATUS_IMAGE_TOO_LARGE"));
  for (StringRef name : {"KILN_STATUS_OK", "KILN_STATUS_", "", "KILN_STATUS_OTHER", "kiln_status", "KILN_STATUS_NULL_POINTER "})
    EXPECT_FALSE(kernel::isFailureStatus(name)) << name.str();
}

TEST(ForeignText, BuildsSeeWords) {
  EXPECT_EQ(makeCMakeWord("-march=x86-64-v3"), "-march=x86-64-v3");
  EXPECT_EQ(makeCMakeWord("a\")\nexecute_process(COMMAND id)\n#${X};@Y@\\"), "a___execute_process_COMMAND_id_____X___Y__");
  EXPECT_EQ(makePkgConfigWord("onednn\nLibs: ${x}"), "onednn_Libs____x_");
  EXPECT_EQ(makeAssemblerName("a\\n.incbin \"x\""), "a_n_incbin_x");
  EXPECT_EQ(makeCompilerOption("-m", "avx2 -fplugin=x"), "-mavx2_-fplugin_x");
}

TEST(ForeignText, DepfilesSeeFiles) {
  auto path = [](StringRef text) { return llvm::cantFail(makeDepfilePath(text)); };
  EXPECT_EQ(path("a/b.onnx"), "a/b.onnx");
  EXPECT_EQ(path("a b#c$d:e"), "a\\ b\\#c$$d\\:e");
  EXPECT_EQ(path("a\\b\\\\ c"), "a\\b\\\\\\\\\\ c");
  EXPECT_EQ(path("a\\"), "a\\\\");
  auto fault = [](StringRef text) {
    auto refused = makeDepfilePath(text);
    return refused ? "" : toString(refused.takeError());
  };
  for (StringRef text : {"a\nb", "a\tb", "\x7f", "a\rb", "a;\n"})
    EXPECT_NE(fault(text).find("', which has control characters"), std::string::npos) << fault(text);
  EXPECT_EQ(fault("a;b"), "a depfile cannot hold the path 'a;b', which has ';'");
  EXPECT_EQ(fault("a|b"), "a depfile cannot hold the path 'a|b', which has '|'");
}

} // namespace
