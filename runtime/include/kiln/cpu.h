// What this CPU can do, asked by CPUID: no library and no constructor. Of other CPUs than x86-64 nothing is known here.
#ifndef KILN_CPU_H
#define KILN_CPU_H

#include <stdint.h>

namespace kiln::cpu {

// All that Kiln knows about the features of x86-64 CPUs: the enumerator, the name behind a compiler's -m, the word and bit of CPUID that report it, the
// registers that the operating system must keep for it, and the micro-architecture level that begins to have it (0: none). Targets, the flags of
// compilers, the choice at run time and kiln_cpu_supports read this table.
#define KILN_X86_FEATURES(F) \
  F(sse3, "sse3", leaf1_c, 0, no_state, 2)                            \
  F(ssse3, "ssse3", leaf1_c, 9, no_state, 2)                          \
  F(sse4_1, "sse4.1", leaf1_c, 19, no_state, 2)                       \
  F(sse4_2, "sse4.2", leaf1_c, 20, no_state, 2)                       \
  F(movbe, "movbe", leaf1_c, 22, no_state, 3)                         \
  F(popcnt, "popcnt", leaf1_c, 23, no_state, 2)                       \
  F(lzcnt, "lzcnt", extended1_c, 5, no_state, 3)                      \
  F(bmi, "bmi", leaf7_b, 3, no_state, 3)                              \
  F(bmi2, "bmi2", leaf7_b, 8, no_state, 3)                            \
  F(avx, "avx", leaf1_c, 28, avx_state, 3)                            \
  F(fma, "fma", leaf1_c, 12, avx_state, 3)                            \
  F(f16c, "f16c", leaf1_c, 29, avx_state, 3)                          \
  F(avx2, "avx2", leaf7_b, 5, avx_state, 3)                           \
  F(avxvnni, "avxvnni", leaf7_1_a, 4, avx_state, 0)                   \
  F(avx512f, "avx512f", leaf7_b, 16, avx512_state, 4)                 \
  F(avx512dq, "avx512dq", leaf7_b, 17, avx512_state, 4)               \
  F(avx512cd, "avx512cd", leaf7_b, 28, avx512_state, 4)               \
  F(avx512bw, "avx512bw", leaf7_b, 30, avx512_state, 4)               \
  F(avx512vl, "avx512vl", leaf7_b, 31, avx512_state, 4)               \
  F(avx512vnni, "avx512vnni", leaf7_c, 11, avx512_state, 0)           \
  F(avx512bf16, "avx512bf16", leaf7_1_a, 5, avx512_state, 0)          \
  F(avx512fp16, "avx512fp16", leaf7_d, 23, avx512_state, 0)           \
  F(avx512vbmi, "avx512vbmi", leaf7_c, 1, avx512_state, 0)            \
  F(avx512vbmi2, "avx512vbmi2", leaf7_c, 6, avx512_state, 0)          \
  F(avx512ifma, "avx512ifma", leaf7_b, 21, avx512_state, 0)           \
  F(avx512bitalg, "avx512bitalg", leaf7_c, 12, avx512_state, 0)       \
  F(avx512vpopcntdq, "avx512vpopcntdq", leaf7_c, 14, avx512_state, 0) \
  F(gfni, "gfni", leaf7_c, 8, no_state, 0)                            \
  F(amx_tile, "amx-tile", leaf7_d, 24, amx_state, 0)                  \
  F(amx_bf16, "amx-bf16", leaf7_d, 22, amx_state, 0)                  \
  F(amx_int8, "amx-int8", leaf7_d, 25, amx_state, 0)

// Features are bits of a set, in the order of the table.
enum feature : uint8_t {
#define KILN_FEATURE(id, name, word, bit, state, level) id,
  KILN_X86_FEATURES(KILN_FEATURE)
#undef KILN_FEATURE
  num_features
};

// The compiler's names of the features, in the order of feature.
constexpr const char *feature_names[] = {
#define KILN_FEATURE(id, name, word, bit, state, level) name,
    KILN_X86_FEATURES(KILN_FEATURE)
#undef KILN_FEATURE
};

using set = uint64_t;

// The set of some features.
template <typename... F> constexpr set with(F... features) { return ((set(1) << features) | ... | set(0)); }

// Those whose registers Linux gives only to a process that asks for them.
constexpr set tiles = with(amx_tile, amx_bf16, amx_int8);

#if defined(__x86_64__)

// What CPUID answers, and the registers that the operating system keeps for a thread.
enum word : uint8_t { leaf1_c, leaf7_b, leaf7_c, leaf7_d, leaf7_1_a, extended1_c, num_words };
enum state : uint8_t { no_state = 0, avx_state = 1, avx512_state = 2, amx_state = 4 };

struct feature_bit {
  enum word word;
  uint8_t bit;
  enum state state;
  uint8_t level;
};

// In the order of feature.
constexpr feature_bit feature_bits[] = {
#define KILN_FEATURE(id, name, word, bit, state, level) {word, bit, state, level},
    KILN_X86_FEATURES(KILN_FEATURE)
#undef KILN_FEATURE
};

struct registers {
  uint32_t a, b, c, d;
};

static inline registers cpuid(uint32_t leaf, uint32_t part) {
  registers r;
  __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(part));
  return r;
}

// The states of XCR0 that go together; call it only when the operating system uses XSAVE.
static inline uint8_t kept_states() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const bool upper = (low & 0x6) == 0x6;                // SSE and AVX registers
  const bool masks = (low & 0xe6) == 0xe6;              // masks and both halves of the upper registers, too
  const bool tiles = (low & 0x60000) == 0x60000;        // tile configuration and data
  return uint8_t((upper ? avx_state : 0) | (masks ? avx512_state : 0) | (tiles ? amx_state : 0));
}

// All features that the CPU has and the operating system serves.
static inline set read() {
  uint32_t words[num_words] = {};
  uint8_t kept = no_state;
  const uint32_t leaves = cpuid(0, 0).a;
  if (leaves >= 1) {
    words[leaf1_c] = cpuid(1, 0).c;
    if (words[leaf1_c] & (uint32_t(1) << 27))
      kept = kept_states();
  }
  if (leaves >= 7) {
    const registers seven = cpuid(7, 0);
    words[leaf7_b] = seven.b;
    words[leaf7_c] = seven.c;
    words[leaf7_d] = seven.d;
    if (seven.a >= 1)
      words[leaf7_1_a] = cpuid(7, 1).a;
  }
  if (cpuid(0x80000000u, 0).a >= 0x80000001u)
    words[extended1_c] = cpuid(0x80000001u, 0).c;
  set have = 0;
  for (int i = 0; i < num_features; ++i) {
    const feature_bit row = feature_bits[i];
    const bool there = (words[row.word] >> row.bit & 1) && (kept & row.state) == row.state;
    have |= set(there) << i;
  }
  return have;
}

// Asks for them, for all threads of the process and for good; whether it has them now. Signal handlers that run on a stack of their own need more of it from
// then on, so a program asks only where it will use them. The call is arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA).
static inline bool ask_for_tiles() {
#if defined(__linux__)
  constexpr int64_t call = 158, request = 0x1023, tile_data = 18;
  int64_t result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(call), "D"(request), "S"(tile_data) : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

#else

static inline set read() { return 0; }
static inline bool ask_for_tiles() { return false; }

#endif

} // namespace kiln::cpu

#endif // KILN_CPU_H
