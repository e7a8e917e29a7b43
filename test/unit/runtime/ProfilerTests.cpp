#include "kiln/runtime.h"

#include <gtest/gtest.h>

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

} // namespace
