// What macOS says about 64-bit Arm.
#ifndef KILN_CPU_APPLE_H
#define KILN_CPU_APPLE_H

#include "kiln/cpu.h"

extern "C" int kiln_sysctlbyname(const char *name, void *value, size_t *size, void *changed, size_t changed_size) __asm__("_sysctlbyname");

namespace kiln::cpu {

// All features that the CPU has. Those of the first of these computers are not asked for, because older systems have no names for them.
static inline set read() {
#define KILN_FEATURE(id, name, driver, word, bit, apple, windows) apple[0] ? "hw.optional.arm." apple : "",
  constexpr const char *names[] = {KILN_AARCH64_FEATURES(KILN_FEATURE)};
#undef KILN_FEATURE
  set have = with(fullfp16, dotprod, fp16fml);
  for (int i = 0; i < num_aarch64_features; ++i) {
    int32_t value = 0;
    size_t size = sizeof(value);
    if (*names[i] && kiln_sysctlbyname(names[i], &value, &size, nullptr, 0) == 0)
      have |= set(value != 0) << i;
  }
  return have;
}

} // namespace kiln::cpu

#endif // KILN_CPU_APPLE_H
