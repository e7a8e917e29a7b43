#include "TestSystem.h"
#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <sys/stat.h>

namespace {

class Weights : public testing::Test {
protected:
  void SetUp() override {
    path = testing::TempDir() + "kiln-weights-" + std::to_string(getpid());
    for (int i = 0; i < 1000; ++i)
      bytes.push_back(char(i * 7));
    FILE *file = fopen(path.c_str(), "wb");
    ASSERT_TRUE(file);
    ASSERT_EQ(fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    fclose(file);
  }
  void TearDown() override { unlink(path.c_str()); }
  std::string path;
  std::string bytes;
  kiln_weights weights = {};
};

TEST_F(Weights, MapsTheFile) {
  uint64_t checksum = kiln_checksum(bytes.data(), bytes.size());
  ASSERT_EQ(kiln_weights_map(path.c_str(), bytes.size(), checksum, &weights), KILN_STATUS_OK);
  EXPECT_EQ(std::string(static_cast<const char *>(weights.data), weights.size), bytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data) % KILN_ALIGNMENT, 0u);
  kiln_weights_unmap(&weights);
  EXPECT_EQ(weights.data, nullptr);
  kiln_weights_unmap(&weights);
}

TEST_F(Weights, ALargeFileLiesWhereHugePagesCan) {
  constexpr size_t hugePage = size_t(2) << 20, size = 3 * hugePage + 1;
  ASSERT_EQ(truncate(path.c_str(), off_t(size)), 0);
  std::string content = bytes;
  content.resize(size, '\0');
  ASSERT_EQ(kiln_weights_map(path.c_str(), size, kiln_checksum(content.data(), size), &weights), KILN_STATUS_OK);
#if !defined(_WIN32)
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data) % hugePage, 0u);
#endif
  EXPECT_EQ(memcmp(weights.data, content.data(), size), 0);
  kiln_weights_unmap(&weights);
}

TEST_F(Weights, AnEmptyFileIsMappedToNothing) {
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(kiln_weights_map(path.c_str(), 0, 0, &weights), KILN_STATUS_OK);
  EXPECT_EQ(weights.data, nullptr);
}

TEST_F(Weights, RefusesAnotherLengthOrChecksum) {
  EXPECT_EQ(kiln_weights_map(path.c_str(), bytes.size() + 1, 0, &weights), KILN_STATUS_WEIGHTS_MISMATCH);
  EXPECT_EQ(kiln_weights_map(path.c_str(), bytes.size(), 12345, &weights), KILN_STATUS_WEIGHTS_MISMATCH);
  EXPECT_EQ(weights.data, nullptr);
}

TEST_F(Weights, RefusesWhatIsNoFile) {
  EXPECT_EQ(kiln_weights_map((path + "-none").c_str(), 1, 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
  EXPECT_EQ(kiln_weights_map("/", 1, 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
  EXPECT_EQ(kiln_weights_map(nullptr, 1, 0, &weights), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_weights_map(path.c_str(), 1, 0, nullptr), KILN_STATUS_NULL_POINTER);
}

#if defined(_WIN32)
TEST_F(Weights, APathIsUtf8) {
  std::wstring folder(MAX_PATH, L'\0');
  folder.resize(GetTempPathW(MAX_PATH, folder.data()));
  std::wstring name = folder + L"kiln-\u00fc\u6f22\U0001f525-" + std::to_wstring(getpid());
  FILE *file = _wfopen(name.c_str(), L"wb");
  ASSERT_TRUE(file);
  ASSERT_EQ(fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  fclose(file);
  std::string utf8(4 * name.size(), '\0');
  ASSERT_GT(WideCharToMultiByte(CP_UTF8, 0, name.c_str(), -1, utf8.data(), int(utf8.size()), nullptr, nullptr), 0);
  EXPECT_EQ(kiln_weights_map(utf8.c_str(), bytes.size(), kiln_checksum(bytes.data(), bytes.size()), &weights), KILN_STATUS_OK);
  kiln_weights_unmap(&weights);
  EXPECT_EQ(_wunlink(name.c_str()), 0);
  EXPECT_EQ(kiln_weights_map(utf8.c_str(), bytes.size(), 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
  EXPECT_EQ(kiln_weights_map("\xff\xfe", 1, 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
}
#else
TEST_F(Weights, AFifoDoesNotBlock) {
  std::string fifo = path + "-fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(kiln_weights_map(fifo.c_str(), 1, 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
  unlink(fifo.c_str());
}
#endif

TEST_F(Weights, ChecksumSeesEveryBitAndTheLength) {
  uint64_t whole = kiln_checksum(bytes.data(), bytes.size());
  EXPECT_NE(whole, kiln_checksum(bytes.data(), bytes.size() - 1));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = char(damaged[i] ^ (1 << i % 8));
    EXPECT_NE(whole, kiln_checksum(damaged.data(), damaged.size())) << i;
  }
  std::string zeros(64, '\0');
  EXPECT_NE(kiln_checksum(zeros.data(), 32), kiln_checksum(zeros.data(), 64));
  EXPECT_NE(kiln_checksum(zeros.data(), 0), 0u);
}

// Weights files outlive a release: the number may not change.
TEST_F(Weights, ChecksumIsFixed) { EXPECT_EQ(kiln_checksum("kiln", 4), 0xb764bac3b5292c36u); }

} // namespace
