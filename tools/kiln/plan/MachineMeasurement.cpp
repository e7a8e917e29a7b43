//===- MachineMeasurement.cpp - What a plan needs to know of this machine ---===//
#include "tools/kiln/plan/MachineMeasurement.h"
#include "compiler/plan/NetworkProbe.h"
#include "compiler/run/MachineProbe.h"
#include "compiler/run/Tensor.h"
#include "dialects/nn/RealNumber.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <cmath>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace kiln {

/// The times of calls among threads of this process.
static Expected<CallTimes> timeThreads(int32_t count, double seconds, int64_t largest) {
  constexpr int64_t deadline = int64_t(60) * 1000 * 1000 * 1000;
  kiln_local_ranks *ranks = nullptr;
  if (kiln_status status = kiln_local_ranks_create(count, deadline, &ranks))
    return makeError("ranks: " + Twine(kiln_status_string(status)));
  std::vector<CallTimes> times{size_t(count)};
  std::vector<kiln_status> statuses(times.size(), KILN_STATUS_OK);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] { statuses[size_t(rank)] = probeNetwork(*kiln_local_ranks_get(ranks, rank), seconds, largest, times[size_t(rank)]); });
  for (std::thread &thread : threads)
    thread.join();
  kiln_local_ranks_destroy(ranks);
  for (kiln_status status : statuses)
    if (status)
      return makeError("ranks: " + Twine(kiln_status_string(status)));
  return std::move(times.front());
}

PlanMachine describeOwnMachine() {
  PlanMachine machine;
  machine.name = sys::getHostCPUName().str();
  machine.cores = hardware_concurrency().compute_thread_count();
  return machine;
}

/// The number in the first line of a file, such as "32768K"; 0: none.
static double readSize(const Twine &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFileAsStream(path);
  StringRef text = file ? (*file)->getBuffer().trim() : "";
  double unit = text.consume_back("K") ? 1 << 10 : text.consume_back("M") ? 1 << 20 : 1, number = 0;
  return parseReal(text, number) ? number * unit : 0;
}

/// Of the caches that Linux lists for the first core, the largest; of several, which each have some of the cores, all together. Otherwise what the C library
/// says, and not more than can be counted on: on a virtual machine, that may be what all of its neighbours share.
static double findCacheBytes(int64_t cores) {
  constexpr long least = 1 << 20, most = 16 << 20, lists = 10;
  double largest = 0;
  for (int i = 0; i < lists; ++i) {
    std::string folder = ("/sys/devices/system/cpu/cpu0/cache/index" + Twine(i) + "/").str();
    ErrorOr<std::unique_ptr<MemoryBuffer>> map = MemoryBuffer::getFileAsStream(folder + "shared_cpu_map");
    int64_t sharing = 0;
    for (char digit : map ? (*map)->getBuffer() : StringRef())
      sharing += isHexDigit(digit) ? popcount(hexDigitValue(digit)) : 0;
    double bytes = readSize(folder + "size");
    if (bytes > largest)
      largest = bytes * std::max(double(cores) / double(std::max<int64_t>(sharing, 1)), 1.0);
  }
  return largest > 0 ? largest : double(std::clamp(sysconf(_SC_LEVEL3_CACHE_SIZE), least, most));
}

/// Peak and bandwidths of one core and of all: the best of some turns, since others use the machine, too.
static Error measureCores(PlanMachine &machine) {
  constexpr unsigned widest = 512;
  constexpr int turns = 4;
  double onePeak = 0, allPeak = 0;
  kiln_pool *pool = nullptr;
  if (kiln_status status = kiln_pool_create(int32_t(machine.cores), &pool))
    return makeError("threads: " + Twine(kiln_status_string(status)));
  kiln_context alone = KILN_CONTEXT_INIT, together = KILN_CONTEXT_INIT;
  kiln_pool_context(pool, &together);
  for (int turn = 0; turn < turns; ++turn) {
    Machine one = probeMachine(alone, widest), all = probeMachine(together, widest);
    onePeak = std::max(onePeak, one.peak), allPeak = std::max(allPeak, all.peak);
    machine.memoryOfOne = std::max(machine.memoryOfOne, one.levels.back().bandwidth);
    machine.memoryOfAll = std::max(machine.memoryOfAll, all.levels.back().bandwidth);
  }
  kiln_pool_destroy(pool);
  machine.busySpeed = std::clamp(allPeak / onePeak / double(machine.cores), 0.01, 1.0);
  machine.memoryOfAll = std::max(machine.memoryOfAll, machine.memoryOfOne);
  machine.cacheBytes = findCacheBytes(machine.cores);
  return Error::success();
}

Expected<PlanMachine> measureMachine() {
  PlanMachine machine = describeOwnMachine();
  machine.ranksPerMachine = std::clamp<int64_t>(machine.cores, 1, KILN_LOCAL_RANKS_MAX);
  if (Error error = measureCores(machine))
    return std::move(error);
  constexpr double seconds = 0.04;
  constexpr int64_t largest = 2 << 20, mostThreads = 8;
  int64_t threads = std::clamp<int64_t>(machine.cores, 2, mostThreads);
  Expected<CallTimes> times = timeThreads(int32_t(threads), seconds, largest);
  if (!times)
    return times.takeError();
  machine.inside = fitLink(*times, threads);
  // Twice as many as run at one time.
  Placement crowded;
  crowded.ranks = crowded.ranksPerMachine = std::min<int64_t>(2 * machine.cores, KILN_LOCAL_RANKS_MAX);
  crowded.running = double(machine.cores);
  crowded.inside = *machine.inside;
  constexpr int64_t least = 8;
  Expected<CallTimes> turns = timeThreads(int32_t(crowded.ranks), seconds, least);
  if (!turns)
    return turns.takeError();
  machine.turn = std::max((*turns)["all_reduce"][least] - predictCall("all_reduce", least, crowded), 0.0);
  return machine;
}

} // namespace kiln
