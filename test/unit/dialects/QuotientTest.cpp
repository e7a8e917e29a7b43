#include "dialects/kernel/Quotient.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using kiln::kernel::isDividedByProduct;

namespace {

TEST(Quotient, OrdinaryScales) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round)
    EXPECT_TRUE(isDividedByProduct(std::ldexp(1.0f + static_cast<float>(random() % 8388608) / 8388608, static_cast<int>(random() % 60) - 30), 8));
  EXPECT_TRUE(isDividedByProduct(0x1.fffffep-3f, 16));
  EXPECT_TRUE(isDividedByProduct(1.0f, 16));
}

TEST(Quotient, NumbersWithoutANormalInverse) {
  for (float divisor : {0.0f, -0.5f, 1e-40f, 1e-30f, 1e38f, INFINITY, NAN})
    EXPECT_FALSE(isDividedByProduct(divisor, 8)) << divisor;
}

} // namespace
