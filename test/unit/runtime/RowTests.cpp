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

/// Three lines of bytes, and nine weights of each channel.
struct Windows {
  static constexpr int columns = 7, channels = 24, line = columns * channels + 5;
  int8_t in[3 * line], weights[channels][3][3];

  explicit Windows(unsigned seed) {
    std::mt19937 random(seed);
    for (int8_t &byte : in)
      byte = random() % 3 ? int8_t(random()) : -128;
    for (auto &channel : weights)
      for (auto &row : channel)
        for (int8_t &weight : row)
          weight = random() % 3 ? int8_t(random()) : -128;
  }
  template <typename Byte> int32_t sum(int column, int channel) const {
    int32_t result = 0;
    for (int row = 0; row < 3; ++row)
      for (int tap = 0; tap < 3; ++tap)
        result += Byte(in[row * line + (column + tap) * channels + channel]) * weights[channel][row][tap];
    return result;
  }
};

TEST_F(Rows, WovenWindowsOfUnsignedBytes) {
  const Windows windows(6);
  int32_t words[4 * (2 * Windows::columns + 2)], taps[5], sum;
  for (int first = 0; first < Windows::channels; first += 4) {
    depthwise_u8s8_columns(words, windows.in, first, Windows::columns, Windows::line, Windows::channels);
    for (int channel = first; channel < first + 4; ++channel) {
      depthwise_u8s8_taps(taps, &windows.weights[0][0][0], channel * 9);
      for (int column = 0; column + 3 <= Windows::columns; ++column) {
        depthwise_u8s8_window(&sum, words, (channel - first) * (2 * Windows::columns + 2) + 2 * column, taps);
        EXPECT_EQ(sum, windows.sum<uint8_t>(column, channel)) << column << ", " << channel;
      }
    }
  }
}

TEST_F(Rows, WovenWindowsOfSignedBytes) {
  const Windows windows(7);
  int8_t woven[Windows::channels][4][4] = {};
  for (int channel = 0; channel < Windows::channels; ++channel)
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column)
        woven[channel][column][row] = windows.weights[channel][row][column];
  int32_t words[(Windows::columns + 1) * Windows::channels], taps[16], sums[4];
  depthwise_s8s8_columns(words, windows.in, 0, Windows::columns, Windows::line, Windows::channels);
  for (int first = 0; first < Windows::channels; first += 4) {
    depthwise_s8s8_taps(taps, &woven[0][0][0], first * 16);
    for (int column = 0; column + 3 <= Windows::columns; ++column) {
      depthwise_s8s8_window(sums, words, column * Windows::channels + first, taps, Windows::channels);
      for (int channel = 0; channel < 4; ++channel)
        EXPECT_EQ(sums[channel], windows.sum<int8_t>(column, first + channel)) << column << ", " << first + channel;
    }
  }
}

} // namespace
