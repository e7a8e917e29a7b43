#include "Level.h"
#include "Sweep.h"

#include "kiln/half.h"

using namespace kiln;

namespace {

class Half : public LevelTest {};

bool isNanF16(uint16_t word) { return (word & 0x7fff) > 0x7c00; }
double valueOfF16(uint16_t word) {
  int exponent = word >> 10 & 31, mantissa = word & 1023;
  double magnitude = exponent == 31 ? (mantissa ? NAN : INFINITY)
                     : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                    : std::ldexp(mantissa, -24);
  return word >> 15 ? -magnitude : magnitude;
}

TEST_F(Half, EveryF16ReadsAsItsValueAndComesBack) {
  for (uint32_t i = 0; i < 65536; ++i) {
    uint16_t word = uint16_t(i);
    float expected = float(valueOfF16(word));
    for (float got : {f16_to_f32(word), f16BitsToFloat(word), f16_to_f32(broadcast<u16x8>(word))[3],
                      f16_to_f32(broadcast<u16x16>(word))[11]}) {
      if (isNanF16(word)) {
        ASSERT_TRUE(std::isnan(got)) << i;
        continue;
      }
      ASSERT_EQ(bitcast<uint32_t>(got), bitcast<uint32_t>(expected)) << i;
      ASSERT_EQ(f32_to_f16(got), word);
    }
  }
}

// The nearest f16 by search among the two neighbours below and above.
TEST_F(Half, FloatsRoundToTheNearestF16) {
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4099) {
    float x = sweep::floatOfBits(uint32_t(bits));
    uint16_t word = f32_to_f16(x);
    ASSERT_EQ(word, floatToF16Bits(x)) << x;
    ASSERT_EQ(word, f32_to_f16(broadcast<f32x8>(x))[2]) << x;
    ASSERT_EQ(word, f32_to_f16(broadcast<f32x16>(x))[9]) << x;
    ASSERT_EQ(word, f32_to_f16(broadcast<f32x4>(x))[1]) << x;
    if (std::isnan(x)) {
      ASSERT_TRUE(isNanF16(word));
    } else if (std::fabs(x) >= 65520) {
      ASSERT_EQ(word & 0x7fff, 0x7c00) << x;
    } else {
      double error = std::fabs(valueOfF16(word) - x);
      for (int step : {-1, 1}) {
        uint16_t other = uint16_t(word + step);
        if ((other & 0x8000) != (word & 0x8000) || (other & 0x7fff) >= 0x7c00)
          continue;
        double otherError = std::fabs(valueOfF16(other) - x);
        ASSERT_TRUE(error < otherError || (error == otherError && word % 2 == 0)) << x;
      }
    }
  }
}

TEST_F(Half, FloatsRoundToTheNearestBf16) {
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4099) {
    float x = sweep::floatOfBits(uint32_t(bits));
    uint16_t word = f32_to_bf16(x);
    ASSERT_EQ(word, f32_to_bf16(broadcast<f32x8>(x))[6]);
    float back = bf16_to_f32(word);
    ASSERT_EQ(std::isnan(back), std::isnan(x));
    if (std::isnan(x) || std::isinf(back))
      continue;
    uint32_t rest = uint32_t(bits) & 0xffff, upper = uint32_t(bits) >> 16;
    bool up = rest > 0x8000 || (rest == 0x8000 && upper % 2 == 1);
    ASSERT_EQ(word, uint16_t(upper + up)) << x;
  }
}

// Wide vectors have a conversion of their own, which leaves those with subnormal numbers to the portable one: zeros, subnormal numbers, NaN and infinity
// beside each other, each in every lane.
template <typename V> void expectBf16OfEachLane() {
  const float special[] = {0.0f, -0.0f, 1e-40f, -1e-39f, 0x1.fffffep-127f, 0x1p-126f, NAN, -INFINITY, 3e38f, 3.4e38f, 1.00390625f, 1.01171875f};
  for (float around : {1.5f, 0.0f, 2e-39f})
    for (float x : special)
      for (int lane = 0; lane < lanes<V>; ++lane) {
        V v = broadcast<V>(around);
        v[lane] = x;
        auto words = f32_to_bf16(v);
        for (int i = 0; i < lanes<V>; ++i)
          ASSERT_EQ(words[i], f32_to_bf16_bits(v[i])) << v[i] << " in lane " << i << " of " << lanes<V>;
      }
}

TEST_F(Half, EachLaneRoundsToTheNearestBf16) {
  expectBf16OfEachLane<f32x4>();
  expectBf16OfEachLane<f32x16>();
  expectBf16OfEachLane<vec<float, 32>>();
  expectBf16OfEachLane<vec<float, 64>>();
}

TEST_F(Half, LoadsAndStores) {
  uint16_t words[8], copy[8];
  f32x8 v{0, 1, -2, 3.5f, 65504, -0.0f, 0.25f, 1e-7f};
  store_f16(words, v);
  EXPECT_EQ(words[1], 0x3c00);
  EXPECT_EQ(load_f16<f32x8>(words)[3], 3.5f);
  store_bf16(copy, v);
  EXPECT_EQ(copy[1], 0x3f80);
  EXPECT_EQ(load_bf16<f32x8>(copy)[2], -2);
}

} // namespace
