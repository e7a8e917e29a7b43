#include "Level.h"

#include "kiln/math.h"
#include "kiln/partial.h"

#include <cmath>

using namespace kiln;

namespace {

template <typename V> class Vector : public LevelTest {};
using VectorTypes = testing::Types<f32x4, f32x8, f32x16, f64x2, f64x4, f64x8, i32x4, i32x8, i32x16, i64x4, i8x16, u8x32, float>;
TYPED_TEST_SUITE(Vector, VectorTypes);

template <typename V> V counting(int from) {
  lane<V> values[lanes<V>];
  for (int i = 0; i < lanes<V>; ++i)
    values[i] = lane<V>(from + i);
  return load<V>(values);
}

TYPED_TEST(Vector, PartialAccessTouchesNothingElse) {
  using V = TypeParam;
  using T = lane<V>;
  for (int count = 0; count <= lanes<V>; ++count) {
    T from[lanes<V> + 1], to[lanes<V> + 1], all[lanes<V>];
    for (int i = 0; i <= lanes<V>; ++i) {
      from[i] = T(i + 1);
      to[i] = T(99);
    }
    V value = load_partial<V>(from, count, T(7));
    store(all, value);
    store_partial<V>(to, counting<V>(1), count);
    for (int i = 0; i < lanes<V>; ++i) {
      EXPECT_EQ(all[i], i < count ? T(i + 1) : T(7)) << count;
      EXPECT_EQ(to[i], i < count ? T(i + 1) : T(99)) << count;
    }
  }
}

TYPED_TEST(Vector, Reductions) {
  using V = TypeParam;
  using T = lane<V>;
  V v = counting<V>(1);
  EXPECT_EQ(reduce_add(v), T(lanes<V> * (lanes<V> + 1) / 2));
  EXPECT_EQ(reduce_max(v), T(lanes<V>));
  EXPECT_EQ(reduce_min(v), T(1));
  EXPECT_EQ(reduce_mul(broadcast<V>(T(1))), T(1));
}

TYPED_TEST(Vector, SelectTakesLanesByMask) {
  using V = TypeParam;
  using T = lane<V>;
  V v = counting<V>(0), limit = broadcast<V>(T(1));
  V chosen = select(v < limit, v, V(v + limit));
  T all[lanes<V>];
  store(all, chosen);
  for (int i = 0; i < lanes<V>; ++i)
    EXPECT_EQ(all[i], T(i < 1 ? i : i + 1));
}

class VectorValues : public LevelTest {};

// 1 + 2^-24 is lost when added alone but not beside its like: the order of the tree shows.
TEST_F(VectorValues, SumOrderIsFixed) {
  const float tiny = 0x1p-24f;
  EXPECT_EQ(reduce_add(f32x4{1, tiny, tiny, tiny}), (1 + tiny) + (tiny + tiny));
  EXPECT_EQ(reduce_add(f32x4{1, 0, tiny, tiny}), (1 + tiny) + (0 + tiny));
}

TEST_F(VectorValues, MinAndMaxPassNaNOn) {
  for (int i = 0; i < 16; ++i) {
    f32x16 v{}, other = broadcast<f32x16>(1);
    v[i] = NAN;
    EXPECT_TRUE(std::isnan(max(v, other)[i]) && std::isnan(max(other, v)[i]));
    EXPECT_TRUE(std::isnan(min(v, other)[i]) && std::isnan(min(other, v)[i]));
    EXPECT_TRUE(std::isnan(reduce_max(v)) && std::isnan(reduce_min(v))) << i;
  }
  EXPECT_TRUE(std::isnan(max(NAN, 1.0f)) && std::isnan(max(1.0f, NAN)));
  EXPECT_TRUE(std::isnan(min(double(NAN), 1.0)) && std::isnan(min(1.0, double(NAN))));
  EXPECT_EQ(max(2, 3), 3);
}

TEST_F(VectorValues, MasksOfOtherLaneSizes) {
  i32x4 mask = f32x4{0, 1, 2, 3} > broadcast<f32x4>(1);
  f64x4 chosen = select(mask, broadcast<f64x4>(1), broadcast<f64x4>(0));
  EXPECT_EQ(chosen[1], 0);
  EXPECT_EQ(chosen[2], 1);
  EXPECT_TRUE(any(mask) && !all(mask));
  EXPECT_TRUE(all(mask | ~mask) && !any(mask & ~mask));
}

TEST_F(VectorValues, HalvesAndJoin) {
  f32x8 v = counting<f32x8>(0);
  EXPECT_EQ(low_half(v)[3], 3);
  EXPECT_EQ(high_half(v)[0], 4);
  f32x8 swapped = join(high_half(v), low_half(v));
  EXPECT_EQ(swapped[0], 4);
  EXPECT_EQ(swapped[7], 3);
}

TEST_F(VectorValues, BroadcastKeepsTheSignOfZero) { EXPECT_TRUE(std::signbit(broadcast<f32x8>(-0.0f)[5])); }

TEST_F(VectorValues, FusedMultiplyAddIsTheSameInEveryWidth) {
  float a = 1 + 0x1p-12f, c = -1;
  float scalar = fma(a, a, c);
  EXPECT_EQ(fma(broadcast<f32x4>(a), broadcast<f32x4>(a), broadcast<f32x4>(c))[1], scalar);
  EXPECT_EQ(fma(broadcast<f32x8>(a), broadcast<f32x8>(a), broadcast<f32x8>(c))[1], scalar);
  EXPECT_EQ(fma(broadcast<f32x16>(a), broadcast<f32x16>(a), broadcast<f32x16>(c))[1], scalar);
  EXPECT_EQ(copysign(broadcast<f64x4>(2.0), broadcast<f64x4>(-0.0))[3], -2.0);
}

} // namespace
