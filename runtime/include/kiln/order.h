// What compilers do not change the order of: a product that is rounded before it is added, a number that waits for another one.
#ifndef KILN_ORDER_H
#define KILN_ORDER_H

#include "kiln/vector.h"

namespace kiln {

// A product as it is: -ffp-contract=fast does not see the sum behind it.
template <typename V> KILN_INLINE V rounded(V product) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__("" : "+v"(product));
#elif defined(__aarch64__)
  // The constraint is for registers of NEON, also where those of SVE are longer.
  if constexpr (sizeof(V) > 16)
    return join(rounded(low_half(product)), rounded(high_half(product)));
  else
    __asm__("" : "+w"(product));
#elif defined(__ARM_FP) && (__ARM_FP & 4)
  // A number of f32 has a register where there is an instruction set for it; vectors have one with MVE or NEON.
  if constexpr (isSame<V, float>)
    __asm__("" : "+t"(product));
#if defined(__ARM_FEATURE_MVE) || defined(__ARM_NEON)
  else if constexpr (sizeof(V) > 16)
    return join(rounded(low_half(product)), rounded(high_half(product)));
  else if constexpr (sizeof(V) == 16)
    __asm__("" : "+w"(product));
#endif
  else
    __asm__("" : "+m"(product));
#else
  __asm__("" : "+m"(product));
#endif
  return product;
}

// x as it is; compilers compute nothing from it before `before` is done. No instruction comes of it.
template <typename V, typename W> KILN_INLINE V after(V x, [[maybe_unused]] W before) {
#if defined(__x86_64__)
  __asm__("" : "+v"(x) : "v"(before));
#elif defined(__aarch64__)
  if constexpr (sizeof(V) <= 16 && sizeof(W) <= 16)
    __asm__("" : "+w"(x) : "w"(before));
#endif
  return x;
}

} // namespace kiln

#endif // KILN_ORDER_H
