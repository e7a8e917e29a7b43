// Functions of the C library that kernels may call, and so may the compiler, for programs without one. Behind the header of the system, which stops programs.
#ifndef KILN_RUNNER_FUNCTIONS_H
#define KILN_RUNNER_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

// The compiler must not make calls of the loops in here.
#define KILN_LOOP __attribute__((no_builtin, noinline)) static

// Flags for MVE keep the compiler from making vectors of loops, which these may be: they compare nothing.
#if defined(__ARM_FEATURE_MVE) && defined(__clang__)
#define KILN_VECTORIZED _Pragma("clang loop vectorize(enable)")
#else
#define KILN_VECTORIZED
#endif

KILN_LOOP void *copyUp(void *to, const void *from, size_t bytes) {
  KILN_VECTORIZED
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
  return to;
}
KILN_LOOP void *copyAnyWay(void *to, const void *from, size_t bytes) {
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  if (target < source)
    return copyUp(to, from, bytes);
  while (bytes--)
    target[bytes] = source[bytes];
  return to;
}
KILN_LOOP void *fill(void *to, int value, size_t bytes) {
  KILN_VECTORIZED
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = char(value);
  return to;
}

extern "C" {
void *memcpy(void *to, const void *from, size_t bytes) { return copyUp(to, from, bytes); }
void *memmove(void *to, const void *from, size_t bytes) { return copyAnyWay(to, from, bytes); }
void *memset(void *to, int value, size_t bytes) { return fill(to, value, bytes); }
__attribute__((no_builtin)) int memcmp(const void *a, const void *b, size_t bytes) {
  const unsigned char *x = static_cast<const unsigned char *>(a), *y = static_cast<const unsigned char *>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}
__attribute__((no_builtin)) size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  return length;
}

#if defined(__arm__)
// The compilers' names for these, and what their library of arithmetic may call.
void __aeabi_memcpy(void *to, const void *from, size_t bytes) { copyUp(to, from, bytes); }
void __aeabi_memcpy4(void *to, const void *from, size_t bytes) { copyUp(to, from, bytes); }
void __aeabi_memcpy8(void *to, const void *from, size_t bytes) { copyUp(to, from, bytes); }
void __aeabi_memmove(void *to, const void *from, size_t bytes) { copyAnyWay(to, from, bytes); }
void __aeabi_memmove4(void *to, const void *from, size_t bytes) { copyAnyWay(to, from, bytes); }
void __aeabi_memmove8(void *to, const void *from, size_t bytes) { copyAnyWay(to, from, bytes); }
void __aeabi_memset(void *to, size_t bytes, int value) { fill(to, value, bytes); }
void __aeabi_memset4(void *to, size_t bytes, int value) { fill(to, value, bytes); }
void __aeabi_memset8(void *to, size_t bytes, int value) { fill(to, value, bytes); }
void __aeabi_memclr(void *to, size_t bytes) { fill(to, 0, bytes); }
void __aeabi_memclr4(void *to, size_t bytes) { fill(to, 0, bytes); }
void __aeabi_memclr8(void *to, size_t bytes) { fill(to, 0, bytes); }
int raise(int) { stop(4); }
void __aeabi_unwind_cpp_pr0() {}
void __aeabi_unwind_cpp_pr1() {}
#endif

#if (defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && __riscv_xlen == 32)
// There is one thread.
bool __atomic_compare_exchange_4(volatile void *at, void *expected, unsigned wanted, bool, int, int) {
  volatile unsigned &value = *static_cast<volatile unsigned *>(at);
  unsigned &known = *static_cast<unsigned *>(expected);
  const bool isKnown = value == known;
  if (isKnown)
    value = wanted;
  else
    known = value;
  return isKnown;
}

// The root of a mantissa with one bit more than a float has; a tie cannot be.
float sqrtf(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  if (bits << 1 == 0 || (bits >> 23 & 255) == 255)
    return bits == 0xff800000 ? __builtin_nanf("") : x;
  if (bits >> 31)
    return __builtin_nanf("");
  int32_t exponent = int32_t(bits >> 23);
  uint32_t mantissa = bits & 0x7fffff;
  if (exponent == 0)
    for (exponent = 1; !(mantissa >> 23); --exponent)
      mantissa <<= 1;
  mantissa |= 1u << 23;
  exponent -= 127;
  if (exponent & 1) {
    mantissa <<= 1;
    --exponent;
  }
  const uint64_t square = uint64_t(mantissa) << 25;
  uint64_t root = 0;
  for (uint64_t bit = uint64_t(1) << 25; bit; bit >>= 1)
    if ((root | bit) * (root | bit) <= square)
      root |= bit;
  return __builtin_bit_cast(float, (uint32_t(exponent / 2 + 127) << 23) + uint32_t((root + 1) >> 1) - (1u << 23));
}
#endif
}

#undef KILN_LOOP

#endif // KILN_RUNNER_FUNCTIONS_H
