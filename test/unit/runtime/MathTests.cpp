// Float functions: the largest error over a sample of all floats, the bits of vector lanes, and special values.
#include "Level.h"
#include "Sweep.h"

#include "kiln/math.h"

#include <random>

namespace {

class FloatMath : public LevelTest, public testing::WithParamInterface<const char *> {};

TEST_P(FloatMath, StaysWithinItsBoundAndIsTheSameInEveryWidth) {
  const sweep::Function *function = sweep::find(GetParam());
  ASSERT_TRUE(function);
  sweep::Worst worst = sweep::run(*function, 64 * 11 + 1);
  EXPECT_LE(worst.ulp, function->bound) << "at " << worst.at;
  EXPECT_EQ(worst.widthMismatches, 0u) << "at " << worst.mismatchAt;
}

INSTANTIATE_TEST_SUITE_P(All, FloatMath,
                         testing::Values("exp", "exp_ulp4", "exp_half", "exp2", "expm1", "sigmoid", "log", "log2", "log1p", "tanh", "sinh", "cosh",
                                         "asinh", "acosh", "atanh", "erf", "erfc", "sin", "cos", "tan", "asin", "acos", "atan",
                                         "sqrt", "rsqrt", "floor", "ceil", "trunc", "round", "roundeven", "abs"),
                         [](const auto &info) { return info.param; });

class MathTables : public LevelTest {};

TEST_F(MathTables, EveryFunctionIsTested) { EXPECT_EQ(sweep::numFunctions, 31); }

const float specials[] = {0.0f,  -0.0f, 1.0f,    -1.0f,   0.5f,    -0.5f,     2.0f,     -2.0f,    3.0f,  -3.0f,
                          2.5f,  -2.5f, 1e-45f,  -1e-45f, 1e30f,   -1e30f,    INFINITY, -INFINITY, NAN,  16777216.0f,
                          7.0f, -7.0f, 1e-38f, -1e-38f,  3.4e38f, 8388607.5f, 0.1f,     -0.1f,    100.0f, -100.0f};

// Whether exp_normal gives the bits of exp for all lanes of x, and of -x.
template <typename V> bool isExp(V x) {
  return kiln::all(kiln::bitsOf(kiln::exp_normal(x)) == kiln::bitsOf(kiln::exp(x))) &&
         kiln::all(kiln::bitsOf(kiln::exp_normal(-x)) == kiln::bitsOf(kiln::exp(-x)));
}

class NormalExp : public LevelTest {};

TEST_F(NormalExp, HasTheBitsOfExp) {
  uint32_t last = kiln::bitcast<uint32_t>(87.32f), first = 0;
  for (; first <= last; first += 211) {
    float x = kiln::bitcast<float>(std::min(first, last));
    ASSERT_TRUE(isExp(kiln::broadcast<kiln::f32x16>(x)) && isExp(kiln::broadcast<kiln::f32x4>(x)) && isExp(x)) << x;
  }
  EXPECT_TRUE(isExp(87.32f));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> reach(0, 708);
  for (int i = 0; i < 100000; ++i) {
    double x = reach(random);
    ASSERT_TRUE(isExp(kiln::broadcast<kiln::f64x8>(x)) && isExp(x)) << x;
  }
}

// Whether exp_addend gives the bits of exp for all lanes of x, and of -x, once a number is added.
template <typename V> bool isAddend(V x, kiln::lane<V> number) {
  auto fits = [&](V each) {
    V want = kiln::exp(each) + number, have = kiln::exp_addend(each) + number;
    return kiln::all(kiln::bitsOf(have) == kiln::bitsOf(want)) || (kiln::all(want != want) && kiln::all(have != have));
  };
  return fits(x) && fits(-x);
}

class ExpAddend : public LevelTest {};

TEST_F(ExpAddend, HasTheBitsOfExpInSums) {
  uint32_t last = kiln::bitcast<uint32_t>(INFINITY);
  for (uint32_t bits = 0; bits <= last; bits += 211) {
    float x = kiln::bitcast<float>(bits);
    ASSERT_TRUE(isAddend(kiln::broadcast<kiln::f32x16>(x), 1.0f) && isAddend(kiln::broadcast<kiln::f32x8>(x), 1.0f) &&
                isAddend(kiln::broadcast<kiln::f32x4>(x), 2.0f) && isAddend(x, 1.0f))
        << x;
  }
  // Around the limits, where the result becomes infinite, and where it is lost beside 1, each number.
  for (float center : {80.0f, 87.33f, 88.37f, 88.7228f, 89.0f, 104.0f, 17.33f, INFINITY, NAN}) {
    uint32_t bits = kiln::bitcast<uint32_t>(center);
    for (uint32_t i = bits - 5000; i < bits + 5000; ++i)
      ASSERT_TRUE(isAddend(kiln::broadcast<kiln::f32x8>(kiln::bitcast<float>(i)), 1.0f)) << kiln::bitcast<float>(i);
  }
  EXPECT_TRUE(isAddend(1.5, 1.0) && isAddend(800.0, 1.0));
}

// How far erfc(x) is off, as a part of the relative error that it may have: its exponent is rounded, and grows with x^2.
template <typename T> double partOfErfcBound(T x, double constant, double square, int digits) {
  long double want = std::erfc(static_cast<long double>(x)), bound = (constant + static_cast<long double>(square) * x * x) * std::ldexp(1.0L, -digits);
  return static_cast<double>(std::fabs(kiln::erfc(x) - want) / (want * bound));
}

class Erfc : public LevelTest {};

TEST_F(Erfc, KeepsTheDigitsOfItsTail) {
  for (float x = -12; x < 9; x += 0.00037f)
    ASSERT_LE(partOfErfcBound(x, 7, 4, 24), 1) << x;
  for (double x = -30; x < 26; x += 0.00037)
    ASSERT_LE(partOfErfcBound(x, 80, 2, 53), 1) << x;
  EXPECT_EQ(kiln::erfc(20.0f), 0.0f);
  EXPECT_EQ(kiln::erfc(40.0), 0.0);
  EXPECT_EQ(kiln::erfc(-20.0f), 2.0f);
}

float lanesOf(kiln::f32x16 v, int i) { return v[i]; }

class PowTest : public LevelTest {
protected:
  static void check(float x, float y) {
    float got = kiln::pow(x, y);
    double error = sweep::ulpError(got, std::pow(double(x), double(y)));
    EXPECT_LE(error, 0.51) << "pow(" << x << ", " << y << ") = " << got;
    float lane = lanesOf(kiln::pow(kiln::broadcast<kiln::f32x16>(x), kiln::broadcast<kiln::f32x16>(y)), 5);
    EXPECT_TRUE(lane == got || (std::isnan(lane) && std::isnan(got))) << x << ", " << y;
  }
};

TEST_F(PowTest, SpecialValues) {
  for (float x : specials)
    for (float y : specials)
      check(x, y);
}

TEST_F(PowTest, RandomValues) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponent(-30, 30), base(0, 10);
  for (int i = 0; i < 100000; ++i)
    check(base(random), exponent(random));
}

class FmodTest : public LevelTest {
protected:
  static void check(float x, float y) {
    float got = kiln::fmod(x, y);
    EXPECT_EQ(sweep::ulpError(got, double(std::fmod(x, y))), 0) << "fmod(" << x << ", " << y << ") = " << got;
    // The other lanes have short quotients, or the same long one.
    kiln::f32x8 lanes = kiln::fmod(kiln::f32x8{x, 7, 8, x, 9, 1, 2, 3}, kiln::f32x8{y, 2, 3, y, 4, 5, 6, 7});
    EXPECT_EQ(sweep::ulpError(lanes[3], double(std::fmod(x, y))), 0) << "fmod(" << x << ", " << y << ") = " << lanes[3] << " in a lane";
  }
};

TEST_F(FmodTest, IsExact) {
  for (float x : specials)
    for (float y : specials)
      check(x, y);
  std::mt19937 random(2);
  for (int i = 0; i < 100000; ++i)
    check(sweep::floatOfBits(uint32_t(random())), sweep::floatOfBits(uint32_t(random())));
}

// Quotients around whole numbers, which round up to them, and around the largest that are exact.
TEST_F(FmodTest, IsExactNearWholeQuotients) {
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    float y = sweep::floatOfBits(uint32_t(random()) & 0x7fffffff), x = y * float(uint32_t(random()) >> (random() % 32));
    for (float near : {x, std::nextafter(x, 0.0f), std::nextafter(x, INFINITY), -x})
      check(near, y);
  }
}

} // namespace
