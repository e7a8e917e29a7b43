#include "TestSystem.h"
#include "kiln/choice.h"
#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <thread>

namespace {

constexpr kiln::cpu::set have = 1, never = kiln::cpu::set(1) << 63;
const kiln::target_row rows[3] = {{"future", never}, {"plain", 1}, {"other", 0}};

TEST(Choice, TheFirstThatTheCpuCanRun) {
  EXPECT_EQ(kiln::find_target(rows, 3, have, nullptr), 1);
  EXPECT_EQ(kiln::find_target(rows, 3, 0, nullptr), 2);
  EXPECT_EQ(kiln::find_target(rows, 3, never, nullptr), 0);
  EXPECT_EQ(kiln::find_target(rows, 1, have, nullptr), -1);
}

TEST(Choice, ANameDecides) {
  EXPECT_EQ(kiln::find_target(rows, 3, have, "other"), 2);
  EXPECT_EQ(kiln::find_target(rows, 3, have, "future"), -1);
  for (const char *meantForAnother : {"othe", "others", "", "x86-64-v3"})
    EXPECT_EQ(kiln::find_target(rows, 3, have, meantForAnother), 1) << meantForAnother;
}

TEST(Choice, TilesAreAskedForWhereATargetNeedsThem) {
  namespace cpu = kiln::cpu;
  const kiln::target_row mine[3] = {{"tiles", cpu::with(cpu::avx2, cpu::amx_tile, cpu::amx_int8)}, {"vectors", cpu::with(cpu::avx2)}, {"other", 0}};
  const cpu::set all = ~cpu::set(0);
  int asked = 0;
  const auto find = [&](int32_t first, int32_t count, cpu::set have, const char *named, bool grants) {
    return kiln::find_granted_target(mine + first, count, have, named, [&] { return ++asked, grants; });
  };
  EXPECT_EQ(find(0, 3, all, nullptr, true), 0);
  EXPECT_EQ(find(0, 3, all, nullptr, false), 1);
  EXPECT_EQ(find(0, 1, all, nullptr, false), kiln::tiles_refused);
  EXPECT_EQ(find(0, 3, all, "tiles", false), kiln::tiles_refused);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(find(1, 2, all, nullptr, true), 0);
  EXPECT_EQ(find(0, 3, all, "vectors", true), 1);
  EXPECT_EQ(find(0, 3, cpu::with(cpu::avx2), nullptr, true), 1);
  EXPECT_EQ(find(0, 3, 0, nullptr, true), 2);
  EXPECT_EQ(asked, 4);
  if (!(cpu::read() & cpu::with(cpu::amx_tile))) {
    EXPECT_FALSE(cpu::ask_for_tiles());
  }
}

TEST(Choice, ARefusalOfTilesDoesNotStay) {
  int32_t kept = 0;
  EXPECT_EQ(kiln::keep_target(kiln::tiles_refused, &kept), kiln::tiles_refused);
  EXPECT_EQ(kiln::keep_target(0, &kept), 0);
  EXPECT_EQ(kiln::keep_target(-1, &kept), 0);
}

TEST(Choice, OnceInAProcess) {
  const kiln::target_row mine[2] = {{"first", 0}, {"second", 0}};
  kiln_test::unsetVariable("KILN_TARGET");
  int32_t kept = 0, none = 0;
  EXPECT_EQ(kiln::choose_target(mine, 2, &kept), 0);
  EXPECT_EQ(kiln::choose_target(rows, 1, &none), -1);
  kiln_test::setVariable("KILN_TARGET", "second");
  EXPECT_EQ(kiln::choose_target(mine, 2, &kept), 0);
  EXPECT_EQ(kiln::choose_target(rows, 1, &none), -1);
  int32_t other = 0;
  EXPECT_EQ(kiln::choose_target(mine, 2, &other), 1);
  kiln_test::unsetVariable("KILN_TARGET");
}

#if defined(__x86_64__)
TEST(Choice, TheEnvironmentTakesFeaturesAway) {
  namespace cpu = kiln::cpu;
  const cpu::set all = cpu::with(cpu::avx, cpu::avx2, cpu::avx512f, cpu::avx512vnni, cpu::amx_tile, cpu::sse4_1);
  EXPECT_EQ(cpu::without(all, nullptr), all);
  for (const char *nothing : {"", ",", ",,", "_", "-,.", "avx512x", "AVX2", "sve", "avx5123,x"})
    EXPECT_EQ(cpu::without(all, nothing), all) << nothing;
  EXPECT_EQ(cpu::without(all, "avx2"), all & ~cpu::with(cpu::avx2));
  EXPECT_EQ(cpu::without(all, "avx512"), all & ~cpu::with(cpu::avx512f, cpu::avx512vnni));
  EXPECT_EQ(cpu::without(all, "avx"), cpu::with(cpu::amx_tile, cpu::sse4_1));
  EXPECT_EQ(cpu::without(all, "x,avx512_vnni,,amx_tile,sse41"), cpu::with(cpu::avx, cpu::avx2, cpu::avx512f));
  EXPECT_EQ(cpu::without(all, "amx_fp16"), all);
  EXPECT_EQ(cpu::without(0, "avx"), cpu::set(0));
  // The machine's own features, and never more than them.
  const kiln::target_row mine[2] = {{"some", cpu::with(cpu::sse3)}, {"none", 0}};
  kiln_test::unsetVariable("KILN_TARGET");
  kiln_test::setVariable("KILN_CPU_WITHOUT", "sse3");
  int32_t several = 0, one = 0;
  EXPECT_EQ(kiln::read_features(), cpu::read() & ~cpu::with(cpu::sse3));
  EXPECT_EQ(kiln::choose_target(mine, 2, &several), 1);
  EXPECT_EQ(kiln::check_target(mine[0], &one), 0);
  kiln_test::unsetVariable("KILN_CPU_WITHOUT");
  EXPECT_EQ(kiln::read_features(), cpu::read());
}
#endif

TEST(Choice, OneTargetIsCheckedOnce) {
  kiln_test::setVariable("KILN_TARGET", "other");
  int32_t kept = 0, none = 0;
  EXPECT_EQ(kiln::check_target({"plain", 0}, &kept), 0);
  EXPECT_EQ(kiln::check_target({"future", never}, &none), -1);
  // What was found stays.
  EXPECT_EQ(kiln::check_target({"future", never}, &kept), 0);
  EXPECT_EQ(kiln::check_target({"plain", 0}, &none), -1);
  kiln_test::unsetVariable("KILN_TARGET");
}

TEST(Choice, ThreadsThatAreFirstAtOnceAgree) {
  for (int round = 0; round < 200; ++round) {
    int32_t kept = 0, found[4] = {};
    std::thread threads[4];
    for (int i = 0; i < 4; ++i)
      threads[i] = std::thread([&, i] { found[i] = kiln::check_target({"future", never}, &kept); });
    for (std::thread &thread : threads)
      thread.join();
    for (int32_t each : found)
      EXPECT_EQ(each, -1);
    EXPECT_EQ(kept, 1);
  }
}

TEST(CpuSet, KnowsOtherArchitectures) {
  namespace cpu = kiln::cpu;
  EXPECT_STREQ(cpu::aarch64_feature_names[cpu::dotprod], "dotprod");
  EXPECT_STREQ(cpu::aarch64_driver_names[cpu::fullfp16], "fp16");
  EXPECT_STREQ(cpu::aarch64_feature_names[cpu::sve2048], "sve2048");
  EXPECT_STREQ(cpu::riscv64_feature_names[cpu::zvl256b], "zvl256b");
  EXPECT_EQ(sizeof(cpu::aarch64_feature_names) / sizeof(char *), size_t(cpu::num_aarch64_features));
  EXPECT_EQ(sizeof(cpu::riscv64_feature_names) / sizeof(char *), size_t(cpu::num_riscv64_features));
}

#if defined(__x86_64__)
TEST(CpuSet, HasANameForEachFeature) {
  for (int i = 0; i < kiln::cpu::num_features; ++i)
    EXPECT_STRNE(kiln::cpu::feature_names[i], "");
  EXPECT_STREQ(kiln::cpu::feature_names[kiln::cpu::sse4_1], "sse4.1");
  EXPECT_STREQ(kiln::cpu::feature_names[kiln::cpu::avx512vnni], "avx512vnni");
  EXPECT_STREQ(kiln::cpu::feature_names[kiln::cpu::amx_int8], "amx-int8");
}

TEST(CpuSet, HasWhatTheRuntimeSays) {
  namespace cpu = kiln::cpu;
  const cpu::set all = cpu::read();
  EXPECT_EQ((all & cpu::with(cpu::avx2)) != 0, kiln_cpu_supports("avx2") != 0);
  EXPECT_EQ((all & cpu::with(cpu::avx512f)) != 0, kiln_cpu_supports("avx512f") != 0);
  EXPECT_EQ(cpu::with(), cpu::set(0));
  EXPECT_EQ(cpu::with(cpu::sse3, cpu::sse4_1), cpu::set(5));
}
#endif

} // namespace
