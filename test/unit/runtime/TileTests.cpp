#include "Level.h"

#include "kiln/cpu.h"
#include "kiln/tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

using namespace kiln;

namespace {

class Tiles : public LevelTest {
protected:
  void SetUp() override {
    LevelTest::SetUp();
#if KILN_TILES
    const cpu::set needs = cpu::with(cpu::amx_tile, cpu::amx_int8, cpu::amx_bf16);
    if ((cpu::read() & needs) != needs || !cpu::ask_for_tiles())
      GTEST_SKIP() << "this machine has no instructions on tiles";
#endif
  }
};

/// Sums of a block by steps: the left side row by row, the right side in the order of tiles.
template <typename Sum, typename Element, typename Multiply>
void expectBlock(int rows, int others, int panels, int depth, int count, Multiply multiply, const std::vector<Element> &left, const std::vector<Element> &right,
                 const std::vector<Sum> &expected) {
  constexpr int together = int(4 / sizeof(Element));
  const int length = depth * count, columns = 16 * panels;
  std::vector<Element> packed;
  for (int piece = 0; piece < count; ++piece)
    for (int panel = 0; panel < panels; ++panel)
      for (int step = 0; step < depth / together; ++step)
        for (int column = 0; column < 16; ++column)
          for (int i = 0; i < together; ++i)
            packed.push_back(right[size_t((piece * depth + step * together + i) * columns + panel * 16 + column)]);
  alignas(64) Sum sums[2 * 32 * 32];
  std::fill(std::begin(sums), std::end(sums), Sum(-1));
  tiles_begin(rows, others, depth * int(sizeof(Element)));
  tiles_clear(sums, others, panels);
  for (int piece = 0; piece < count; ++piece)
    multiply(sums, left.data(), piece * depth, piece * depth + rows * length, length, packed.data(), piece * depth * columns, rows, others, panels, depth / together);
  tiles_store(sums, others, panels);
  tiles_end();
  for (int row = 0; row < rows + others; ++row)
    for (int column = 0; column < columns; ++column)
      ASSERT_EQ(sums[(row < rows ? row : row - rows + 16) * 32 + column], expected[size_t(row * columns + column)]) << row << ' ' << column;
}

TEST_F(Tiles, BytesAreMultipliedExactly) {
  std::mt19937 random(3);
  for (auto [rows, others, panels, depth, count] : {std::array{16, 16, 2, 64, 3}, {1, 0, 1, 4, 1}, {7, 7, 2, 28, 2}, {16, 3, 1, 48, 5}, {16, 0, 2, 64, 1}}) {
    const int length = depth * count, columns = 16 * panels;
    std::vector<int8_t> left(size_t((rows + others) * length)), right(size_t(length * columns));
    for (int8_t &byte : left)
      byte = int8_t(random() % 5 ? random() : 255);
    for (int8_t &byte : right)
      byte = int8_t(random() % 5 ? random() : 128);
    std::vector<int32_t> expected;
    for (int row = 0; row < rows + others; ++row)
      for (int column = 0; column < columns; ++column) {
        int32_t sum = 0;
        for (int k = 0; k < length; ++k)
          sum += uint8_t(left[size_t(row * length + k)]) * right[size_t(k * columns + column)];
        expected.push_back(sum);
      }
    expectBlock<int32_t>(rows, others, panels, depth, count, [](auto... operands) { tile_u8s8(operands...); }, left, right, expected);
  }
}

/// What the instruction's description says, with one rounding for each product and sum.
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

/// Numbers of words that `makeWord` gives, against sums with the roundings of the instruction.
template <typename MakeWord, typename ToFloat, typename Multiply> void expectWords(MakeWord makeWord, ToFloat toFloat, Multiply multiply) {
  for (auto [rows, others, panels, depth, count] : {std::array{16, 16, 2, 32, 3}, {1, 0, 1, 2, 1}, {5, 4, 2, 14, 2}, {16, 9, 1, 32, 1}}) {
    const int length = depth * count, columns = 16 * panels;
    std::vector<uint16_t> left(size_t((rows + others) * length)), right(size_t(length * columns));
    for (std::vector<uint16_t> *side : {&left, &right})
      for (uint16_t &word : *side)
        word = makeWord();
    std::vector<float> expected;
    for (int row = 0; row < rows + others; ++row)
      for (int column = 0; column < columns; ++column) {
        float sum = 0;
        for (int piece = 0; piece < count; ++piece) {
          float parts[2] = {0, 0};
          for (int k = 0; k < depth; ++k) {
            float &part = parts[k % 2];
            part = flushed(std::fma(toFloat(left[size_t(row * length + piece * depth + k)]), toFloat(right[size_t((piece * depth + k) * columns + column)]), part));
          }
          sum = flushed(sum + flushed(parts[0] + parts[1]));
        }
        expected.push_back(sum);
      }
    expectBlock<float>(rows, others, panels, depth, count, multiply, left, right, expected);
  }
}

TEST_F(Tiles, ProductsOfBf16AreRoundedAsTheInstructionDoes) {
  std::mt19937 random(4);
  // Numbers from 2^-64 to 2^63, whose products reach the subnormal ones, and some subnormal themselves.
  auto makeWord = [&] {
    return uint16_t((random() % 2 << 15) | (random() % 16 ? (random() % 3 ? 120 + random() % 16 : 63 + random() % 4) << 7 : 0) | random() % 128);
  };
  expectWords(makeWord, [](uint16_t word) { return flushed(bitcast<float>(uint32_t(word) << 16)); }, [](auto... operands) { tile_bf16(operands...); });
}

TEST_F(Tiles, ProductsOfF16AreRoundedAsTheInstructionDoes) {
  std::mt19937 random(5);
  // All finite numbers, one in eight of them subnormal.
  auto makeWord = [&] { return uint16_t((random() % 2 << 15) | (random() % 8 ? 1 + random() % 30 : 0) << 10 | random() % 1024); };
  auto toFloat = [](uint16_t word) {
    int exponent = word >> 10 & 31, digits = word & 1023;
    return std::ldexp(float(exponent ? digits + 1024 : digits), std::max(exponent, 1) - 25) * (word >> 15 ? -1.0f : 1.0f);
  };
  expectWords(makeWord, toFloat, [](auto... operands) { tile_f16(operands...); });
}

} // namespace
