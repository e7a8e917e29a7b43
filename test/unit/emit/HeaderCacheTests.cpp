//===- HeaderCacheTests.cpp ----------------------------------------------===//
#include "compiler/emit/HeaderCache.h"

#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

class HeaderCacheTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kiln-headers", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  static std::string objectOf(llvm::Expected<llvm::SmallVector<char, 0>> made) {
    if (!made)
      return "error: " + llvm::toString(made.takeError());
    return std::string(made->begin(), made->end());
  }

  llvm::SmallString<128> folder;
  const SourceFile unit{"sum.cpp", "// A sum.\n#include \"own.h\"\n\n#include \"kiln/vector.h\"\nint sum() { return int(sizeof(kiln::f32x8)) + OWN; }\n"};
  const std::vector<SourceFile> headers = {{"own.h", "#ifndef OWN\n#define OWN 2\n#include \"kiln/entry.h\"\n#endif\n"}};
};

TEST_F(HeaderCacheTest, ListsTheIncludesWithWhichAUnitBegins) {
  EXPECT_EQ(listKernelHeaders(unit, headers), "#include \"kiln/entry.h\"\n#include \"kiln/vector.h\"\n");
  EXPECT_EQ(listKernelHeaders({"a.cpp", "#define HALF 1\n#include \"kiln/half.h\"\n"}, {}), "");
  EXPECT_EQ(listKernelHeaders({"a.cpp", "#include \"kiln/half.h\"\nint a;\n#include \"kiln/math.h\"\n"}, {}), "#include \"kiln/half.h\"\n");
  EXPECT_EQ(listKernelHeaders({"a.cpp", "#include \"other.h\"\n#include <stdint.h>\n#include \"kiln/half.h\"\n"}, {}), "");
}

TEST_F(HeaderCacheTest, ObjectsAreTheSame) {
  std::string expected = objectOf(compileInProcess(unit, headers, {}));
  ASSERT_EQ(expected.find("error"), std::string::npos);
  for (int turn = 0; turn < 2; ++turn) {
    HeaderCache cache(folder, 1 << 20);
    EXPECT_EQ(objectOf(cache.compile(unit, headers, {}, "1")), expected);
    EXPECT_TRUE(cache.find(HeaderCache::makeKey(listKernelHeaders(unit, headers), {}, "1"), ""));
  }
}

TEST_F(HeaderCacheTest, WhatIsNoAstIsPassedOver) {
  std::string expected = objectOf(compileInProcess(unit, headers, {})), includes = listKernelHeaders(unit, headers);
  auto whole = precompileHeaders(includes, {}), others = precompileHeaders("#include \"kiln/half.h\"\n", {});
  ASSERT_TRUE(whole && others);
  PrecompiledHeaders noise{includes, llvm::SmallVector<char, 0>(5000, 'x')}, half{includes, whole->ast};
  half.ast.resize(whole->ast.size() / 8 * 4);
  for (const PrecompiledHeaders &bad : {noise, half, *others}) {
    HeaderCache cache(folder, 1 << 20);
    cache.insert(HeaderCache::makeKey(includes, {}, "1"), bad);
    EXPECT_EQ(objectOf(cache.compile(unit, headers, {}, "1")), expected);
  }
}

TEST_F(HeaderCacheTest, AUnitAtFaultSaysSo) {
  HeaderCache cache(folder, 1 << 20);
  std::string text = objectOf(cache.compile({"bad.cpp", "#include \"kiln/entry.h\"\nint bad() { return missing; }\n"}, {}, {}, "1"));
  EXPECT_NE(text.find("bad.cpp:2:20: error: use of undeclared identifier 'missing'"), std::string::npos) << text;
}

} // namespace
