#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#endif

namespace {

TEST(Cpu, UnknownNamesAreNotSupported) {
  EXPECT_EQ(kiln_cpu_supports("avx4096"), 0);
  EXPECT_EQ(kiln_cpu_supports(""), 0);
  EXPECT_EQ(kiln_cpu_supports(nullptr), 0);
}

#if defined(__x86_64__) && defined(__linux__)

// The kernel's own list, whose names mostly are ours.
std::set<std::string> kernelFlags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("flags", 0) == 0) {
      std::istringstream words(line);
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

TEST(Cpu, AgreesWithTheKernel) {
  std::set<std::string> flags = kernelFlags();
  ASSERT_FALSE(flags.empty());
  const char *const names[] = {"ssse3",    "popcnt",   "movbe",    "avx",         "avx2",        "fma",         "f16c",
                               "bmi1",     "bmi2",     "avx512f",  "avx512bw",    "avx512cd",    "avx512dq",    "avx512vl",
                               "avx_vnni", "amx_tile", "amx_bf16", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8"};
  for (const char *name : names)
    EXPECT_EQ(kiln_cpu_supports(name), int(flags.count(name))) << name;
  EXPECT_EQ(kiln_cpu_supports("sse4.2"), int(flags.count("sse4_2")));
  // Compilers' names and the kernel's.
  EXPECT_EQ(kiln_cpu_supports("avx512vnni"), int(flags.count("avx512_vnni")));
  EXPECT_EQ(kiln_cpu_supports("amx-tile"), int(flags.count("amx_tile")));
  EXPECT_EQ(kiln_cpu_supports("bmi"), int(flags.count("bmi1")));
  EXPECT_EQ(kiln_cpu_supports("avx51"), 0);
  EXPECT_EQ(kiln_cpu_supports("avx2x"), 0);
}

// Some kernels leave "abm" out of their list: the processor is asked.
TEST(Cpu, AgreesWithTheProcessorAboutLzcnt) {
  unsigned a, b, c, d;
  ASSERT_TRUE(__get_cpuid(0x80000001, &a, &b, &c, &d));
  EXPECT_EQ(kiln_cpu_supports("lzcnt"), int(c >> 5 & 1));
}

TEST(Cpu, LevelFollowsTheFeatures) {
  int level = kiln_cpu_level();
  EXPECT_GE(level, 1);
  EXPECT_LE(level, 4);
  if (level >= 3)
    EXPECT_TRUE(kiln_cpu_supports("avx2") && kiln_cpu_supports("fma"));
  EXPECT_EQ(level >= 4, level >= 3 && kiln_cpu_supports("avx512f") && kiln_cpu_supports("avx512bw") &&
                            kiln_cpu_supports("avx512cd") && kiln_cpu_supports("avx512dq") && kiln_cpu_supports("avx512vl"));
}

#endif

} // namespace
