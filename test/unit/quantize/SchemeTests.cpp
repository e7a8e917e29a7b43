// Scales, zero points and rounded weights.
#include "compiler/quantize/Scheme.h"
#include <gtest/gtest.h>

using namespace kiln::quantize;

TEST(Parameters, RepresentZeroAndTheRange) {
  Parameters unsigned8 = chooseParameters({-1, 3}, ActivationType::U8, false);
  EXPECT_EQ(unsigned8.zeroPoint, 64);
  EXPECT_FLOAT_EQ(unsigned8.scale, 4.0f / 255);
  EXPECT_EQ(unsigned8.dequantize(64), 0);
  Parameters signed8 = chooseParameters({-1, 3}, ActivationType::S8, false);
  EXPECT_EQ(signed8.zeroPoint, -64);
  EXPECT_EQ(signed8.low, -128);
  EXPECT_EQ(signed8.high, 127);
}

TEST(Parameters, AreSymmetricWhenAsked) {
  Parameters signed8 = chooseParameters({-1, 3}, ActivationType::S8, true);
  EXPECT_EQ(signed8.zeroPoint, 0);
  EXPECT_FLOAT_EQ(signed8.scale, 3.0f / 127);
  EXPECT_EQ(chooseParameters({0, 3}, ActivationType::U8, true).zeroPoint, 128);
}

TEST(Parameters, OfPositiveValuesBeginAtZero) {
  Parameters parameters = chooseParameters({0, 6}, ActivationType::U8, false);
  EXPECT_EQ(parameters.zeroPoint, 0);
  EXPECT_FLOAT_EQ(parameters.getRange().high, 6);
}

TEST(Parameters, OfNothingButZeroAreFinite) {
  Parameters parameters = chooseParameters({0, 0}, ActivationType::U8, false);
  EXPECT_GT(parameters.scale, 0);
  EXPECT_EQ(parameters.dequantize(parameters.zeroPoint), 0);
}

TEST(QuantizedWeights, GoToRowsAndBackAlongAnyAxis) {
  std::vector<int64_t> dims = {2, 3, 4};
  std::vector<float> values;
  for (int i = 0; i < 24; ++i)
    values.push_back(float(i));
  for (size_t axis = 0; axis < 3; ++axis) {
    WeightRows rows = toRows(values, dims, axis);
    EXPECT_EQ(rows.rows, size_t(dims[axis]));
    EXPECT_EQ(fromRows<float>(rows.values, dims, axis), values) << axis;
  }
  EXPECT_EQ(toRows(values, dims, 1).row(1)[0], 4);
  EXPECT_EQ(toRows(values, dims, 2).row(3)[1], 7);
}

TEST(QuantizedWeights, HaveAScalePerRowBlockOrTensor) {
  WeightRows weights{2, 4, {1, -2, 0.5f, 4, 100, 0, 0, 50}};
  QuantizedRows perRow = quantizeRows(weights, {8, 0, false});
  ASSERT_EQ(perRow.scales.size(), 2u);
  EXPECT_FLOAT_EQ(perRow.scales[0], 4.0f / 127);
  EXPECT_EQ(perRow.values[3], 127);
  QuantizedRows blocks = quantizeRows(weights, {8, 2, false});
  ASSERT_EQ(blocks.scales.size(), 4u);
  EXPECT_FLOAT_EQ(blocks.scales[0], 2.0f / 127);
  EXPECT_EQ(quantizeRows(weights, {8, 0, true}).scales.size(), 1u);
  // A block that does not fill up has a scale of its own.
  EXPECT_EQ(quantizeRows(weights, {8, 3, false}).scales.size(), 4u);
}

TEST(QuantizedWeights, RoundHalfToEvenAndSaturate) {
  WeightScheme scheme{8, 0, false};
  EXPECT_EQ(roundWeight(2.5f, 1, scheme), 2);
  EXPECT_EQ(roundWeight(3.5f, 1, scheme), 4);
  EXPECT_EQ(roundWeight(-1000, 1, scheme), -127);
  EXPECT_EQ(roundWeight(-1000, 1, {4, 0, false}), -8);
}

TEST(QuantizedWeights, ObeyLeastScales) {
  WeightRows weights{1, 2, {1e-20f, 0}};
  EXPECT_EQ(quantizeRows(weights, {8, 0, false}, {0.25f}).scales[0], 0.25f);
}

TEST(QuantizedWeights, ErrorIsRelative) {
  EXPECT_NEAR(getRelativeError({3, 4}, {3, 4.5f}), 0.1, 1e-9);
  EXPECT_EQ(getRelativeError({0, 0}, {0, 0}), 0);
}
