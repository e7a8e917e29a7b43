#include "Level.h"

#include "kiln/dot.h"
#include "kiln/lookup.h"
#include "kiln/quantize.h"

#include <cfloat>
#include <cmath>
#include <random>

using namespace kiln;

namespace {

class Bytes : public LevelTest {};

/// What the nearest integer, halves to the even one, plus the zero point is, saturated.
template <typename T> T expectQuantized(float x, int zero) {
  if (std::isnan(x))
    return std::numeric_limits<T>::min();
  double sum = std::nearbyint(double(x)) + zero;
  return T(std::fmin(std::fmax(sum, std::numeric_limits<T>::min()), std::numeric_limits<T>::max()));
}

template <int Lanes> void expectNearest() {
  using V = vec<float, Lanes>;
  using Zero = vec<int32_t, Lanes>;
  const float special[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 254.5f, 255.5f, 3e9f, -3e9f, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN, 0.49999997f, -0.0f};
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    float x[Lanes];
    for (int i = 0; i < Lanes; ++i)
      x[i] = round < 16 ? special[(round + i) % 16] : float(int(random() % 200001) - 100000) / float(round % 2 ? 2 : 300);
    for (int zero : {0, 128, 255, 3}) {
      alignas(64) uint8_t bytes[Lanes];
      alignas(64) int8_t signs[Lanes];
      alignas(64) int16_t words[Lanes];
      auto unsignedBytes = quantize_unsigned<vec<int8_t, Lanes>>(load<V>(x), broadcast<Zero>(zero));
      __builtin_memcpy(bytes, &unsignedBytes, Lanes);
      store<vec<int8_t, Lanes>>(signs, quantize<vec<int8_t, Lanes>>(load<V>(x), broadcast<Zero>(zero - 128)));
      store<vec<int16_t, Lanes>>(words, quantize<vec<int16_t, Lanes>>(load<V>(x), broadcast<Zero>(-zero)));
      for (int i = 0; i < Lanes; ++i) {
        ASSERT_EQ(bytes[i], expectQuantized<uint8_t>(x[i], zero)) << x[i] << " + " << zero;
        ASSERT_EQ(signs[i], expectQuantized<int8_t>(x[i], zero - 128)) << x[i] << " + " << zero - 128;
        ASSERT_EQ(words[i], expectQuantized<int16_t>(x[i], -zero)) << x[i] << " - " << zero;
      }
    }
  }
}

TEST_F(Bytes, QuantizeRoundsAndSaturates) {
  expectNearest<1>();
  expectNearest<2>();
  expectNearest<4>();
  expectNearest<8>();
  expectNearest<16>();
}

/// With a divisor: the integers of the quotients, also next to where the nearest integer changes, and for what is no finite number.
template <int Lanes> void expectQuotients() {
  using V = vec<float, Lanes>;
  using Zero = vec<int32_t, Lanes>;
  std::mt19937 random(11);
  const float special[] = {INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 0.0f, -0.0f, FLT_MIN, 1e-45f};
  for (int round = 0; round < 40; ++round) {
    float divisor = std::ldexp(1.0f + float(random() % 8388608) / 8388608, int(random() % 40) - 20);
    for (int zero : {0, 131}) {
      for (int first = -270; first < 270; first += Lanes) {
        alignas(64) float x[Lanes], steps[Lanes];
        for (int i = 0; i < Lanes; ++i) {
          x[i] = (float(first + i) + 0.5f) * divisor;
          for (int away = round % 5; away > 0; --away)
            x[i] = std::nextafter(x[i], round % 2 ? INFINITY : -INFINITY);
          if (first < -260)
            x[i] = special[(round + i) % 9];
        }
        alignas(64) uint8_t bytes[Lanes];
        auto unsignedBytes = quantize_unsigned<vec<int8_t, Lanes>>(load<V>(x), divisor, broadcast<Zero>(zero));
        __builtin_memcpy(bytes, &unsignedBytes, Lanes);
        store<V>(steps, quantized_steps<uint8_t>(load<V>(x), divisor, broadcast<Zero>(zero)));
        for (int i = 0; i < Lanes; ++i) {
          uint8_t expected = expectQuantized<uint8_t>(x[i] / divisor, zero);
          ASSERT_EQ(bytes[i], expected) << x[i] << " / " << divisor << " + " << zero;
          ASSERT_EQ(steps[i], float(expected - zero)) << x[i] << " / " << divisor << " + " << zero;
          ASSERT_FALSE(std::signbit(steps[i]) && steps[i] == 0) << x[i];
        }
      }
    }
  }
}

/// Quotients by numbers that are not known before, of any size: the same bits as a division where they are small enough, the same integers elsewhere.
template <int Lanes> void expectComputedQuotients() {
  using V = vec<float, Lanes>;
  using Zero = vec<int32_t, Lanes>;
  std::mt19937 random(17);
  const float special[] = {INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 0.0f, -0.0f, FLT_MIN, 1e-45f};
  for (int round = 0; round < 20000; ++round) {
    float divisor = std::ldexp(1.0f + float(random() % 8388608) / 8388608, int(random() % 260) - 135);
    if (round % 50 == 0)
      divisor = special[random() % 9];
    if (round % 51 == 0)
      divisor = std::nextafter(std::ldexp(1.0f, int(random() % 200) - 99), 0.0f);
    alignas(64) float x[Lanes], quotients[Lanes];
    for (int i = 0; i < Lanes; ++i) {
      float halves = (float(int(random() % 1200)) - 600 + 0.5f) * divisor, any = (float(random()) / 0x1p31f - 1) * 0x1p17f * divisor;
      x[i] = random() % 40 == 0 ? special[random() % 9] : random() % 2 ? any : halves;
      for (int away = int(random() % 4); away > 0; --away)
        x[i] = std::nextafter(x[i], random() % 2 ? INFINITY : -INFINITY);
    }
    V q = quotient(load<V>(x), divisor);
    store<V>(quotients, q);
    alignas(64) int16_t words[Lanes];
    store<vec<int16_t, Lanes>>(words, quantize<vec<int16_t, Lanes>>(q, broadcast<Zero>(-3)));
    for (int i = 0; i < Lanes; ++i) {
      float expected = x[i] / divisor;
      ASSERT_EQ(words[i], expectQuantized<int16_t>(expected, -3)) << x[i] << " / " << divisor;
      if (std::fabs(expected) < 0x1p17f && std::fabs(expected) > 0x1p-20f && divisor >= 0x1p-100f) {
        ASSERT_EQ(quotients[i], expected) << x[i] << " / " << divisor;
      }
    }
  }
}

TEST_F(Bytes, QuotientsByComputedNumbersAreThoseOfDivisions) {
  expectComputedQuotients<4>();
  expectComputedQuotients<8>();
  expectComputedQuotients<16>();
}

TEST_F(Bytes, QuantizeDivides) {
  expectQuotients<1>();
  expectQuotients<4>();
  expectQuotients<8>();
  expectQuotients<16>();
}

template <int Lanes> void expectLookup() {
  using V = vec<int8_t, Lanes>;
  std::mt19937 random(3);
  uint8_t table[256];
  for (uint8_t &byte : table)
    byte = uint8_t(random());
  for (int first = 0; first < 256; ++first) {
    int8_t x[Lanes], found[Lanes];
    for (int i = 0; i < Lanes; ++i)
      x[i] = int8_t(first + 7 * i);
    store<V>(found, lookup(table, load<V>(x)));
    for (int i = 0; i < Lanes; ++i)
      ASSERT_EQ(uint8_t(found[i]), table[uint8_t(x[i])]) << first << " lane " << i;
  }
}

TEST_F(Bytes, LookupFindsEachByte) {
  expectLookup<1>();
  expectLookup<4>();
  expectLookup<8>();
  expectLookup<16>();
  expectLookup<32>();
  expectLookup<64>();
}

template <int Part, int Size> void expectPart(const int8_t (&rows)[4][Size]) {
  using V = vec<int8_t, Size>;
  int8_t woven[Size];
  store<V>(woven, dot_quads<Part>(load<V>(rows[0]), load<V>(rows[1]), load<V>(rows[2]), load<V>(rows[3])));
  for (int i = 0; i < Size; ++i)
    ASSERT_EQ(woven[i], rows[i % 4][Part * Size / 4 + i / 4]) << "part " << Part << " of " << Size << ", byte " << i;
}

template <int Size> void expectQuads() {
  int8_t rows[4][Size];
  for (int row = 0; row < 4; ++row)
    for (int i = 0; i < Size; ++i)
      rows[row][i] = int8_t(64 * row + i);
  expectPart<0>(rows);
  expectPart<1>(rows);
  expectPart<2>(rows);
  expectPart<3>(rows);
}

TEST_F(Bytes, QuadsWeaveRows) {
  expectQuads<8>();
  expectQuads<16>();
  expectQuads<32>();
  expectQuads<64>();
}

/// Each sum with a left side of its own.
template <int Lanes> void expectOwnSides() {
  using V = vec<int32_t, Lanes>;
  using B = vec<int8_t, 4 * Lanes>;
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    int8_t left[4 * Lanes], right[4 * Lanes];
    int32_t one[Lanes], pairs[Lanes];
    for (int i = 0; i < 4 * Lanes; ++i) {
      left[i] = round < 2 ? -1 : int8_t(random());
      right[i] = round < 1 ? -128 : round < 2 ? 127 : int8_t(random());
    }
    store<V>(one, dot_u8s8<Lanes>(load<B>(left), load<B>(right), V{}));
    store<V>(pairs, dot_u8s8_pairs<Lanes>(load<B>(left), load<B>(right), V{}));
    for (int lane = 0; lane < Lanes; ++lane) {
      int32_t expected = 0;
      for (int i = 4 * lane; i < 4 * lane + 4; ++i)
        expected += int32_t(uint8_t(left[i])) * right[i];
      ASSERT_EQ(one[lane], expected) << lane;
      ASSERT_EQ(pairs[lane], expected) << lane;
    }
  }
}

TEST_F(Bytes, DotsOfLanes) {
  expectOwnSides<4>();
  expectOwnSides<8>();
  expectOwnSides<16>();
}

} // namespace
