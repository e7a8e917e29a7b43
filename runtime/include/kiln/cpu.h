// What this CPU can do, asked by CPUID on x86-64 and of the system on AArch64 (Linux, macOS, Windows) and RISC-V (Linux): no library and no constructor.
// Of other CPUs nothing is known here.
#ifndef KILN_CPU_H
#define KILN_CPU_H

#include <stddef.h>
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
  F(amx_int8, "amx-int8", leaf7_d, 25, amx_state, 0)                  \
  F(amx_fp16, "amx-fp16", leaf7_1_a, 21, amx_state, 0)

// The same for AArch64: the enumerator, LLVM's name, the name behind -march=armv8.2-a+, the word and bit in which Linux reports it, the name by which macOS
// does, and the number by which Windows does (0: not at all). A target whose vectors are longer than 128 bits needs one of the last ones, which are no
// instruction sets: they have no name for compilers.
#define KILN_AARCH64_FEATURES(F) \
  F(fullfp16, "fullfp16", "fp16", capabilities, 10, "FEAT_FP16", 67)       \
  F(dotprod, "dotprod", "dotprod", capabilities, 20, "FEAT_DotProd", 43)   \
  F(fp16fml, "fp16fml", "fp16fml", capabilities, 23, "FEAT_FHM", 0)        \
  F(sve, "sve", "sve", capabilities, 22, "", 46)                           \
  F(sve2, "sve2", "sve2", capabilities2, 1, "", 47)                        \
  F(i8mm, "i8mm", "i8mm", capabilities2, 13, "FEAT_I8MM", 66)              \
  F(bf16, "bf16", "bf16", capabilities2, 14, "FEAT_BF16", 68)              \
  F(sve256, "sve256", "", lengths, 8, "", 0)                               \
  F(sve512, "sve512", "", lengths, 9, "", 0)                               \
  F(sve1024, "sve1024", "", lengths, 10, "", 0)                            \
  F(sve2048, "sve2048", "", lengths, 11, "", 0)

// The same for 64-bit RISC-V; compilers use LLVM's names in -march. The baseline, rv64gc, has m, a, f, d and c.
#define KILN_RISCV64_FEATURES(F) \
  F(v, "v", "v", capabilities, 21)                  \
  F(zvl128b, "zvl128b", "zvl128b", lengths, 7)      \
  F(zvl256b, "zvl256b", "zvl256b", lengths, 8)      \
  F(zvl512b, "zvl512b", "zvl512b", lengths, 9)      \
  F(zvl1024b, "zvl1024b", "zvl1024b", lengths, 10)  \
  F(zvl2048b, "zvl2048b", "zvl2048b", lengths, 11)

// Features are bits of a set, in the order of the architecture's table.
#define KILN_FEATURE(id, ...) id,
enum feature : uint8_t { KILN_X86_FEATURES(KILN_FEATURE) num_features };
enum aarch64_feature : uint8_t { KILN_AARCH64_FEATURES(KILN_FEATURE) num_aarch64_features };
enum riscv64_feature : uint8_t { KILN_RISCV64_FEATURES(KILN_FEATURE) num_riscv64_features };
#undef KILN_FEATURE

// LLVM's names of the features, in the order of the enumerators.
#define KILN_FEATURE(id, name, ...) name,
constexpr const char *feature_names[] = {KILN_X86_FEATURES(KILN_FEATURE)};
constexpr const char *aarch64_feature_names[] = {KILN_AARCH64_FEATURES(KILN_FEATURE)};
constexpr const char *riscv64_feature_names[] = {KILN_RISCV64_FEATURES(KILN_FEATURE)};
#undef KILN_FEATURE

// The drivers' names of AArch64's.
#define KILN_FEATURE(id, name, driver, ...) driver,
constexpr const char *aarch64_driver_names[] = {KILN_AARCH64_FEATURES(KILN_FEATURE)};
#undef KILN_FEATURE

using set = uint64_t;

// The set of some features.
template <typename... F> constexpr set with(F... features) { return ((set(1) << features) | ... | set(0)); }

// Those whose registers Linux gives only to a process that asks for them.
#if defined(__x86_64__)
constexpr set tiles = with(amx_tile, amx_bf16, amx_int8, amx_fp16);
#else
constexpr set tiles = 0;
#endif

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
#if defined(__APPLE__)
  const bool masks = upper;                             // macOS keeps them from their first use on
#else
  const bool masks = (low & 0xe6) == 0xe6;              // masks and both halves of the upper registers, too
#endif
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

#elif defined(__linux__) && (defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64))

// What Linux passes to every program, and the lengths of vectors.
enum word : uint8_t { capabilities, capabilities2, lengths, num_words };

struct feature_bit {
  enum word word;
  uint8_t bit;
};

// In the order of the enumerators.
#define KILN_FEATURE(id, name, driver, word, bit, ...) {word, bit},
constexpr feature_bit feature_bits[] = {
#if defined(__aarch64__)
    KILN_AARCH64_FEATURES(KILN_FEATURE)
#else
    KILN_RISCV64_FEATURES(KILN_FEATURE)
#endif
};
#undef KILN_FEATURE

// The C library's function, where the program has it.
extern "C" __attribute__((weak)) unsigned long kiln_getauxval(unsigned long type) __asm__("getauxval");

#if defined(__aarch64__)
static inline int64_t call_system(int64_t number, int64_t first, int64_t second, int64_t third, int64_t fourth) {
  register int64_t x8 __asm__("x8") = number, x0 __asm__("x0") = first, x1 __asm__("x1") = second, x2 __asm__("x2") = third, x3 __asm__("x3") = fourth;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#else
static inline int64_t call_system(int64_t number, int64_t first, int64_t second, int64_t third, int64_t fourth) {
  register int64_t a7 __asm__("a7") = number, a0 __asm__("a0") = first, a1 __asm__("a1") = second, a2 __asm__("a2") = third, a3 __asm__("a3") = fourth;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
  return a0;
}
#endif

// An entry of the auxiliary vector, or 0. Programs without a C library read it from the kernel's file.
static inline uint64_t read_auxiliary(uint64_t type) {
  if (kiln_getauxval)
    return kiln_getauxval(type);
  constexpr int64_t openat = 56, close = 57, read = 63, here = -100;
  const int64_t file = call_system(openat, here, reinterpret_cast<int64_t>("/proc/self/auxv"), 0, 0);
  uint64_t entry[2], found = 0;
  while (file >= 0 && !found && call_system(read, file, reinterpret_cast<int64_t>(entry), sizeof(entry), 0) == int64_t(sizeof(entry)) && entry[0])
    found = entry[0] == type ? entry[1] : 0;
  if (file >= 0)
    call_system(close, file, 0, 0, 0);
  return found;
}

// Bytes of a vector register, given the CPU's capabilities. The instructions are written as numbers, for assemblers that do not know them.
static inline uint64_t vector_bytes(uint64_t capable) {
  uint64_t bytes = 0;
#if defined(__aarch64__)
  if (capable >> 22 & 1) {
    register uint64_t x9 __asm__("x9");
    __asm__(".inst 0x04bf5029" : "=r"(x9)); // rdvl x9, #1
    bytes = x9;
  }
#else
  if (capable >> 21 & 1)
    __asm__("csrr %0, 0xc22" : "=r"(bytes)); // vlenb
#endif
  return bytes;
}

// All features that the CPU has and the operating system serves.
static inline set read() {
  constexpr uint64_t hwcap = 16, hwcap2 = 26;
  uint64_t words[num_words] = {read_auxiliary(hwcap), read_auxiliary(hwcap2), 0};
  for (uint64_t bits = 128; bits <= 8 * vector_bytes(words[capabilities]); bits *= 2)
    words[lengths] |= bits;
  set have = 0;
  for (unsigned i = 0; i < sizeof(feature_bits) / sizeof(feature_bits[0]); ++i)
    have |= set(words[feature_bits[i].word] >> feature_bits[i].bit & 1) << i;
  return have;
}

static inline bool ask_for_tiles() { return false; }

#elif defined(__aarch64__) && (defined(__APPLE__) || defined(_WIN32))

static inline set read(); // below
static inline bool ask_for_tiles() { return false; }

#else

static inline set read() { return 0; }
static inline bool ask_for_tiles() { return false; }

#endif

} // namespace kiln::cpu

#if defined(__aarch64__) && defined(__APPLE__)
#include "kiln/cpu/apple.h"
#elif defined(__aarch64__) && defined(_WIN32)
#include "kiln/cpu/windows.h"
#endif

#endif // KILN_CPU_H
