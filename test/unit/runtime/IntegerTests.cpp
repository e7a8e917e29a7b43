#include "Level.h"

#include "kiln/integer.h"

#include <cmath>
#include <limits>

using namespace kiln;

namespace {

template <typename T> class Integer : public LevelTest {};
using IntegerTypes = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Integer, IntegerTypes);

TYPED_TEST(Integer, DivisionAgreesWithFloorAndNeverTraps) {
  using T = TypeParam;
  using V = vec<T, 8>;
  const T lowest = std::numeric_limits<T>::min(), highest = std::numeric_limits<T>::max();
  const T values[] = {T(0), T(1), T(2), T(3), T(7), T(-1), T(-2), T(-7), lowest, T(lowest + 1), highest, T(highest - 1)};
  for (T a : values)
    for (T b : values) {
      T quotient = floor_div(a, b), remainder = floor_mod(a, b);
      if (b == 0) {
        EXPECT_EQ(quotient, 0);
        EXPECT_EQ(remainder, 0);
      } else if (a == lowest && b == T(-1) && std::is_signed_v<T>) {
        EXPECT_EQ(quotient, lowest);
        EXPECT_EQ(remainder, 0);
      } else {
        EXPECT_EQ(T(quotient * b + remainder), a);
        EXPECT_TRUE(remainder == 0 || (remainder < 0) == (b < 0)) << +a << " mod " << +b;
        EXPECT_EQ(kiln::div(a, b), T(a / b));
        EXPECT_EQ(rem(a, b), T(a % b));
      }
      EXPECT_EQ(floor_div(broadcast<V>(a), broadcast<V>(b))[3], quotient);
      EXPECT_EQ(floor_mod(broadcast<V>(a), broadcast<V>(b))[3], remainder);
    }
}

template <typename To, typename From> void checkSaturation(From x) {
  long double wide = std::trunc(static_cast<long double>(x));
  To expected = std::isnan(wide)                                    ? To(0)
                : wide >= static_cast<long double>(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
                : wide <= static_cast<long double>(std::numeric_limits<To>::min()) ? std::numeric_limits<To>::min()
                                                                    : To(wide);
  EXPECT_EQ(saturate<To>(x), expected) << +x;
  using Out = vec<To, 8>;
  using In = vec<From, 8>;
  EXPECT_EQ(saturate<Out>(broadcast<In>(x))[5], expected) << +x;
}

TYPED_TEST(Integer, ConversionsSaturate) {
  using T = TypeParam;
  for (float x : {0.0f, -0.9f, 1.5f, -1.5f, 127.9f, 128.0f, -128.9f, -129.0f, 255.5f, 256.0f, 65535.9f, 2147483520.0f, 2147483648.0f,
                  -2147483648.0f, 4294967040.0f, 4294967296.0f, 9.2e18f, 9.3e18f, -9.3e18f, 1.8e19f, 1e30f, -1e30f, INFINITY,
                  -INFINITY, NAN})
    checkSaturation<T>(x);
  for (double x : {0.0, 127.99, 2147483647.9, -2147483648.9, 4294967295.9, 9223372036854774784.0, 9223372036854775808.0,
                   -9223372036854775808.0, 18446744073709549568.0, 18446744073709551616.0, 1e300, -1e300, double(NAN)})
    checkSaturation<T>(x);
  for (int64_t x : {int64_t(0), int64_t(-1), int64_t(127), int64_t(128), int64_t(-129), int64_t(65536), INT64_MAX, INT64_MIN})
    checkSaturation<T>(x);
  for (int32_t x : {0, -1, 255, 256, -32769, INT32_MAX, INT32_MIN})
    checkSaturation<T>(x);
  for (uint32_t x : {0u, 128u, 65536u, UINT32_MAX})
    checkSaturation<T>(x);
  for (uint64_t x : {uint64_t(0), uint64_t(1) << 63, UINT64_MAX})
    checkSaturation<T>(x);
  for (int x : {-128, -1, 0, 127})
    checkSaturation<T>(int8_t(x));
}

} // namespace
