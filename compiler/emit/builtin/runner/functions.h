// Functions of the C library that kernels may call, and so may the compiler, for programs without one.
#ifndef KILN_RUNNER_FUNCTIONS_H
#define KILN_RUNNER_FUNCTIONS_H

#include <stddef.h>

extern "C" {
__attribute__((no_builtin)) void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
  return to;
}
__attribute__((no_builtin)) void *memmove(void *to, const void *from, size_t bytes) {
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  if (target < source)
    return memcpy(to, from, bytes);
  while (bytes--)
    target[bytes] = source[bytes];
  return to;
}
__attribute__((no_builtin)) void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = char(value);
  return to;
}
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
}

#endif // KILN_RUNNER_FUNCTIONS_H
