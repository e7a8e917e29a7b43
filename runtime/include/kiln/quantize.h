// Real numbers as integers of 8 or 16 bits: to the nearest integer, halves to the even one, plus a zero point, saturated.
#ifndef KILN_QUANTIZE_H
#define KILN_QUANTIZE_H

#include "kiln/integer.h"
#include "kiln/math/round.h"

namespace kiln {

// The nearest integers of numbers that fit int32_t. One instruction where the CPU has it; the mode is round to nearest, as everywhere.
template <typename V> KILN_INLINE with_lane<V, int32_t> nearest_integer(V x) {
#if defined(__AVX512F__)
  if constexpr (lanes<V> == 16)
    return __builtin_ia32_cvtps2dq512_mask(x, with_lane<V, int32_t>{}, uint16_t(-1), 4);
#endif
#if defined(__AVX__)
  if constexpr (lanes<V> == 8)
    return __builtin_ia32_cvtps2dq256(x);
#endif
#if defined(__SSE2__)
  if constexpr (lanes<V> == 4)
    return __builtin_ia32_cvtps2dq(x);
  else if constexpr (lanes<V> > 4)
    return join(nearest_integer(low_half(x)), nearest_integer(high_half(x)));
#endif
  return convert<with_lane<V, int32_t>>(roundeven(x));
}

// The bounds are integers, so that clamping before rounding and after it are the same. NaN gives the lowest integer.
template <typename T, typename To, typename V, typename Zero> KILN_INLINE To quantizeLanes(V x, Zero zero) {
  const V offset = convert<V>(zero);
  const V low = broadcast<V>(float(lowestInt<T>)) - offset, high = broadcast<V>(float(highestInt<T>)) - offset;
  x = select(x > low, x, low);
  x = select(x < high, x, high);
  return convert<To>(nearest_integer(x) + zero);
}
template <typename To, typename V, typename Zero> KILN_INLINE To quantize(V x, Zero zero) {
  return quantizeLanes<lane<To>, To>(x, zero);
}
// The same bits as an unsigned integer has.
template <typename To, typename V, typename Zero> KILN_INLINE To quantize_unsigned(V x, Zero zero) {
  return quantizeLanes<lane<uint_like<To>>, To>(x, zero);
}

} // namespace kiln

#endif // KILN_QUANTIZE_H
