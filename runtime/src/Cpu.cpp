#include "kiln/runtime.h"

#include <string.h>

#if defined(__x86_64__)
#include "kiln/cpu.h"
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace {

#if defined(__x86_64__)

struct Feature {
  const char *name;
  kiln::cpu::feature bit;
};

const Feature features[] = {
    {"sse3", kiln::cpu::sse3},
    {"ssse3", kiln::cpu::ssse3},
    {"sse4.1", kiln::cpu::sse4_1},
    {"sse4.2", kiln::cpu::sse4_2},
    {"movbe", kiln::cpu::movbe},
    {"popcnt", kiln::cpu::popcnt},
    {"lzcnt", kiln::cpu::lzcnt},
    {"bmi1", kiln::cpu::bmi},
    {"bmi2", kiln::cpu::bmi2},
    {"avx", kiln::cpu::avx},
    {"fma", kiln::cpu::fma},
    {"f16c", kiln::cpu::f16c},
    {"avx2", kiln::cpu::avx2},
    {"avx_vnni", kiln::cpu::avxvnni},
    {"avx512f", kiln::cpu::avx512f},
    {"avx512dq", kiln::cpu::avx512dq},
    {"avx512cd", kiln::cpu::avx512cd},
    {"avx512bw", kiln::cpu::avx512bw},
    {"avx512vl", kiln::cpu::avx512vl},
    {"avx512_vnni", kiln::cpu::avx512vnni},
    {"avx512_bf16", kiln::cpu::avx512bf16},
    {"avx512_fp16", kiln::cpu::avx512fp16},
    {"avx512vbmi", kiln::cpu::avx512vbmi},
    {"avx512_vbmi2", kiln::cpu::avx512vbmi2},
    {"avx512ifma", kiln::cpu::avx512ifma},
    {"avx512_bitalg", kiln::cpu::avx512bitalg},
    {"avx512_vpopcntdq", kiln::cpu::avx512vpopcntdq},
    {"gfni", kiln::cpu::gfni},
    {"amx_tile", kiln::cpu::amx_tile},
    {"amx_bf16", kiln::cpu::amx_bf16},
    {"amx_int8", kiln::cpu::amx_int8},
};
static_assert(sizeof(features) / sizeof(Feature) == kiln::cpu::num_features, "every feature has a name");

using Words = kiln::cpu::set;

Words readWords() { return kiln::cpu::read(); }

bool isSet(Words have, const Feature &feature) { return have >> feature.bit & 1; }

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

bool isSet(const Words &have, const Feature &feature) { return have.word[feature.source] >> feature.bit & 1; }

#endif

bool hasFeature(const Words &words, const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return isSet(words, feature);
  return false;
}

// All of a list that ends with NULL.
[[maybe_unused]] bool hasFeatures(const Words &words, const char *const *names) {
  bool all = true;
  for (; *names; ++names)
    all &= hasFeature(words, *names);
  return all;
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
  while (level < 4 && hasFeatures(words, steps[level - 1]))
    ++level;
  return level;
#else
  return 0;
#endif
}
