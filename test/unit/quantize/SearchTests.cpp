// The search for layers that stay in f32, on models that are a list of errors.
#include "compiler/quantize/Search.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::quantize;

/// Errors of independent layers add up in squares.
static SearchResult search(std::vector<double> errors, Budget budget, size_t *measurements = nullptr) {
  auto measure = [&](const std::vector<bool> &quantized) -> llvm::Expected<Quality> {
    if (measurements)
      ++*measurements;
    double sum = 0;
    for (size_t i = 0; i < errors.size(); ++i)
      sum += quantized[i] ? errors[i] * errors[i] : 0;
    return Quality{std::sqrt(sum), 1 - std::sqrt(sum)};
  };
  llvm::Expected<SearchResult> result = searchLayers(errors.size(), budget, measure);
  EXPECT_TRUE(bool(result));
  return *result;
}

TEST(Search, LeavesNothingIfTheBudgetIsMet) {
  SearchResult result = search({0.1, 0.2, 0.3}, {1, 0});
  EXPECT_TRUE(result.isMet);
  EXPECT_EQ(result.left, std::vector<bool>(3, false));
}

TEST(Search, LeavesTheMostHarmful) {
  SearchResult result = search({0.01, 0.5, 0.02, 0.4, 0.01}, {0.1, 0});
  EXPECT_TRUE(result.isMet);
  EXPECT_EQ(result.left, (std::vector<bool>{false, true, false, true, false}));
  EXPECT_NEAR(result.quality.error, std::sqrt(0.0006), 1e-9);
  EXPECT_NEAR(result.alone[1].error, 0.5, 1e-9);
}

TEST(Search, MeetsAnAgreement) {
  SearchResult result = search({0.3, 0.01, 0.02}, {HUGE_VAL, 0.95});
  EXPECT_TRUE(result.isMet);
  EXPECT_EQ(result.left, (std::vector<bool>{true, false, false}));
  EXPECT_GE(result.quality.agreement, 0.95);
}

TEST(Search, SaysWhenNothingMeetsTheBudget) {
  SearchResult result = search({0.3, 0.2}, {0.1, 0});
  EXPECT_FALSE(result.isMet);
  EXPECT_EQ(result.left, std::vector<bool>(2, true));
}

/// Layers that cancel each other's errors are found by measuring, not by adding.
TEST(Search, QuantisesAgainWhatDoesNoHarmTogether) {
  auto measure = [](const std::vector<bool> &quantized) -> llvm::Expected<Quality> {
    double first = quantized[0] ? 0.5 : 0, second = quantized[1] ? -0.5 : 0, third = quantized[2] ? 0.6 : 0;
    return Quality{std::fabs(first + second + third), 1};
  };
  llvm::Expected<SearchResult> result = searchLayers(3, {0.2, 0}, measure);
  ASSERT_TRUE(bool(result));
  EXPECT_TRUE(result->isMet);
  EXPECT_EQ(result->left, (std::vector<bool>{false, false, true}));
}

TEST(Search, MeasuresEachLayerAndABisection) {
  size_t measurements = 0;
  std::vector<double> errors(100, 0.001);
  errors[17] = 1;
  SearchResult result = search(errors, {0.1, 0}, &measurements);
  EXPECT_TRUE(result.isMet);
  EXPECT_TRUE(result.left[17]);
  EXPECT_LT(measurements, 120u);
}

TEST(Search, PassesErrorsOn) {
  auto measure = [](const std::vector<bool> &) -> llvm::Expected<Quality> { return llvm::createStringError("no"); };
  llvm::Expected<SearchResult> result = searchLayers(2, {0.2, 0}, measure);
  EXPECT_EQ(llvm::toString(result.takeError()), "no");
}
