#include "kiln/runtime.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace {

struct Feature {
  const char *name;
  uint8_t source; // which word of Words has the bit
  uint8_t bit;
  uint8_t state; // registers the operating system must keep, see keptState()
};

#if defined(__x86_64__)

// States of XCR0 that go together.
enum : uint8_t { none = 0, avxState = 1, avx512State = 2, amxState = 4 };
enum : uint8_t { leaf1C, leaf1D, leaf7B, leaf7C, leaf7D, leaf7s1A, extended1C, numWords };

struct Words {
  uint32_t word[numWords] = {};
  uint8_t kept = none;
};

const Feature features[] = {
    {"ssse3", leaf1C, 9, none},
    {"sse4.1", leaf1C, 19, none},
    {"sse4.2", leaf1C, 20, none},
    {"movbe", leaf1C, 22, none},
    {"popcnt", leaf1C, 23, none},
    {"lzcnt", extended1C, 5, none},
    {"bmi1", leaf7B, 3, none},
    {"bmi2", leaf7B, 8, none},
    {"avx", leaf1C, 28, avxState},
    {"fma", leaf1C, 12, avxState},
    {"f16c", leaf1C, 29, avxState},
    {"avx2", leaf7B, 5, avxState},
    {"avx_vnni", leaf7s1A, 4, avxState},
    {"avx512f", leaf7B, 16, avx512State},
    {"avx512dq", leaf7B, 17, avx512State},
    {"avx512cd", leaf7B, 28, avx512State},
    {"avx512bw", leaf7B, 30, avx512State},
    {"avx512vl", leaf7B, 31, avx512State},
    {"avx512_vnni", leaf7C, 11, avx512State},
    {"avx512_bf16", leaf7s1A, 5, avx512State},
    {"avx512_fp16", leaf7D, 23, avx512State},
    {"amx_bf16", leaf7D, 22, amxState},
    {"amx_tile", leaf7D, 24, amxState},
    {"amx_int8", leaf7D, 25, amxState},
};

uint8_t keptState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  uint8_t kept = none;
  if ((low & 0x6) == 0x6) // SSE and AVX registers
    kept |= avxState;
  if ((low & 0xe6) == 0xe6) // masks and both halves of the upper registers, too
    kept |= avx512State;
  if ((low & 0x60000) == 0x60000) // tile configuration and data
    kept |= amxState;
  return kept;
}

Words readWords() {
  Words words;
  uint32_t a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    words.word[leaf1C] = c;
    words.word[leaf1D] = d;
    if (c & (uint32_t(1) << 27)) // the operating system uses XSAVE
      words.kept = keptState();
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    words.word[leaf7B] = b;
    words.word[leaf7C] = c;
    words.word[leaf7D] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
      words.word[leaf7s1A] = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    words.word[extended1C] = c;
  return words;
}

#else

enum : uint8_t { hwcap, hwcap2, numWords };

struct Words {
  uint64_t word[numWords] = {};
  uint8_t kept = 0;
};

const Feature features[] = {
#if defined(__aarch64__)
    {"neon", hwcap, 1, 0}, {"fp16", hwcap, 10, 0},  {"dotprod", hwcap, 20, 0},
    {"sve", hwcap, 22, 0}, {"i8mm", hwcap2, 13, 0}, {"bf16", hwcap2, 14, 0},
#elif defined(__riscv)
    {"v", hwcap, 'v' - 'a', 0},
#endif
    {"", 0, 63, 0}, // keeps the table from being empty
};

Words readWords() {
  Words words;
#if defined(__linux__) && (defined(__aarch64__) || defined(__riscv))
  words.word[hwcap] = getauxval(AT_HWCAP);
  words.word[hwcap2] = getauxval(AT_HWCAP2);
#endif
  return words;
}

#endif

bool hasFeature(const Words &words, const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return (words.word[feature.source] >> feature.bit & 1) && (words.kept & feature.state) == feature.state;
  return false;
}

} // namespace

int kiln_cpu_supports(const char *feature) { return feature && hasFeature(readWords(), feature); }

int kiln_cpu_level(void) {
#if defined(__x86_64__)
  static const char *const steps[3][9] = {
      {"ssse3", "sse4.1", "sse4.2", "popcnt"},
      {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
      {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
  };
  Words words = readWords();
  int level = 1;
  for (const auto &step : steps) {
    for (const char *const *name = step; *name; ++name)
      if (!hasFeature(words, *name))
        return level;
    ++level;
  }
  return level;
#else
  return 0;
#endif
}
