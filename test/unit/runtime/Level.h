// Tests of code built for a CPU level are skipped on machines below it.
#ifndef KILN_TEST_RUNTIME_LEVEL_H
#define KILN_TEST_RUNTIME_LEVEL_H

#include "kiln/runtime.h"

#include <gtest/gtest.h>

class LevelTest : public testing::Test {
protected:
  void SetUp() override {
    if (KILN_TEST_LEVEL > 1 && kiln_cpu_level() < KILN_TEST_LEVEL)
      GTEST_SKIP() << "this machine is below x86-64-v" << KILN_TEST_LEVEL;
#ifdef __AVX512BF16__
    if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bf16"))
      GTEST_SKIP() << "this machine has no instructions for products of bytes and bf16";
#endif
  }
};

#endif // KILN_TEST_RUNTIME_LEVEL_H
