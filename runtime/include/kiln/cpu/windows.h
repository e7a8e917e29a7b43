// What Windows says about 64-bit Arm.
#ifndef KILN_CPU_WINDOWS_H
#define KILN_CPU_WINDOWS_H

#include "kiln/cpu.h"

extern "C" int kiln_IsProcessorFeaturePresent(unsigned long feature) __asm__("IsProcessorFeaturePresent");

namespace kiln::cpu {

// All features that Windows reports; older ones know fewer.
static inline set read() {
#define KILN_FEATURE(id, name, driver, word, bit, apple, windows) windows,
  constexpr uint8_t numbers[] = {KILN_AARCH64_FEATURES(KILN_FEATURE)};
#undef KILN_FEATURE
  set have = 0;
  for (int i = 0; i < num_aarch64_features; ++i)
    have |= set(numbers[i] && kiln_IsProcessorFeaturePresent(numbers[i])) << i;
  return have;
}

} // namespace kiln::cpu

#endif // KILN_CPU_WINDOWS_H
