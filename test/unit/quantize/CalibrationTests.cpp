// Ranges of values from samples with known distributions.
#include "compiler/quantize/Calibration.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace kiln::quantize;

static std::vector<float> makeNormal(size_t count, float deviation, unsigned seed) {
  std::mt19937 engine(seed);
  // std::normal_distribution differs between libraries.
  std::vector<float> values(count);
  for (float &value : values) {
    double sum = 0;
    for (int i = 0; i < 12; ++i)
      sum += double(engine()) / 4294967296.0;
    value = float((sum - 6) * deviation);
  }
  return values;
}

TEST(Histogram, CountsEveryValueOnceHoweverItGrows) {
  Histogram histogram;
  std::vector<float> small = makeNormal(5000, 1e-3f, 1), large = makeNormal(5000, 1e6f, 2);
  ASSERT_TRUE(histogram.add(small));
  ASSERT_TRUE(histogram.add(large));
  ASSERT_TRUE(histogram.add({0.0f, -3e30f, 3e30f}));
  int64_t total = 0;
  for (int64_t bin : histogram.getBins())
    total += bin;
  EXPECT_EQ(total, 10003);
  EXPECT_EQ(histogram.getCount(), 10003);
  EXPECT_LE(int64_t(histogram.getBins().size()), Histogram::mostBins);
  EXPECT_EQ(histogram.getMin(), double(-3e30f));
  EXPECT_EQ(histogram.getMax(), double(3e30f));
}

TEST(Histogram, PutsValuesIntoTheirBins) {
  Histogram histogram;
  std::vector<float> values;
  for (int i = -1000; i < 3000; ++i)
    values.push_back(float(i) / 64);
  ASSERT_TRUE(histogram.add(llvm::ArrayRef(values).take_front(10)));
  ASSERT_TRUE(histogram.add(llvm::ArrayRef(values).drop_front(10)));
  for (size_t i = 0; i < histogram.getBins().size(); ++i)
    EXPECT_EQ(histogram.getBins()[i], std::count_if(values.begin(), values.end(), [&](float value) {
                return histogram.getEdge(i) <= value && value < histogram.getEdge(i + 1);
              })) << i;
}

TEST(Histogram, RefusesWhatIsNotFinite) {
  Histogram histogram;
  EXPECT_FALSE(histogram.add({1.0f, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(histogram.add({std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(histogram.getCount(), 0);
}

TEST(Histogram, TakesOneValueManyTimes) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add(std::vector<float>(100, 7.5f)));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::Percentile, 99);
  EXPECT_EQ(range.low, 0);
  EXPECT_NEAR(range.high, 7.5, 1e-3);
}

TEST(Histogram, FindsQuantiles) {
  Histogram histogram;
  std::vector<float> values;
  for (int i = 0; i < 10000; ++i)
    values.push_back(float(i) / 100);
  ASSERT_TRUE(histogram.add(values));
  for (double share : {0.01, 0.25, 0.5, 0.999})
    EXPECT_NEAR(histogram.getQuantile(share), share * 100, 0.1) << share;
  EXPECT_NEAR(histogram.getShareOutside({10, 60}), 0.5, 2e-3);
  EXPECT_EQ(histogram.getShareOutside({0, 100}), 0);
}

TEST(Calibration, MinMaxHoldsAllValuesAndZero) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add({2.0f, 3.0f, 8.0f}));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::MinMax, 0);
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 8);
}

TEST(Calibration, PercentileLeavesTheTailsOut) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add(makeNormal(200000, 1, 3)));
  ASSERT_TRUE(histogram.add({-50.0f, 90.0f}));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::Percentile, 95);
  // The quantiles of the normal distribution at 2.5 and 97.5 percent; a bin is 1/32 wide.
  EXPECT_NEAR(range.low, -1.96, 0.06);
  EXPECT_NEAR(range.high, 1.96, 0.06);
  EXPECT_NEAR(histogram.getShareOutside(range), 0.05, 5e-3);
}

TEST(Calibration, EntropyClipsOutliersOfANormalDistribution) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add(makeNormal(400000, 1, 4)));
  ASSERT_TRUE(histogram.add({-40.0f, 40.0f}));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::Entropy, 0);
  // Nothing but two values lies beyond 6; the steps are better spent inside.
  EXPECT_GT(range.high, 2);
  EXPECT_LT(range.high, 8);
  EXPECT_NEAR(range.low, -range.high, 1e-9);
}

TEST(Calibration, EntropyKeepsAUniformDistribution) {
  Histogram histogram;
  std::vector<float> values;
  for (int i = 0; i < 1 << 18; ++i)
    values.push_back(float(i % 4096) / 4096 - 0.5f);
  ASSERT_TRUE(histogram.add(values));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::Entropy, 0);
  EXPECT_NEAR(range.low, -0.5, 0.01);
  EXPECT_NEAR(range.high, 0.5, 0.01);
}

TEST(Calibration, EntropyKeepsFewDistinctValues) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add({0.0f, 0.0f, 1.0f, 1.0f, 1.0f}));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::Entropy, 0);
  EXPECT_EQ(range.low, 0);
  EXPECT_NEAR(range.high, 1, 1e-2);
}

/// What 256 steps of a range change values by, in the root of the mean square.
static double measureSteps(const std::vector<float> &values, kiln::quantize::Range range) {
  double step = (range.high - range.low) / 255, sum = 0;
  for (float value : values) {
    double stored = std::clamp(std::nearbyint(value / step), std::nearbyint(range.low / step), std::nearbyint(range.high / step)) * step;
    sum += (value - stored) * (value - stored);
  }
  return std::sqrt(sum / double(values.size()));
}

TEST(Calibration, LeastSquaresClipsAnOutlierOnItsSideOnly) {
  Histogram histogram;
  std::vector<float> values = makeNormal(400000, 1, 5);
  values.push_back(30);
  ASSERT_TRUE(histogram.add(values));
  kiln::quantize::Range range = chooseRange(histogram, Calibration::LeastSquares, 0), full = chooseRange(histogram, Calibration::MinMax, 0);
  // Clipping the outlier by d costs d^2, and what the step grows by costs 400,000 times its square / 12: least is lost at 18.
  EXPECT_GT(range.high, 16);
  EXPECT_LT(range.high, 20);
  EXPECT_LT(range.low, -3);
  EXPECT_LT(measureSteps(values, range), 0.85 * measureSteps(values, full));
}

TEST(Calibration, LeastSquaresKeepsAUniformDistributionAndAPoint) {
  Histogram uniform, point;
  std::vector<float> values;
  for (int i = 0; i < 1 << 18; ++i)
    values.push_back(float(i % 4096) / 4096);
  ASSERT_TRUE(uniform.add(values));
  kiln::quantize::Range range = chooseRange(uniform, Calibration::LeastSquares, 0);
  EXPECT_EQ(range.low, 0);
  EXPECT_NEAR(range.high, 1, 0.02);
  ASSERT_TRUE(point.add(std::vector<float>(100, 0.0f)));
  range = chooseRange(point, Calibration::LeastSquares, 0);
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 0);
}
