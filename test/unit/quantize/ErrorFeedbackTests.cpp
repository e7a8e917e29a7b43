// Rounding with regard to the inputs against rounding to the nearest.
#include "compiler/quantize/ErrorFeedback.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace kiln::quantize;

namespace {

/// Weights and inputs whose columns depend on each other, as those of real layers do.
struct Product {
  WeightRows weights;
  std::vector<float> inputs;
  InputProducts products;

  Product(size_t rows, size_t columns, size_t samples) : weights{rows, columns, {}}, products(columns) {
    std::mt19937 engine(5);
    auto next = [&] { return float(double(engine()) / 2147483648.0 - 1); };
    for (size_t i = 0; i < rows * columns; ++i)
      weights.values.push_back(next());
    for (size_t s = 0; s < samples; ++s) {
      float common[4] = {next(), next(), next(), next()};
      for (size_t c = 0; c < columns; ++c)
        inputs.push_back(common[c % 4] * float(1 + c % 7) + 0.2f * next());
    }
    products.add(inputs);
  }

  /// The squared error of the product over all inputs, by multiplying.
  double measure(const WeightRows &rounded) const {
    double total = 0;
    for (size_t s = 0; s < inputs.size() / weights.columns; ++s)
      for (size_t r = 0; r < weights.rows; ++r) {
        double sum = 0;
        for (size_t c = 0; c < weights.columns; ++c)
          sum += (double(weights.row(r)[c]) - double(rounded.row(r)[c])) * double(inputs[s * weights.columns + c]);
        total += sum * sum;
      }
    return total;
  }
};

} // namespace

TEST(ErrorFeedback, BeatsTheNearestByFar) {
  Product product(24, 64, 500);
  for (WeightScheme scheme : {WeightScheme{4, 0, false}, WeightScheme{4, 16, false}, WeightScheme{8, 0, false}, WeightScheme{8, 0, true}}) {
    WeightRows nearest = quantizeRows(product.weights, scheme).dequantize(scheme);
    WeightRows corrected = quantizeWithFeedback(product.weights, scheme, product.products).dequantize(scheme);
    EXPECT_LT(product.measure(corrected), 0.5 * product.measure(nearest)) << scheme.bits << " bits, blocks of " << scheme.block;
  }
}

TEST(ErrorFeedback, SumsUpProducts) {
  Product product(3, 20, 77);
  WeightScheme scheme{4, 0, false};
  WeightRows rounded = quantizeRows(product.weights, scheme).dequantize(scheme);
  EXPECT_NEAR(getProductError(product.weights, rounded, product.products), product.measure(rounded), 1e-6 * product.measure(rounded));
}

/// Without correlation there is nothing to correct: each weight is rounded by itself.
TEST(ErrorFeedback, IsTheNearestForIndependentInputs) {
  WeightRows weights{2, 8, {}};
  for (int i = 0; i < 16; ++i)
    weights.values.push_back(float(i * 37 % 16) / 9 - 0.8f);
  InputProducts products(8);
  for (int i = 0; i < 8; ++i) {
    std::vector<float> row(8);
    row[size_t(i)] = 2;
    products.add(row);
  }
  for (unsigned bits : {4u, 8u}) {
    WeightScheme scheme{bits, 0, false};
    EXPECT_EQ(quantizeWithFeedback(weights, scheme, products).values, quantizeRows(weights, scheme).values);
  }
}

TEST(ErrorFeedback, TakesInputsThatAreAlwaysZero) {
  WeightRows weights{1, 4, {0.5f, -1, 0.25f, 1}};
  WeightScheme scheme{8, 0, false};
  InputProducts none(4), some(4);
  EXPECT_EQ(quantizeWithFeedback(weights, scheme, none).values, quantizeRows(weights, scheme).values);
  some.add({1, 0, 1, 0});
  for (float value : quantizeWithFeedback(weights, scheme, some).dequantize(scheme).values)
    EXPECT_TRUE(std::isfinite(value));
}
