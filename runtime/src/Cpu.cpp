#include "kiln/runtime.h"

#include "kiln/cpu.h"

namespace {

// Whether two names have the same letters and digits: avx512_vnni is avx512vnni, and sse4_2 is sse4.2.
bool isSameName(const char *a, const char *b) {
  const auto skip = [](const char *text) {
    while (*text == '_' || *text == '-' || *text == '.')
      ++text;
    return text;
  };
  for (a = skip(a), b = skip(b); *a && *a == *b; a = skip(a + 1), b = skip(b + 1)) {
  }
  return *a == *b;
}

// Bit `index` of the features is the one of this name; -1: no name of that architecture.
template <int count> int findFeature(const char *const (&names)[count], const char *name) {
  for (int i = 0; i < count; ++i)
    if (isSameName(names[i], name))
      return i;
  return -1;
}

bool hasFeature(const char *name) {
#if defined(__x86_64__)
  const int found = findFeature(kiln::cpu::feature_names, isSameName(name, "bmi1") ? "bmi" : name);
#elif defined(__aarch64__)
  // Every CPU of this architecture has vectors of 128 bits.
  if (isSameName(name, "neon"))
    return true;
  const int byDriver = findFeature(kiln::cpu::aarch64_driver_names, name);
  const int found = *name && byDriver >= 0 ? byDriver : findFeature(kiln::cpu::aarch64_feature_names, name);
#elif defined(__riscv)
  const int found = findFeature(kiln::cpu::riscv64_feature_names, name);
#else
  const int found = -1;
#endif
  return found >= 0 && (kiln::cpu::read() >> found & 1);
}

} // namespace

int kiln_cpu_supports(const char *feature) { return feature && hasFeature(feature); }

int kiln_cpu_level(void) {
#if defined(__x86_64__)
  const kiln::cpu::set have = kiln::cpu::read();
  int level = 4;
  for (int i = 0; i < kiln::cpu::num_features; ++i) {
    const int needed = kiln::cpu::feature_bits[i].level;
    if (needed && needed <= level && !(have >> i & 1))
      level = needed - 1;
  }
  return level;
#else
  return 0;
#endif
}
