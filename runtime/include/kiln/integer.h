// Integer division that cannot trap, and conversions that saturate. For scalars and vectors.
#ifndef KILN_INTEGER_H
#define KILN_INTEGER_H

#include "kiln/vector.h"

namespace kiln {

template <typename V> inline constexpr bool isSigned = lane<V>(-1) < lane<V>(0);
template <typename T>
inline constexpr T lowestInt = isSigned<T> ? T(uint64_t(1) << (8 * sizeof(T) - 1)) : T(0);
template <typename T> inline constexpr T highestInt = T(~lowestInt<T>);

template <typename V> KILN_INLINE V negateWrapped(V x) {
  return bitcast<V>(uint_like<V>(uint_like<V>{} - bitcast<uint_like<V>>(x)));
}

template <typename V> struct Division {
  V quotient;
  V remainder;
};
// Towards zero. x / 0 is 0 with remainder 0, as NumPy has it; the lowest integer / -1 wraps.
template <typename V> KILN_INLINE Division<V> divide(V a, V b) {
  auto byZero = b == V{};
  V divisor = select(byZero, broadcast<V>(1), b);
  if constexpr (isSigned<V>) {
    auto negates = b == broadcast<V>(lane<V>(-1));
    divisor = select(negates, broadcast<V>(1), divisor);
    V quotient = a / divisor;
    V remainder = a - quotient * divisor;
    return {select(byZero, V{}, select(negates, negateWrapped(a), quotient)), select(byZero | negates, V{}, remainder)};
  } else {
    V quotient = a / divisor;
    return {select(byZero, V{}, quotient), select(byZero, V{}, V(a - quotient * divisor))};
  }
}
template <typename V> KILN_INLINE V div(V a, V b) { return divide(a, b).quotient; }
template <typename V> KILN_INLINE V rem(V a, V b) { return divide(a, b).remainder; }

// Towards minus infinity; the remainder has the sign of b.
template <typename V> KILN_INLINE Division<V> floorDivide(V a, V b) {
  Division<V> d = divide(a, b);
  if constexpr (isSigned<V>) {
    auto below = (d.remainder != V{}) & ((d.remainder < V{}) != (b < V{}));
    d.quotient = select(below, V(d.quotient - lane<V>(1)), d.quotient);
    d.remainder = select(below, V(d.remainder + b), d.remainder);
  }
  return d;
}
template <typename V> KILN_INLINE V floor_div(V a, V b) { return floorDivide(a, b).quotient; }
template <typename V> KILN_INLINE V floor_mod(V a, V b) { return floorDivide(a, b).remainder; }

// The nearest value of To's lane type; fractions are dropped, NaN gives 0.
template <typename To, typename From> KILN_INLINE To saturate(From x) {
  using T = lane<To>;
  using F = lane<From>;
  if constexpr (isSame<F, float> || isSame<F, double>) {
    // Bounds as floats: the lowest is exact, the first number too large is a power of two.
    constexpr F low = F(lowestInt<T>), tooLarge = F(highestInt<T> / 2 + 1) * 2;
    auto above = x >= tooLarge;
    From inside = select((x > low) & (x < tooLarge), x, From{});
    To result;
    if constexpr (sizeof(T) < sizeof(F)) // by way of a lane of the same size
      result = convert<To>(convert<int_like<From>>(inside));
    else
      result = convert<To>(inside);
    result = select(above, broadcast<To>(highestInt<T>), result);
    return select(x <= low, broadcast<To>(lowestInt<T>), result);
  } else {
    // A bound is tested only where From reaches beyond it.
    if constexpr (isSigned<From> && (!isSigned<To> || sizeof(T) < sizeof(F)))
      x = max(x, broadcast<From>(isSigned<To> ? F(lowestInt<T>) : F(0)));
    if constexpr (sizeof(T) < sizeof(F) || (sizeof(T) == sizeof(F) && isSigned<To> && !isSigned<From>))
      x = min(x, broadcast<From>(F(highestInt<T>)));
    return convert<To>(x);
  }
}

} // namespace kiln

#endif // KILN_INTEGER_H
