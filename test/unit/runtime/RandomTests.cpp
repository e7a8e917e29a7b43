#include "Level.h"

#include "kiln/random.h"

#include <vector>

using namespace kiln;

namespace {

class Random : public LevelTest {};

// Numbers of numpy.random.RandomState(7).
TEST_F(Random, UniformNumbersAreThoseOfNumPy) {
  std::vector<double> wide(1003);
  random_uniform(wide.data(), 1003, 7, 0, 1);
  EXPECT_EQ(wide[0], 0x1.388f0a7465c98p-4);
  EXPECT_EQ(wide[1], 0x1.8f5184146a0a7p-1);
  EXPECT_EQ(wide[2], 0x1.c0ee597d36686p-2);
  EXPECT_EQ(wide[1002], 0x1.86e56fe9038b8p-2);
  std::vector<float> narrow(3);
  random_uniform(narrow.data(), 3, 7, -1, 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(narrow[i], -1 + 4 * wide[i], 1e-6);
}

TEST_F(Random, TheLowBitsOfTheSeedCount) {
  double first, second;
  random_uniform(&first, 1, 0xffffffff, 0, 1);
  random_uniform(&second, 1, -1, 0, 1);
  EXPECT_EQ(first, 0x1.8fe69a3924820p-4);
  EXPECT_EQ(second, first);
}

TEST_F(Random, NormalNumbersAreThoseOfNumPy) {
  std::vector<double> numbers(5001);
  random_normal(numbers.data(), 5001, 7, 0, 1);
  const double expected[] = {1.690525703800356, -0.4659373705408328, 0.0328201636785844, 0.40751628299650783};
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(numbers[i], expected[i], 1e-14);
  EXPECT_NEAR(numbers[5000], -0.008957212846241026, 1e-14);
}

} // namespace
