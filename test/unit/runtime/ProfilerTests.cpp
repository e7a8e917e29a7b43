#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

class Profiler : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(kiln_profiler_create(2, &profiler), KILN_STATUS_OK);
    kiln_profiler_attach(profiler, &context);
  }
  void TearDown() override { kiln_profiler_destroy(profiler); }
  void launch(const kiln_kernel_info &kernel, unsigned microseconds = 0) {
    context.on_kernel(context.on_kernel_user, &kernel, KILN_KERNEL_BEGIN);
    usleep(microseconds);
    context.on_kernel(context.on_kernel_user, &kernel, KILN_KERNEL_END);
  }
  static kiln_kernel_info kernel(int32_t index) {
    return {"net", "gemm_0", "fc(Gemm)", "gemm_tiled", index, 3, 4, 1000, 64};
  }
  kiln_profiler *profiler = nullptr;
  kiln_context context = KILN_CONTEXT_INIT;
};

TEST_F(Profiler, AddsUpTheCallsOfALaunch) {
  launch(kernel(0), 2000);
  launch(kernel(1));
  launch(kernel(0), 4000);
  ASSERT_EQ(kiln_profiler_count(profiler), 2);
  kiln_profile_entry entry;
  ASSERT_EQ(kiln_profiler_entry(profiler, 0, &entry), KILN_STATUS_OK);
  EXPECT_STREQ(entry.nodes, "fc(Gemm)");
  EXPECT_EQ(entry.index, 0);
  EXPECT_EQ(entry.calls, 2);
  EXPECT_EQ(entry.flops, 2000);
  EXPECT_EQ(entry.bytes, 128);
  EXPECT_GE(entry.min_ns, 2000000);
  EXPECT_GE(entry.max_ns, 4000000);
  EXPECT_EQ(entry.total_ns, entry.min_ns + entry.max_ns);
}

TEST_F(Profiler, SumsDoNotPass64Bits) {
  kiln_kernel_info large = kernel(0);
  large.flops = INT64_MAX - 10;
  for (int i = 0; i < 3; ++i)
    launch(large);
  kiln_profile_entry entry;
  ASSERT_EQ(kiln_profiler_entry(profiler, 0, &entry), KILN_STATUS_OK);
  EXPECT_EQ(entry.flops, INT64_MAX);
  EXPECT_EQ(entry.bytes, 3 * 64);
}

TEST_F(Profiler, CountsWhatFindsNoRoom) {
  for (int32_t index : {0, 1, 2, 2})
    launch(kernel(index));
  EXPECT_EQ(kiln_profiler_count(profiler), 2);
  EXPECT_EQ(kiln_profiler_dropped(profiler), 2);
}

TEST_F(Profiler, ResetForgetsEverything) {
  launch(kernel(0));
  kiln_profiler_reset(profiler);
  EXPECT_EQ(kiln_profiler_count(profiler), 0);
  kiln_profile_entry entry;
  EXPECT_EQ(kiln_profiler_entry(profiler, 0, &entry), KILN_STATUS_INVALID_ARGUMENT);
  launch(kernel(1));
  ASSERT_EQ(kiln_profiler_entry(profiler, 0, &entry), KILN_STATUS_OK);
  EXPECT_EQ(entry.calls, 1);
  EXPECT_EQ(entry.index, 1);
}

TEST_F(Profiler, RefusesBadArguments) {
  kiln_profile_entry entry;
  EXPECT_EQ(kiln_profiler_entry(profiler, -1, &entry), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_profiler_entry(nullptr, 0, &entry), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_profiler_create(1, nullptr), KILN_STATUS_NULL_POINTER);
  kiln_profiler *none = profiler;
  EXPECT_EQ(kiln_profiler_create(0, &none), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  kiln_profiler_destroy(nullptr);
  kiln_profiler_reset(nullptr);
  kiln_context context = KILN_CONTEXT_INIT;
  kiln_profiler_attach(nullptr, &context);
  EXPECT_EQ(context.on_kernel, nullptr);
  kiln_profiler_attach(profiler, nullptr);
}

/// A file of the test's own.
std::string makePath() { return testing::TempDir() + "kiln-trace-" + std::to_string(getpid()) + ".json"; }

std::string readText(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

size_t countText(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_F(Profiler, WritesATraceOfLaunchesAndThreads) {
  kiln_pool *pool = nullptr;
  ASSERT_EQ(kiln_pool_create(2, &pool), KILN_STATUS_OK);
  kiln_context threads;
  kiln_pool_context(pool, &threads);
  kiln_parallel_for original = threads.parallel_for;
  ASSERT_EQ(kiln_profiler_record(profiler, 1000), KILN_STATUS_OK);
  kiln_profiler_attach(profiler, &threads);
  EXPECT_NE(threads.parallel_for, original);
  kiln_profiler_attach(profiler, &threads); // does not record itself
  kiln_kernel_info info = kernel(0);
  info.nodes = "odd \"\\\n name";
  // Each of the two threads waits until the other has a task.
  std::atomic<int> running = 0;
  auto meet = [](void *arg, int64_t begin, int64_t end) {
    auto &count = *static_cast<std::atomic<int> *>(arg);
    for (; begin < end; ++begin)
      for (++count; count < 2;) {
      }
  };
  threads.on_kernel(threads.on_kernel_user, &info, KILN_KERNEL_BEGIN);
  threads.parallel_for(threads.parallel_user, 2, meet, &running);
  threads.on_kernel(threads.on_kernel_user, &info, KILN_KERNEL_END);
  EXPECT_EQ(kiln_profiler_events(profiler), 3);
  std::string path = makePath();
  ASSERT_EQ(kiln_profiler_write_trace(profiler, path.c_str()), KILN_STATUS_OK);
  std::string text = readText(path);
  unlink(path.c_str());
  EXPECT_EQ(countText(text, "\"cat\":\"launch\""), 1u) << text;
  EXPECT_EQ(countText(text, "\"cat\":\"tasks\""), 2u) << text;
  EXPECT_EQ(countText(text, "\"name\":\"odd \\u0022\\u005c\\u000a name\""), 3u) << text;
  EXPECT_NE(text.find("\"name\":\"caller 0\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"name\":\"worker 1\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"tasks\":4,\"flops\":1000,\"bytes\":64"), std::string::npos) << text;
  EXPECT_NE(text.find("\"dropped_events\":0"), std::string::npos) << text;
  kiln_pool_destroy(pool);
}

TEST_F(Profiler, CountsEventsWithoutRoom) {
  ASSERT_EQ(kiln_profiler_record(profiler, 2), KILN_STATUS_OK);
  for (int i = 0; i < 3; ++i)
    launch(kernel(i));
  EXPECT_EQ(kiln_profiler_events(profiler), 2);
  std::string path = makePath();
  ASSERT_EQ(kiln_profiler_write_trace(profiler, path.c_str()), KILN_STATUS_OK);
  EXPECT_NE(readText(path).find("\"dropped_events\":1"), std::string::npos);
  unlink(path.c_str());
  kiln_profiler_reset(profiler);
  EXPECT_EQ(kiln_profiler_events(profiler), 0);
  EXPECT_EQ(kiln_profiler_write_trace(profiler, path.c_str()), KILN_STATUS_INVALID_ARGUMENT);
}

TEST_F(Profiler, RefusesBadTraces) {
  EXPECT_EQ(kiln_profiler_record(nullptr, 1), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_profiler_record(profiler, -1), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_profiler_events(nullptr), 0);
  ASSERT_EQ(kiln_profiler_record(profiler, 4), KILN_STATUS_OK);
  launch(kernel(0));
  EXPECT_EQ(kiln_profiler_write_trace(nullptr, "x"), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_profiler_write_trace(profiler, nullptr), KILN_STATUS_NULL_POINTER);
  EXPECT_EQ(kiln_profiler_write_trace(profiler, "/nonexistent/folder/trace.json"), KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_profiler_write_trace(profiler, "/dev/full"), KILN_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(kiln_profiler_record(profiler, 0), KILN_STATUS_OK);
  launch(kernel(0));
  EXPECT_EQ(kiln_profiler_events(profiler), 0);
}

} // namespace
