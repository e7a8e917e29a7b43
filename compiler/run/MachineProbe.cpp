//===- MachineProbe.cpp - What the machine reaches at best -----------------===//
//
// Nothing of LLVM is used here: the kernel benchmarks compile this file, too.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/MachineProbe.h"
#include "kiln/cpu.h"
#include "kiln/runtime.h"
#include <algorithm>
#include <functional>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln {

namespace {

/// Chains of dependent operations that run at once: two units with a latency of four or five steps each keep ten of them busy.
constexpr int64_t chains = 12;
constexpr int probeRounds = 5;
/// What a step of readAll() reads of the widest vectors.
constexpr int64_t probeStep = 512;
volatile float factor = 0.5f;
volatile float sink;

template <unsigned bytes> struct Floats {
  typedef float Vector __attribute__((vector_size(bytes)));
};

} // namespace

template <typename V> static inline __attribute__((always_inline)) void spin(int64_t steps) {
  V m = V{} + factor, one = V{} + 1.0f;
  // The chains begin differently, or they would be one.
  V a = one, b = a + one, c = b + one, d = c + one, e = d + one, f = e + one, g = f + one, h = g + one, i = h + one, j = i + one, k = j + one, l = k + one;
  for (; steps > 0; --steps) {
    a = a * m + one, b = b * m + one, c = c * m + one, d = d * m + one, e = e * m + one, f = f * m + one;
    g = g * m + one, h = h * m + one, i = i * m + one, j = j * m + one, k = k * m + one, l = l * m + one;
  }
  V sum = ((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + j) + (k + l));
  sink = sum[0];
}

template <typename V> static inline __attribute__((always_inline)) void readAll(const char *data, int64_t bytes) {
  const V *at = reinterpret_cast<const V *>(data), *end = at + bytes / int64_t(sizeof(V)) / 8 * 8;
  V a{}, b{}, c{}, d{};
  for (; at != end; at += 8) {
    a += at[0], b += at[1], c += at[2], d += at[3];
    a += at[4], b += at[5], c += at[6], d += at[7];
  }
  V sum = (a + b) + (c + d);
  sink = sum[0];
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void spin512(int64_t steps) { spin<Floats<64>::Vector>(steps); }
__attribute__((target("avx512f"))) static void read512(const char *data, int64_t bytes) { readAll<Floats<64>::Vector>(data, bytes); }
__attribute__((target("avx2,fma"))) static void spin256(int64_t steps) { spin<Floats<32>::Vector>(steps); }
__attribute__((target("avx2,fma"))) static void read256(const char *data, int64_t bytes) { readAll<Floats<32>::Vector>(data, bytes); }
#endif
static void spin128(int64_t steps) { spin<Floats<16>::Vector>(steps); }
static void read128(const char *data, int64_t bytes) { readAll<Floats<16>::Vector>(data, bytes); }

/// At most `vectorBits`, and no more than the CPU has.
static unsigned chooseWidth(unsigned vectorBits) {
#if defined(__x86_64__)
  if (vectorBits >= 512 && __builtin_cpu_supports("avx512f"))
    return 512;
  if (vectorBits >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return 256;
#endif
  return 128;
}

int64_t getFmaStep(unsigned vectorBits) { return 2 * chains * chooseWidth(vectorBits) / 32; }

void spinFma(unsigned vectorBits, int64_t steps) {
#if defined(__x86_64__)
  if (unsigned width = chooseWidth(vectorBits); width > 128)
    return width == 512 ? spin512(steps) : spin256(steps);
#endif
  spin128(steps);
}

//===- Steps of several products -------------------------------------------===//

#if defined(__x86_64__)
namespace {
/// What one instruction, or a few, add to each lane. Bytes in pairs: the words of the right side are there already, as in a tile of many rows.
struct Fours512 {
  __attribute__((target("avx512f,avx512vnni"))) static __m512i add(__m512i sum, __m512i x, __m512i y, __m512i) { return _mm512_dpbusd_epi32(sum, x, y); }
};
struct Fours256 {
  __attribute__((target("avx2,avx512f,avx512vl,avx512vnni"))) static __m256i add(__m256i sum, __m256i x, __m256i y, __m256i) {
    return _mm256_dpbusd_epi32(sum, x, y);
  }
};
struct Pairs512 {
  __attribute__((target("avx512f,avx512bw"))) static __m512i add(__m512i sum, __m512i x, __m512i y, __m512i z) {
    return _mm512_add_epi32(_mm512_add_epi32(sum, _mm512_madd_epi16(x, y)), _mm512_madd_epi16(x, z));
  }
};
struct Pairs256 {
  __attribute__((target("avx2"))) static __m256i add(__m256i sum, __m256i x, __m256i y, __m256i z) {
    return _mm256_add_epi32(_mm256_add_epi32(sum, _mm256_madd_epi16(x, y)), _mm256_madd_epi16(x, z));
  }
};
struct Pairs128 {
  static __m128i add(__m128i sum, __m128i x, __m128i y, __m128i z) { return _mm_add_epi32(_mm_add_epi32(sum, _mm_madd_epi16(x, y)), _mm_madd_epi16(x, z)); }
};
} // namespace

/// The loop is a macro: a function with an instruction of its own cannot be inlined into a template without it.
#define KILN_SPIN(name, features, vector, part)                                                                        \
  __attribute__((target(features))) static void name(int64_t steps) {                                                  \
    vector sums[chains] = {}, left[chains] = {}, y{}, z{};                                                             \
    for (int64_t i = 0; i < chains; ++i)                                                                               \
      left[i][0] = sums[i][0] = i + int64_t(factor);                                                                   \
    for (; steps > 0; --steps) {                                                                                       \
      _Pragma("GCC unroll 12") for (int64_t i = 0; i < chains; ++i)                                                    \
        sums[i] = part::add(sums[i], left[i], y, z);                                                                   \
      __asm__ volatile("" : "+x"(y), "+x"(z)); /* else the products would be computed once */                          \
    }                                                                                                                  \
    vector sum = sums[0];                                                                                              \
    for (int64_t i = 1; i < chains; ++i)                                                                               \
      sum += sums[i];                                                                                                  \
    sink = float(sum[0]);                                                                                              \
  }
KILN_SPIN(spinFours512, "avx512f,avx512vnni", __m512i, Fours512)
KILN_SPIN(spinFours256, "avx2,avx512f,avx512vl,avx512vnni", __m256i, Fours256)
KILN_SPIN(spinPairs512, "avx512f,avx512bw", __m512i, Pairs512)
KILN_SPIN(spinPairs256, "avx2", __m256i, Pairs256)
KILN_SPIN(spinPairs128, "sse2", __m128i, Pairs128)
#undef KILN_SPIN

__attribute__((target("avx512f,avx512bf16"))) static void spinBrain512(int64_t steps) {
  __m512 sums[chains];
  for (int64_t i = 0; i < chains; ++i)
    sums[i] = _mm512_set1_ps(float(i));
  __m512 ones = _mm512_set1_ps(factor);
  for (; steps > 0; --steps) {
    __m512bh x = _mm512_cvtne2ps_pbh(ones, ones);
    __asm__ volatile("" : "+x"(ones));
#pragma GCC unroll 12
    for (int64_t i = 0; i < chains; ++i)
      sums[i] = _mm512_dpbf16_ps(sums[i], x, x);
  }
  __m512 sum = sums[0];
  for (int64_t i = 1; i < chains; ++i)
    sum = sum + sums[i];
  sink = sum[0];
}

namespace {
/// What registers of tiles hold: all of them 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
} // namespace

/// Two by two tiles of sums, as kernels have them.
#define KILN_SPIN_TILES(name, features, dot)                                                                                                         \
  __attribute__((target(features))) static void name(int64_t steps) {                                                                                \
    static const TileShapes shapes;                                                                                                                  \
    _tile_loadconfig(&shapes);                                                                                                                       \
    for (; steps > 0; --steps) {                                                                                                                     \
      dot(0, 4, 6);                                                                                                                                  \
      dot(1, 4, 7);                                                                                                                                  \
      dot(2, 5, 6);                                                                                                                                  \
      dot(3, 5, 7);                                                                                                                                  \
    }                                                                                                                                                \
    _tile_release();                                                                                                                                 \
  }
KILN_SPIN_TILES(spinByteTiles, "amx-tile,amx-int8", _tile_dpbusd)
KILN_SPIN_TILES(spinBrainTiles, "amx-tile,amx-bf16", _tile_dpbf16ps)
#undef KILN_SPIN_TILES

/// Whether the CPU has them, and the system lets this process use them.
static bool hasTiles() {
  const cpu::set needs = cpu::with(cpu::amx_tile, cpu::amx_int8, cpu::amx_bf16);
  return (cpu::read() & needs) == needs && cpu::ask_for_tiles();
}
#endif

namespace {
/// A loop for a step, if the CPU can run it, and the operations of one turn of it.
struct DotLoop {
  void (*run)(int64_t steps) = nullptr;
  int64_t operations = 0;

  DotLoop() = default;
  DotLoop(void (*run)(int64_t), int64_t operations) : run(run), operations(operations) {}
  /// Of instructions on vectors.
  DotLoop(void (*run)(int64_t), int64_t bits, int64_t operationsPerLane) : run(run), operations(chains * bits / 32 * operationsPerLane) {}
};
} // namespace

static DotLoop findLoop(const std::string &function, unsigned vectorBits) {
#if defined(__x86_64__)
  bool isFours = function == "dot_u8s8" || function == "dot_s8u8", isPairs = function == "dot_u8s8_pairs" || function == "dot_s8u8_pairs";
  bool hasVnni = __builtin_cpu_supports("avx512vnni");
  if (isFours && hasVnni && vectorBits >= 512)
    return {spinFours512, 512, 8};
  if (isFours && hasVnni && vectorBits >= 256 && __builtin_cpu_supports("avx512vl"))
    return {spinFours256, 256, 8};
  if (isPairs && vectorBits >= 512 && __builtin_cpu_supports("avx512bw"))
    return {spinPairs512, 512, 8};
  if (isPairs && vectorBits >= 256 && __builtin_cpu_supports("avx2"))
    return {spinPairs256, 256, 8};
  if (isPairs && vectorBits < 256)
    return {spinPairs128, 128, 8};
  if (function == "dot_bf16" && vectorBits >= 512 && __builtin_cpu_supports("avx512bf16"))
    return {spinBrain512, 512, 4};
  constexpr int64_t tileSums = 4 * 16 * 16, tileBytes = 64;
  if (function == "tile_u8s8" && hasTiles())
    return {spinByteTiles, 2 * tileSums * tileBytes};
  if (function == "tile_bf16" && hasTiles())
    return {spinBrainTiles, 2 * tileSums * tileBytes / 2};
#else
  (void)function, (void)vectorBits;
#endif
  return {};
}

int64_t getDotStep(const std::string &function, unsigned vectorBits) {
  return findLoop(function, vectorBits).operations;
}

void spinDots(const std::string &function, unsigned vectorBits, int64_t steps) {
  if (DotLoop loop = findLoop(function, vectorBits); loop.run)
    loop.run(steps);
}

static void readMemory(unsigned vectorBits, const char *data, int64_t bytes) {
#if defined(__x86_64__)
  if (unsigned width = chooseWidth(vectorBits); width > 128)
    return width == 512 ? read512(data, bytes) : read256(data, bytes);
#endif
  read128(data, bytes);
}

/// Seconds that all threads need for `work(thread)`; the best of some rounds.
static double measure(const kiln_context &context, int64_t threads, const std::function<void(int64_t)> &work) {
  using Work = std::function<void(int64_t)>;
  kiln_task task = [](void *arg, int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread)
      (*static_cast<const Work *>(arg))(thread);
  };
  int64_t best = 0;
  for (int round = 0; round < probeRounds; ++round) {
    int64_t start = kiln_clock_ns();
    if (context.parallel_for)
      context.parallel_for(context.parallel_user, threads, task, const_cast<Work *>(&work));
    else
      work(0);
    int64_t time = kiln_clock_ns() - start;
    best = round ? std::min(best, time) : time;
  }
  return double(std::max<int64_t>(best, 1)) * 1e-9;
}

static int64_t getSystemSize(int name, int64_t otherwise) {
  long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

ProbeSize chooseProbe(int64_t threads, int64_t cpus, int64_t memoryBytes) {
  // So much larger than the last cache that hardly any of it is still there when it is read again: of three times a cache's size, a fifth is.
  constexpr int64_t wanted = 384 << 20, mostInAll = int64_t(1) << 30;
  threads = std::clamp<int64_t>(threads, 1, std::max<int64_t>(cpus, 1));
  int64_t each = std::min(wanted, std::min(mostInAll, memoryBytes / 4) / threads);
  return {threads, std::max(each / probeStep, int64_t(1)) * probeStep};
}

Machine probeMachine(const kiln_context &context, unsigned vectorBits, const ProbedSteps &dots) {
  Machine machine;
  int64_t page = getSystemSize(_SC_PAGESIZE, 4096);
  ProbeSize size = chooseProbe(context.parallel_for ? context.num_threads : 1, getSystemSize(_SC_NPROCESSORS_ONLN, 1),
                                       getSystemSize(_SC_PHYS_PAGES, (int64_t(1) << 30) / page) * page);
  int64_t threads = size.threads, stride = size.bytesEach;
  constexpr int64_t steps = 200000;
  double seconds = measure(context, threads, [&](int64_t) { spinFma(vectorBits, steps); });
  machine.peak = double(threads * steps * getFmaStep(vectorBits)) / seconds;
  for (auto [function, peak] : {std::pair(&dots.bytes, &machine.bytePeak), std::pair(&dots.brain, &machine.brainPeak)})
    if (int64_t each = getDotStep(*function, vectorBits)) {
      double time = measure(context, threads, [&, name = function](int64_t) { spinDots(*name, vectorBits, steps); });
      *peak = double(threads * steps * each) / time;
    }
  int64_t l1 = getSystemSize(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), l2 = getSystemSize(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
  // The last cache is shared with others, on a virtual machine with its neighbours: this much of it can be counted on.
  int64_t l3 = std::min<int64_t>(getSystemSize(_SC_LEVEL3_CACHE_SIZE, 8 << 20), 16 << 20) / threads;
  // What of a cache is read: not all of it is free.
  struct Probe {
    MemoryLevel level;
    int64_t bytes, times;
  } probes[] = {{{"L1", l1, 0}, l1 / 2, 400}, {{"L2", l2, 0}, l2 / 2, 20}, {{"L3", l3, 0}, l3 / 2, 2},
                {{"memory", INT64_MAX, 0}, stride, 1}};
  std::vector<char> data(size_t(stride * threads) + 64, 1);
  char *base = data.data() + (64 - reinterpret_cast<uintptr_t>(data.data()) % 64);
  for (Probe &probe : probes) {
    probe.bytes = std::min(probe.bytes, stride);
    double time = measure(context, threads, [&](int64_t thread) {
      for (int64_t i = 0; i < probe.times; ++i)
        readMemory(vectorBits, base + thread * stride, probe.bytes);
    });
    probe.level.bandwidth = double(threads * probe.times * probe.bytes) / time;
    machine.levels.push_back(probe.level);
  }
  return machine;
}

double getRoofline(const Machine &machine, double peak, double flops, double bytes) {
  double seconds = peak > 0 ? flops / peak : 0;
  for (const MemoryLevel &level : machine.levels)
    if (bytes <= double(level.bytes))
      return std::max(seconds, bytes / level.bandwidth);
  return seconds;
}

} // namespace kiln
