#include "Level.h"

#include "kiln/dot.h"

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
    int32_t sums[Lanes], one[Lanes], pairs[Lanes], signedOne[Lanes], signedPairs[Lanes];
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
    for (int lane = 0; lane < Lanes; ++lane) {
      int32_t expected = sums[lane], other = sums[lane];
      for (int i = 0; i < 4; ++i) {
        expected += int32_t(uint8_t(left[i])) * right[4 * lane + i];
        other += left[i] * int32_t(uint8_t(right[4 * lane + i]));
      }
      ASSERT_EQ(one[lane], expected) << lane;
      ASSERT_EQ(pairs[lane], expected) << lane;
      ASSERT_EQ(signedOne[lane], other) << lane;
      ASSERT_EQ(signedPairs[lane], other) << lane;
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

} // namespace
