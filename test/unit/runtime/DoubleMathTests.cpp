// Double functions against the C library's long double ones.
#include "Level.h"
#include "Sweep.h"

#include "kiln/math.h"

#include <random>

namespace {

struct DoubleFunction {
  const char *name;
  double bound;
  double (*scalar)(double);
  kiln::f64x8 (*vector)(kiln::f64x8);
  long double (*reference)(long double);
};

long double sigmoidOf(long double x) { return 1 / (1 + std::exp(-x)); }
long double rsqrtOf(long double x) { return 1 / std::sqrt(x); }

#define KILN_DOUBLE(NAME, BOUND, REFERENCE)                                                     \
  DoubleFunction {                                                                              \
    #NAME, BOUND, [](double x) { return kiln::NAME(x); },                                       \
        [](kiln::f64x8 x) { return kiln::NAME(x); }, [](long double x) -> long double { return REFERENCE(x); } \
  }

const DoubleFunction functions[] = {
    KILN_DOUBLE(exp, 1.2, std::exp),       KILN_DOUBLE(exp2, 1.2, std::exp2),   KILN_DOUBLE(expm1, 2, std::expm1),
    KILN_DOUBLE(sigmoid, 4, sigmoidOf),    KILN_DOUBLE(log, 1.5, std::log),     KILN_DOUBLE(log2, 2.5, std::log2),
    KILN_DOUBLE(log1p, 2, std::log1p),     KILN_DOUBLE(tanh, 4, std::tanh),     KILN_DOUBLE(sinh, 4, std::sinh),
    KILN_DOUBLE(cosh, 3, std::cosh),       KILN_DOUBLE(asinh, 4, std::asinh),   KILN_DOUBLE(acosh, 4, std::acosh),
    KILN_DOUBLE(atanh, 4, std::atanh),     KILN_DOUBLE(erf, 3, std::erf),       KILN_DOUBLE(sin, 1.5, std::sin),
    KILN_DOUBLE(cos, 1.5, std::cos),       KILN_DOUBLE(tan, 3, std::tan),       KILN_DOUBLE(asin, 3, std::asin),
    KILN_DOUBLE(acos, 3, std::acos),       KILN_DOUBLE(atan, 3, std::atan),     KILN_DOUBLE(sqrt, 0.51, std::sqrt),
    KILN_DOUBLE(rsqrt, 1.5, rsqrtOf),      KILN_DOUBLE(floor, 0, std::floor),   KILN_DOUBLE(ceil, 0, std::ceil),
    KILN_DOUBLE(trunc, 0, std::trunc),     KILN_DOUBLE(round, 0, std::round),   KILN_DOUBLE(roundeven, 0, std::nearbyint),
};

double doubleOfBits(uint64_t bits) { return kiln::bitcast<double>(bits); }

// Numbers of every magnitude, of everyday ones, and those that end a range.
double pick(std::mt19937_64 &random, int i) {
  static const double ends[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, -5e-324, 709.7, -745.0, 0.5, 2.0};
  if (i < int(sizeof(ends) / sizeof(ends[0])))
    return ends[i];
  if (i % 2)
    return doubleOfBits(random());
  return std::uniform_real_distribution<double>(-20, 20)(random);
}

class DoubleMath : public LevelTest, public testing::WithParamInterface<DoubleFunction> {};

TEST_P(DoubleMath, StaysWithinItsBoundAndIsTheSameInEveryLane) {
  const DoubleFunction &function = GetParam();
  std::mt19937_64 random(3);
  double worst = 0, at = 0;
  for (int i = 0; i < 200000; ++i) {
    double x = pick(random, i), got = function.scalar(x);
    double error = sweep::ulpError(got, function.reference(x));
    if (!(error <= worst)) {
      worst = error;
      at = x;
    }
    double lane = function.vector(kiln::broadcast<kiln::f64x8>(x))[3];
    ASSERT_TRUE(kiln::bitcast<uint64_t>(lane) == kiln::bitcast<uint64_t>(got) || (std::isnan(lane) && std::isnan(got))) << x;
  }
  EXPECT_LE(worst, function.bound) << "at " << std::hexfloat << at;
  RecordProperty("worst_ulp", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, DoubleMath, testing::ValuesIn(functions), [](const auto &info) { return info.param.name; });

class DoublePow : public LevelTest {
protected:
  static void check(double x, double y) {
    double got = kiln::pow(x, y);
    EXPECT_LE(sweep::ulpError(got, std::pow(static_cast<long double>(x), static_cast<long double>(y))), 2)
        << "pow(" << x << ", " << y << ") = " << got;
  }
};

TEST_F(DoublePow, SpecialAndRandomValues) {
  const double values[] = {0.0,  -0.0, 1.0,      -1.0,      0.5, -0.5,   2.0,     -2.0, 3.0, -3.0, 2.5,
                           -2.5, 1e300, INFINITY, -INFINITY, NAN, 5e-324, -1e-320, 1e17, 9007199254740993.0, 1.0000000001};
  for (double x : values)
    for (double y : values)
      check(x, y);
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> exponent(-300, 300), base(0, 10);
  for (int i = 0; i < 200000; ++i)
    check(base(random), exponent(random));
}

class DoubleFmod : public LevelTest {};

TEST_F(DoubleFmod, IsExact) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    double x = doubleOfBits(random()), y = doubleOfBits(random());
    EXPECT_EQ(sweep::ulpError(kiln::fmod(x, y), static_cast<long double>(std::fmod(x, y))), 0) << x << ", " << y;
    double near = std::nextafter(y * double(random() >> (random() % 64)), i % 2 ? INFINITY : 0);
    EXPECT_EQ(sweep::ulpError(kiln::fmod(near, y), static_cast<long double>(std::fmod(near, y))), 0) << near << ", " << y;
  }
}

} // namespace
