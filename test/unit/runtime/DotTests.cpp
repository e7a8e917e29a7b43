#include "Level.h"

#include "kiln/dot.h"
#include "kiln/pairs.h"

#include <random>

using namespace kiln;

namespace {

class Dot : public LevelTest {};

/// The steps against plain loops, for bytes at the ends of their range and for random ones.
template <int Lanes> void expectSums() {
  using V = vec<int32_t, Lanes>;
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    int8_t left[4], right[4 * Lanes];
    int32_t sums[Lanes], one[Lanes], pairs[Lanes], signedOne[Lanes], signedPairs[Lanes], bothSigned[Lanes];
    for (int8_t &byte : left)
      byte = round < 4 ? -1 : int8_t(random());
    for (int8_t &byte : right)
      byte = round < 2 ? -128 : round < 4 ? 127 : int8_t(random());
    for (int32_t &sum : sums)
      sum = int32_t(random() % 2000001) - 1000000;
    auto a = load<vec<int8_t, 4>>(left);
    auto b = load<vec<int8_t, 4 * Lanes>>(right);
    store<V>(one, dot_u8s8<Lanes>(a, b, load<V>(sums)));
    store<V>(pairs, dot_u8s8_pairs<Lanes>(a, b, load<V>(sums)));
    store<V>(signedOne, dot_s8u8<Lanes>(a, b, load<V>(sums)));
    store<V>(signedPairs, dot_s8u8_pairs<Lanes>(a, b, load<V>(sums)));
    store<V>(bothSigned, dot_s8s8<Lanes>(a, b, load<V>(sums)));
    for (int lane = 0; lane < Lanes; ++lane) {
      int32_t expected = sums[lane], other = sums[lane], both = sums[lane];
      for (int i = 0; i < 4; ++i) {
        both += left[i] * right[4 * lane + i];
        expected += int32_t(uint8_t(left[i])) * right[4 * lane + i];
        other += left[i] * int32_t(uint8_t(right[4 * lane + i]));
      }
      ASSERT_EQ(one[lane], expected) << lane;
      ASSERT_EQ(pairs[lane], expected) << lane;
      ASSERT_EQ(signedOne[lane], other) << lane;
      ASSERT_EQ(signedPairs[lane], other) << lane;
      ASSERT_EQ(bothSigned[lane], both) << lane;
    }
  }
}

TEST_F(Dot, NothingSaturates) {
  expectSums<4>();
#if KILN_TEST_LEVEL >= 3
  expectSums<8>();
#endif
#if KILN_TEST_LEVEL >= 4
  expectSums<16>();
#endif
}

TEST_F(Dot, ManyProductsOfASingleSum) {
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    int8_t left[16], right[16];
    for (int8_t &byte : left)
      byte = round < 4 ? int8_t(round % 2 ? -128 : -1) : int8_t(random());
    for (int8_t &byte : right)
      byte = round < 2 ? -128 : round < 4 ? 127 : int8_t(random());
    const int32_t sum = int32_t(random() % 2000001) - 1000000;
    int32_t eights = sum, unsignedSum = sum, fours = sum, signedFours = sum;
    for (int i = 0; i < 16; ++i) {
      eights += left[i] * right[i];
      unsignedSum += int32_t(uint8_t(left[i])) * right[i];
      if (i == 7) {
        ASSERT_EQ(dot_s8s8_eights<1>(load<vec<int8_t, 8>>(left), load<vec<int8_t, 8>>(right), sum), eights) << round;
      }
    }
    ASSERT_EQ(dot_s8s8_sixteens<1>(load<vec<int8_t, 16>>(left), load<vec<int8_t, 16>>(right), sum), eights) << round;
    // The fours of a single sum, which is no vector.
    for (int i = 0; i < 16; i += 4) {
      fours = dot_u8s8_pairs<1>(load<vec<int8_t, 4>>(left + i), load<vec<int8_t, 4>>(right + i), fours);
      signedFours = dot_s8s8<1>(load<vec<int8_t, 4>>(left + i), load<vec<int8_t, 4>>(right + i), signedFours);
    }
    ASSERT_EQ(fours, unsignedSum) << round;
    ASSERT_EQ(signedFours, eights) << round;
  }
}

/// The form for bounded weights, with pairs at the bounds and activations of all sizes.
template <int Lanes> void expectBoundedSums() {
  using V = vec<int32_t, Lanes>;
  constexpr int8_t pairs[][2] = {{127, 1}, {1, 127}, {64, 64}, {-128, 0}, {0, -128}, {-64, -64}, {-127, -1}, {127, -128}, {-128, 127}, {7, -3}};
  std::mt19937 random(8);
  for (int round = 0; round < 500; ++round) {
    int8_t left[4], right[4 * Lanes];
    int32_t sums[Lanes], got[Lanes], pairwise[Lanes];
    for (int8_t &byte : left)
      byte = round < 50 ? -1 : int8_t(random());
    for (int i = 0; i < 2 * Lanes; ++i) {
      const int8_t *pair = pairs[random() % 10];
      right[2 * i] = pair[0];
      right[2 * i + 1] = pair[1];
    }
    for (int32_t &sum : sums)
      sum = int32_t(random() % 2000001) - 1000000;
    auto a = load<vec<int8_t, 4>>(left);
    auto b = load<vec<int8_t, 4 * Lanes>>(right);
    store<V>(got, dot_u8s8_bounded<Lanes>(a, b, load<V>(sums)));
    store<V>(pairwise, dot_u8s8_pairs<Lanes>(a, b, load<V>(sums)));
    for (int lane = 0; lane < Lanes; ++lane) {
      int32_t expected = sums[lane];
      for (int i = 0; i < 4; ++i)
        expected += int32_t(uint8_t(left[i])) * right[4 * lane + i];
      ASSERT_EQ(got[lane], expected) << lane;
      ASSERT_EQ(pairwise[lane], expected) << lane;
    }
  }
}

/// The same for weights of seven bits without a sign, the largest ones among them.
template <int Lanes> void expectSumsOfSevenBits() {
  using V = vec<int32_t, Lanes>;
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    int8_t left[4], right[4 * Lanes];
    int32_t sums[Lanes], got[Lanes];
    for (int8_t &byte : left)
      byte = round < 50 ? -128 : round < 100 ? 127 : int8_t(random());
    for (int8_t &byte : right)
      byte = round % 2 ? 127 : int8_t(random() & 127);
    for (int32_t &sum : sums)
      sum = int32_t(random() % 2000001) - 1000000;
    store<V>(got, dot_s8u8_bounded<Lanes>(load<vec<int8_t, 4>>(left), load<vec<int8_t, 4 * Lanes>>(right), load<V>(sums)));
    for (int lane = 0; lane < Lanes; ++lane) {
      int32_t expected = sums[lane];
      for (int i = 0; i < 4; ++i)
        expected += left[i] * right[4 * lane + i];
      ASSERT_EQ(got[lane], expected) << lane;
    }
  }
}

TEST_F(Dot, BoundedWeightsDoNotSaturate) {
  expectBoundedSums<4>();
  expectSumsOfSevenBits<4>();
#if KILN_TEST_LEVEL >= 3
  expectBoundedSums<8>();
  expectSumsOfSevenBits<8>();
#endif
#if KILN_TEST_LEVEL >= 4
  expectBoundedSums<16>();
  expectSumsOfSevenBits<16>();
#endif
}

/// Small whole numbers, whose products and sums are exact however they are rounded.
template <int Lanes> void expectSumsOfBf16() {
  using V = vec<float, Lanes>;
  std::mt19937 random(7);
  auto toBf16 = [](int number) { return uint16_t(bitcast<uint32_t>(float(number)) >> 16); };
  for (int round = 0; round < 500; ++round) {
    int left[2], right[2 * Lanes];
    vec<uint16_t, 2> a{};
    vec<uint16_t, 2 * Lanes> b{};
    V sum{};
    for (int i = 0; i < 2; ++i)
      a[i] = toBf16(left[i] = int(random() % 255) - 127);
    for (int i = 0; i < 2 * Lanes; ++i)
      b[i] = toBf16(right[i] = int(random() % 255) - 127);
    for (int lane = 0; lane < Lanes; ++lane)
      sum[lane] = float(lane * 1000 - 3);
    V got = dot_bf16<Lanes>(a, b, sum);
    for (int lane = 0; lane < Lanes; ++lane)
      ASSERT_EQ(got[lane], sum[lane] + float(left[0] * right[2 * lane] + left[1] * right[2 * lane + 1])) << lane;
  }
}

TEST_F(Dot, Bf16SumsPairs) {
  expectSumsOfBf16<4>();
#if KILN_TEST_LEVEL >= 3
  expectSumsOfBf16<8>();
#endif
#if KILN_TEST_LEVEL >= 4
  expectSumsOfBf16<16>();
#endif
}

/// Two rows by two columns of `Depth` products, against a plain loop; `make` makes an element of a whole number.
template <typename Element, typename V, int Depth, typename Step, typename MakeLeft, typename MakeRight>
void expectPairs(Step step, MakeLeft makeLeft, MakeRight makeRight) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    int left[2 * Depth], right[2 * Depth];
    vec<Element, 2 * Depth> a{}, b{};
    for (int i = 0; i < 2 * Depth; ++i) {
      left[i] = round < 2 ? 255 : int(random() % 256);
      right[i] = round == 0 ? -128 : round == 1 ? 127 : int(random() % 256) - 128;
      a[i] = makeLeft(left[i]);
      b[i] = makeRight(right[i]);
    }
    V sum{1, -2, 300000, -400000};
    V got = step(a, b, sum);
    for (int i = 0; i < 4; ++i) {
      int expected = int(sum[i]);
      for (int j = 0; j < Depth; ++j)
        expected += left[i / 2 * Depth + j] * right[i % 2 * Depth + j];
      ASSERT_EQ(got[i], lane<V>(expected)) << i;
    }
  }
}

TEST_F(Dot, PairsOfRowsAndColumns) {
  auto toByte = [](int number) { return int8_t(number); };
  auto toBf16 = [](int number) { return uint16_t(bitcast<uint32_t>(float(number)) >> 16); };
  expectPairs<int8_t, vec<int32_t, 4>, 8>([](auto a, auto b, auto sum) { return pair_u8s8<4>(a, b, sum); }, toByte, toByte);
  expectPairs<uint16_t, vec<float, 4>, 4>([](auto a, auto b, auto sum) { return pair_bf16<4>(a, b, sum); }, toBf16, toBf16);
}

/// Steps of any number of words, against the same sum in their order; `make` makes a word of a whole number.
template <int Lanes, int Words, typename Step, typename Make> void expectSumsOfWords(Step step, Make make) {
  using V = vec<float, Lanes>;
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    int left[Words], right[Words * Lanes];
    vec<uint16_t, Words> a{};
    vec<uint16_t, Words * Lanes> b{};
    for (int i = 0; i < Words; ++i)
      a[i] = make(left[i] = int(random() % 255) - 127);
    for (int i = 0; i < Words * Lanes; ++i)
      b[i] = make(right[i] = int(random() % 255) - 127);
    V got = step(a, b, V{} + 5.0f);
    for (int lane = 0; lane < Lanes; ++lane) {
      int expected = 5;
      for (int i = 0; i < Words; ++i)
        expected += left[i] * right[Words * lane + i];
      ASSERT_EQ(got[lane], float(expected)) << lane;
    }
  }
}

TEST_F(Dot, StepsOfSeveralWords) {
  auto toF16 = [](int number) { return f32_to_f16(float(number)); };
  auto toBf16 = [](int number) { return f32_to_bf16(float(number)); };
  expectSumsOfWords<4, 2>([](auto a, auto b, auto sum) { return dot_f16<4>(a, b, sum); }, toF16);
  expectSumsOfWords<8, 4>([](auto a, auto b, auto sum) { return dot_f16<8>(a, b, sum); }, toF16);
  expectSumsOfWords<4, 4>([](auto a, auto b, auto sum) { return dot_bf16_fours<4>(a, b, sum); }, toBf16);
  expectSumsOfWords<16, 4>([](auto a, auto b, auto sum) { return dot_bf16_fours<16>(a, b, sum); }, toBf16);
}

} // namespace
