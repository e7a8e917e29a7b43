#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

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
  std::string fifo = path + "-fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(kiln_weights_map(fifo.c_str(), 1, 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
  unlink(fifo.c_str());
}

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
