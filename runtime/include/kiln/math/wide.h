// Float functions computed in double where float would need several words: the result then is correct to the
// last bit almost always, at half the lanes.
#ifndef KILN_MATH_WIDE_H
#define KILN_MATH_WIDE_H

#include "kiln/math/real.h"

namespace kiln {

// F::apply(double vectors...) on float vectors, split until their doubles fit a register.
template <typename F, typename V, typename... More> KILN_INLINE V throughDouble(V x, More... more) {
  using Wide = with_lane<V, double>;
  if constexpr (lanes<V> > 1 && sizeof(Wide) > vectorBytes)
    return join(throughDouble<F>(low_half(x), low_half(more)...), throughDouble<F>(high_half(x), high_half(more)...));
  else
    return convert<V>(F::apply(convert<Wide>(x), convert<Wide>(more)...));
}

} // namespace kiln

#endif // KILN_MATH_WIDE_H
