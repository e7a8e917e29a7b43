//===- MachineProbe.cpp - What the machine reaches at best -----------------===//
//
// Nothing of LLVM is used here: the kernel benchmarks compile this file, too.
//
//===----------------------------------------------------------------------===//
#include "compiler/run/MachineProbe.h"
#include "kiln/runtime.h"
#include <algorithm>
#include <functional>
#include <unistd.h>

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
  // Larger than any cache's share, and short enough to be read in time.
  constexpr int64_t wanted = 96 << 20, mostInAll = int64_t(1) << 30;
  threads = std::clamp<int64_t>(threads, 1, std::max<int64_t>(cpus, 1));
  int64_t each = std::min(wanted, std::min(mostInAll, memoryBytes / 4) / threads);
  return {threads, std::max(each / probeStep, int64_t(1)) * probeStep};
}

Machine probeMachine(const kiln_context &context, unsigned vectorBits) {
  Machine machine;
  int64_t page = getSystemSize(_SC_PAGESIZE, 4096);
  ProbeSize size = chooseProbe(context.parallel_for ? context.num_threads : 1, getSystemSize(_SC_NPROCESSORS_ONLN, 1),
                                       getSystemSize(_SC_PHYS_PAGES, (int64_t(1) << 30) / page) * page);
  int64_t threads = size.threads, stride = size.bytesEach;
  constexpr int64_t steps = 200000;
  double seconds = measure(context, threads, [&](int64_t) { spinFma(vectorBits, steps); });
  machine.peak = double(threads * steps * getFmaStep(vectorBits)) / seconds;
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

double getRoofline(const Machine &machine, double flops, double bytes) {
  double seconds = flops / machine.peak;
  for (const MemoryLevel &level : machine.levels)
    if (bytes <= double(level.bytes))
      return std::max(seconds, bytes / level.bandwidth);
  return seconds;
}

} // namespace kiln
