#include "kiln/runtime.h"

#include <string.h>

#if defined(__x86_64__)
#include "kiln/cpu.h"
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace {

#if defined(__x86_64__)

using Words = kiln::cpu::set;

Words readWords() { return kiln::cpu::read(); }

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

bool hasFeature(Words have, const char *name) {
  if (isSameName(name, "bmi1"))
    name = "bmi";
  for (int i = 0; i < kiln::cpu::num_features; ++i)
    if (isSameName(kiln::cpu::feature_names[i], name))
      return have >> i & 1;
  return false;
}

#else

enum : uint8_t { hwcap, hwcap2, numWords };

struct Feature {
  const char *name;
  uint8_t source; // which word of Words has the bit
  uint8_t bit;
};

struct Words {
  uint64_t word[numWords] = {};
};

const Feature features[] = {
#if defined(__aarch64__)
    {"neon", hwcap, 1}, {"fp16", hwcap, 10},  {"dotprod", hwcap, 20},
    {"sve", hwcap, 22}, {"i8mm", hwcap2, 13}, {"bf16", hwcap2, 14},
#elif defined(__riscv)
    {"v", hwcap, 'v' - 'a'},
#endif
    {"", 0, 63}, // keeps the table from being empty
};

Words readWords() {
  Words words;
#if defined(__linux__) && (defined(__aarch64__) || defined(__riscv))
  words.word[hwcap] = getauxval(AT_HWCAP);
  words.word[hwcap2] = getauxval(AT_HWCAP2);
#endif
  return words;
}

bool hasFeature(const Words &words, const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return words.word[feature.source] >> feature.bit & 1;
  return false;
}

#endif

} // namespace

int kiln_cpu_supports(const char *feature) { return feature && hasFeature(readWords(), feature); }

int kiln_cpu_level(void) {
#if defined(__x86_64__)
  const Words have = readWords();
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
