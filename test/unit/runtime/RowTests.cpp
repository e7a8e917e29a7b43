#include "Level.h"

#include "kiln/depthwise.h"
#include "kiln/rows.h"

#include <random>

using namespace kiln;

namespace {

class Rows : public LevelTest {};

TEST_F(Rows, SumsOfUnsignedBytes) {
  std::mt19937 random(3);
  for (int height = 1; height <= 4; ++height)
    for (int steps = 1; steps <= 7; ++steps) {
      uint8_t left[4][28];
      int8_t right[28];
      for (auto &row : left)
        for (uint8_t &byte : row)
          byte = random() % 3 ? uint8_t(random()) : 255;
      for (int8_t &byte : right)
        byte = random() % 3 ? int8_t(random()) : -128;
      int32_t rows[4 * 2 * 7], sums[4];
      // In two parts, as from two lines of a window.
      for (int row = 0; row < height; ++row) {
        rows_u8s8_take(rows, 0, height, row, left[row], 0, steps / 2);
        rows_u8s8_take(rows, steps / 2, height, row, left[row], steps / 2 * 4, steps - steps / 2);
      }
      rows_u8s8(sums, rows, height, right, 0, steps);
      for (int row = 0; row < height; ++row) {
        int32_t expected = 0;
        for (int i = 0; i < 4 * steps; ++i)
          expected += left[row][i] * right[i];
        EXPECT_EQ(sums[row], expected) << height << " rows, " << steps << " steps";
      }
    }
}

TEST_F(Rows, SumsOfSignedBytes) {
  std::mt19937 random(4);
  for (int height = 1; height <= 3; ++height)
    for (int eights = 1; eights <= 5; ++eights) {
      int8_t left[3][40], right[4 * 40];
      for (auto &row : left)
        for (int8_t &byte : row)
          byte = random() % 3 ? int8_t(random()) : -128;
      for (int8_t &byte : right)
        byte = random() % 3 ? int8_t(random()) : -128;
      int32_t rows[3 * 4 * 3], sums[12];
      for (int row = 0; row < height; ++row) {
        rows_s8s8_take(rows, 0, height, row, left[row], 0, eights / 2);
        rows_s8s8_take(rows, eights / 2, height, row, left[row], eights / 2 * 8, eights - eights / 2);
      }
      rows_s8s8(sums, rows, height, right, 0, eights);
      for (int row = 0; row < height; ++row)
        for (int column = 0; column < 4; ++column) {
          int32_t expected = 0;
          for (int i = 0; i < 8 * eights; ++i)
            expected += left[row][i] * right[column * 8 * eights + i];
          EXPECT_EQ(sums[4 * row + column], expected) << height << " rows, " << eights << " eights, column " << column;
        }
    }
}

TEST_F(Rows, WindowsOfChannels) {
  std::mt19937 random(5);
  constexpr int height = 3, width = 4, channels = 16, line = 8 * channels;
  int8_t in[3 * line], weights[height * width * 8];
  for (int8_t &byte : in)
    byte = random() % 3 ? int8_t(random()) : -128;
  for (int8_t &byte : weights)
    byte = random() % 3 ? int8_t(random()) : -128;
  int32_t words[2 * height * width], four[4], eight[8];
  depthwise_u8s8_widen(words, weights, 0, height * width);
  depthwise_u8s8(four, words, in, channels, height, width, line, channels);
  depthwise_s8s8(eight, weights, 0, in, channels, height, width, line, channels);
  int32_t expectedFour[4] = {}, expectedEight[8] = {};
  for (int tap = 0; tap < height * width; ++tap) {
    const int8_t *from = in + channels + tap / width * line + tap % width * channels;
    for (int channel = 0; channel < 8; ++channel)
      expectedEight[channel] += from[channel] * weights[8 * tap + channel];
    for (int channel = 0; channel < 4; ++channel)
      expectedFour[channel] += uint8_t(from[channel]) * weights[4 * tap + channel];
  }
  for (int channel = 0; channel < 8; ++channel)
    EXPECT_EQ(eight[channel], expectedEight[channel]) << channel;
  for (int channel = 0; channel < 4; ++channel)
    EXPECT_EQ(four[channel], expectedFour[channel]) << channel;
}

} // namespace
