#include "Level.h"

#include "kiln/fourier.h"

#include <cmath>
#include <vector>

using namespace kiln;

namespace {

class Fourier : public LevelTest {};

#if defined(__AVX512F__)
constexpr int width = 16;
#elif defined(__AVX__)
constexpr int width = 8;
#else
constexpr int width = 4;
#endif

// The factors of the stages as FourierPlan lists them.
std::vector<float> makeTable(int64_t length, const std::vector<int32_t> &radices) {
  std::vector<float> table;
  auto add = [&](int64_t power, int64_t of, bool imaginary) {
    const double angle = -2 * 3.14159265358979323846 * double(power % of) / double(of);
    table.push_back(float(imaginary ? std::sin(angle) : std::cos(angle)));
  };
  int64_t before = 1, after = length;
  for (int64_t radix : radices) {
    after /= radix;
    for (bool imaginary : {false, true})
      for (int64_t j = 1; j < radix; ++j)
        for (int64_t i = 0; i < after; ++i)
          add(j * before * i, length, imaginary);
    for (int64_t power = 0; radix > 5 && power < radix; ++power)
      add(power, radix, false), add(power, radix, true);
    before *= radix;
  }
  return table;
}

std::vector<float> transformed(const std::vector<float> &x, const std::vector<float> &table, int64_t rows, int64_t length, const std::vector<int32_t> &radices,
                               bool alone) {
  std::vector<float> out(x.size()), scratch(size_t((4 * length + 2 * 127) * width));
  for (int64_t row = 0; row < rows; row += alone ? 1 : rows)
    fourier_rows<width>(x.data(), table.data(), out.data(), scratch.data(), 0, row, alone ? row + 1 : rows, length, length, 2, length, 2, 0, 0,
                        radices.data(), int64_t(radices.size()));
  return out;
}

// Lanes along a transform, across the rows of several, and rows that leave lanes idle: always the same bits, near to the sum that defines them.
TEST_F(Fourier, RowsHaveTheSameBitsAloneAndSideBySide) {
  const std::pair<int64_t, std::vector<int32_t>> lengths[] = {{1, {}}, {2, {2}}, {5, {5}}, {42, {2, 3, 7}}, {127, {127}}, {128, {2, 4, 4, 4}}, {900, {4, 3, 3, 5, 5}}};
  for (const auto &[length, radices] : lengths) {
    const int64_t rows = 2 * width + 3;
    std::vector<float> x(size_t(rows * length * 2)), table = makeTable(length, radices);
    uint32_t state = 1;
    for (float &value : x)
      value = float(int32_t(state = state * 1664525u + 1013904223u)) * 0x1p-31f;
    std::vector<float> together = transformed(x, table, rows, length, radices, false), alone = transformed(x, table, rows, length, radices, true);
    EXPECT_EQ(together, alone) << length;
    const int64_t row = rows - 1, k = length / 3;
    double re = 0, im = 0;
    for (int64_t i = 0; i < length; ++i) {
      const double angle = -2 * 3.14159265358979323846 * double(i * k % length) / double(length), a = x[size_t((row * length + i) * 2)],
                   b = x[size_t((row * length + i) * 2 + 1)];
      re += a * std::cos(angle) - b * std::sin(angle);
      im += a * std::sin(angle) + b * std::cos(angle);
    }
    EXPECT_NEAR(together[size_t((row * length + k) * 2)], re, 2e-6 * std::sqrt(double(length)));
    EXPECT_NEAR(together[size_t((row * length + k) * 2 + 1)], im, 2e-6 * std::sqrt(double(length)));
  }
}

} // namespace
