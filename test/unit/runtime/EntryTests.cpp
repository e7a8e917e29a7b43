#include "kiln/entry.h"

#include "kiln/math/bounds.h"
#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

using namespace kiln;

namespace {

using Parts = std::vector<std::pair<int64_t, int64_t>>;

void note(void *parts, int64_t begin, int64_t end) { static_cast<Parts *>(parts)->push_back({begin, end}); }

/// A context that gives each task a part of its own.
void runOneByOne(void *, int64_t tasks, kiln_task task, void *argument) {
  for (int64_t i = 0; i < tasks; ++i)
    task(argument, i, i + 1);
}

class Entry : public testing::Test {
protected:
  Entry() {
    context = KILN_CONTEXT_INIT;
    context.parallel_for = runOneByOne;
    context.num_threads = 3;
  }
  Parts launched(const kiln_context *with, int64_t tasks, bool parallel) {
    Parts parts;
    kiln_kernel_info kernel = {};
    kernel.model = "m";
    kernel.name = "k";
    launch(with, kernel, note, &parts, tasks, parallel);
    return parts;
  }
  kiln_context context;
};

TEST_F(Entry, TheFirstFaultStays) {
  int32_t status = KILN_STATUS_OK;
  report(&status, KILN_STATUS_OK);
  EXPECT_EQ(status, KILN_STATUS_OK);
  report(&status, KILN_STATUS_NULL_POINTER);
  report(&status, KILN_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(status, KILN_STATUS_NULL_POINTER);
}

TEST_F(Entry, CountsTheThreadsThatMayRun) {
  EXPECT_EQ(count_threads(nullptr), 1);
  EXPECT_EQ(count_threads(&context), 3);
  context.num_threads = 0;
  EXPECT_EQ(count_threads(&context), 1);
  context.num_threads = 3;
  context.parallel_for = nullptr;
  EXPECT_EQ(count_threads(&context), 1);
}

TEST_F(Entry, RefusesAContextOfAnotherKind) {
  EXPECT_EQ(check_context(nullptr), KILN_STATUS_OK);
  EXPECT_EQ(check_context(&context), KILN_STATUS_OK);
  context.abi_version += 1;
  EXPECT_EQ(check_context(&context), KILN_STATUS_ABI_MISMATCH);
  context = KILN_CONTEXT_INIT;
  context.struct_size = 8;
  EXPECT_EQ(check_context(&context), KILN_STATUS_ABI_MISMATCH);
}

TEST_F(Entry, LaunchSplitsWhatMayBeSplit) {
  EXPECT_EQ(launched(&context, 0, true), Parts());
  EXPECT_EQ(launched(nullptr, 2, true), Parts({{0, 2}}));
  EXPECT_EQ(launched(&context, 2, false), Parts({{0, 2}}));
  EXPECT_EQ(launched(&context, 1, true), Parts({{0, 1}}));
  EXPECT_EQ(launched(&context, 2, true), Parts({{0, 1}, {1, 2}}));
}

TEST_F(Entry, ASharedLaunchDoesTheSame) {
  Parts parts;
  kiln_kernel_info kernel = {};
  launch_shared(&context, kernel, note, &parts, 2, true);
  launch_shared(nullptr, kernel, note, &parts, 3, true);
  EXPECT_EQ(parts, Parts({{0, 1}, {1, 2}, {0, 3}}));
}

TEST(Pointers, OneThatIsNullIsFound) {
  const int number = 0;
  struct {
    const int *first;
    const float *second;
    void *third;
  } pointers = {&number, nullptr, nullptr};
  EXPECT_FALSE(has_null(&pointers, 0));
  EXPECT_FALSE(has_null(&pointers, 1));
  EXPECT_TRUE(has_null(&pointers, 2));
  EXPECT_TRUE(has_null(&pointers, 3));
}

TEST_F(Entry, WorkIsCountedForAProfilerAlone) {
  static int counts = 0;
  kiln_kernel_info kernel = {};
  Parts parts;
  static const void *const expected = &parts;
  work_counter count = [](const void *argument, kiln_kernel_info &info) {
    EXPECT_EQ(argument, expected);
    info.flops = 5 + counts++;
  };
  launch(&context, kernel, note, &parts, 2, true, count);
  EXPECT_EQ(counts, 0);
  int64_t flops = 0;
  context.on_kernel_user = &flops;
  context.on_kernel = [](void *user, const kiln_kernel_info *info, kiln_kernel_phase) { *static_cast<int64_t *>(user) += info->flops; };
  launch(&context, kernel, note, &parts, 2, true, count);
  EXPECT_EQ(counts, 1);
  EXPECT_EQ(flops, 10);
  launch_shared(&context, kernel, note, &parts, 2, true, count);
  EXPECT_EQ(counts, 2);
  EXPECT_EQ(flops, 22);
}

TEST_F(Entry, WorkHasNoOverflow) {
  EXPECT_EQ(count_work(0x1p62 * 4), INT64_MAX);
  EXPECT_EQ(count_work(-3), 0);
  EXPECT_EQ(count_work(__builtin_nan("")), 0);
  EXPECT_EQ(count_work(1e15), 1000000000000000);
  EXPECT_EQ(work_quotient(-7, 2), -4);
  EXPECT_EQ(work_quotient(7, 0), 7);
  EXPECT_EQ(work_remainder(-7, 4), 1);
  EXPECT_EQ(work_above_zero(-2), 0);
  EXPECT_EQ(work_above_zero(2), 2);
}

TEST_F(Entry, LaunchTellsTheProfiler) {
  kiln_profiler *profiler = nullptr;
  ASSERT_EQ(kiln_profiler_create(2, &profiler), KILN_STATUS_OK);
  kiln_profiler_attach(profiler, &context);
  launched(&context, 4, true);
  kiln_profile_entry entry = {};
  ASSERT_EQ(kiln_profiler_entry(profiler, 0, &entry), KILN_STATUS_OK);
  EXPECT_EQ(entry.calls, 1);
  kiln_profiler_destroy(profiler);
}

TEST(MathBounds, AreFoundByName) {
  for (const MathBound &bound : mathBounds)
    EXPECT_EQ(ulpBound(bound.function), bound.ulp);
  EXPECT_EQ(ulpBound("ex"), 0);
  EXPECT_EQ(ulpBound("sinh"), 0);
}

TEST(Sizes, WhatIsNoneIsTheLargest) {
  EXPECT_EQ(as_size(0), size_t(0));
  EXPECT_EQ(as_size(int64_t(1) << 40), size_t(int64_t(1) << 40));
  EXPECT_EQ(as_size(INT64_MAX), size_t(INT64_MAX));
  EXPECT_EQ(as_size(-1), SIZE_MAX);
  EXPECT_EQ(as_size(INT64_MIN), SIZE_MAX);
}

TEST(Work, QuotientsAreRoundedDown) {
  EXPECT_EQ(work_quotient(7, 2), 3);
  EXPECT_EQ(work_quotient(-7, 2), -4);
  EXPECT_EQ(work_quotient(8, 2), 4);
  EXPECT_EQ(work_quotient(5, 0), 5);
  EXPECT_EQ(work_quotient(1e300, 3), 1e300 / 3);
  EXPECT_EQ(whole_part(0.75), 0);
  EXPECT_EQ(whole_part(-0.25), -1);
  EXPECT_EQ(whole_part(4503599627370495.5), 4503599627370495.0);
}

} // namespace
