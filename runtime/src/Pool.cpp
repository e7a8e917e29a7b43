// The thread pool. One word, `region`, tells the workers everything they need to decide: its upper bits count
// regions, its lower bits say how many threads take part in the current one. Each of these has a part of its own, the
// same size for all, cut into grains; a thread takes most of what is left of its part at a time and, when nothing is
// left, the last grains of the others' parts. So a thread that still wakes up, that the system does not let run or that is
// slower than the rest delays the others for at most one grain. A thread that takes grains counts them down in `pending`; a
// worker that got none never reads the rest, so the caller need not wait for it.
#include "kiln/runtime.h"

#include "System.h"
#include "Threads.h"

#include <string.h>

using namespace kiln;

namespace {

constexpr uint64_t partsMask = 0xffff;
constexpr uint64_t nextRegion = partsMask + 1;
constexpr uint64_t shutDown = partsMask; // more parts than a pool has threads
constexpr int grainBits = 8;
constexpr int64_t grainsOfPart = 16;
constexpr uint64_t callerAsleep = uint64_t(1) << 32;
constexpr uint32_t allWorkers = ~uint32_t(0);
constexpr int spinsOfThreads = 2000; // 50 to 150 us, about the serial gap between two kernels
constexpr int spinsWhenCrowded = 20; // more threads than CPUs: the thread waited for needs this CPU

// Counts forks that made this process: a pool made before the last one has no workers here.
uint32_t forkCount;

void countFork() { __atomic_add_fetch(&forkCount, 1, __ATOMIC_SEQ_CST); }

struct alignas(64) Worker {
  kiln_pool *pool;
  Thread thread;
  int32_t id;    // 1 ... numThreads-1; the caller of a region is 0
  uint64_t left; // of part `id`: the region's count, then 8 bits for the first grain that has not been taken and 8 for the end
};

} // namespace

struct kiln_pool {
  alignas(64) uint64_t region;  // region count and parts, see above
  alignas(64) uint64_t pending; // grains not done yet; plus callerAsleep
  alignas(64) uint32_t sleepers;
  uint32_t busy;
  // Written by the caller before `region` changes, read by workers that have a part.
  kiln_task task;
  void *arg;
  int64_t tasks;
  // Constant after creation.
  alignas(64) Worker *workers;
  int32_t numThreads;
  int32_t spins;
  uint32_t bornAt;
  Park workersPark;
  Park callerPark;
};

namespace {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

uint32_t wakeBit(int32_t id) { return uint32_t(1) << (id < 31 ? id : 31); }

// A wake mask for workers 1 ... parts-1 (and, from 31 on, all others).
uint32_t wakeMask(int64_t parts) { return parts > 31 ? allWorkers : (uint32_t(1) << parts) - 1; }

int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

// Of `count` things in `parts` shares: where share `part` begins. The first shares are one longer where it does not come
// out even. Products of the other order would overflow for huge counts.
int64_t shareBegin(int64_t count, int64_t parts, int64_t part) { return part * (count / parts) + lesser(part, count % parts); }

// Kernels with few tasks may do preparation in each call, so they are called once per thread.
int64_t countGrains(const kiln_pool *pool, int64_t parts, int64_t part) {
  int64_t tasks = shareBegin(pool->tasks, parts, part + 1) - shareBegin(pool->tasks, parts, part);
  return tasks < grainsOfPart / 2 ? 1 : lesser(tasks, grainsOfPart);
}

struct Grains {
  int64_t first, end;
};

// Takes grains of a part for the calling thread, which then must run them: the part's own thread three quarters of what is left,
// from the front, another one half, from the back. False when nothing is left of that region.
bool takeGrains(uint64_t *left, uint64_t region, bool isOwn, Grains *taken) {
  uint64_t now = __atomic_load_n(left, __ATOMIC_ACQUIRE);
  for (;;) {
    constexpr uint64_t mask = (1 << grainBits) - 1;
    uint64_t first = (now >> grainBits) & mask, end = now & mask, count = end - first;
    if (((now ^ region) & ~partsMask) != 0 || count == 0)
      return false;
    count = isOwn ? count - count / 4 : (count + 1) / 2;
    uint64_t next = isOwn ? now + (count << grainBits) : now - count;
    if (__atomic_compare_exchange_n(left, &now, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      *taken = isOwn ? Grains{int64_t(first), int64_t(first + count)} : Grains{int64_t(end - count), int64_t(end)};
      return true;
    }
  }
}

// Runs what is left of thread `id`'s part of a region, then of the others'. Returns how many grains that were. Nothing of the
// region but its number is known to be true until a grain is taken.
uint64_t takePart(kiln_pool *pool, int64_t id, uint64_t region) {
  int64_t parts = int64_t(region & partsMask);
  uint64_t done = 0;
  for (int64_t i = 0, part = id; i < parts; ++i, part = part + 1 < parts ? part + 1 : 0)
    for (Grains grains; takeGrains(&pool->workers[part].left, region, part == id, &grains);) {
      int64_t begin = shareBegin(pool->tasks, parts, part), tasks = shareBegin(pool->tasks, parts, part + 1) - begin;
      int64_t count = countGrains(pool, parts, part);
      pool->task(pool->arg, begin + shareBegin(tasks, count, grains.first), begin + shareBegin(tasks, count, grains.end));
      done += uint64_t(grains.end - grains.first);
    }
  return done;
}

// Returns the new value of pool->region, which was `seen`: spins for a while, then sleeps.
uint64_t awaitRegion(kiln_pool *pool, uint64_t seen, int32_t id) {
  for (int32_t spin = 0; spin < pool->spins; ++spin) {
    uint64_t now = __atomic_load_n(&pool->region, __ATOMIC_ACQUIRE);
    if (now != seen)
      return now;
    relax();
  }
  // Sequentially consistent on both sides: either the caller sees the sleeper, or the worker the region.
  __atomic_add_fetch(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
  uint64_t now;
  while ((now = __atomic_load_n(&pool->region, __ATOMIC_SEQ_CST)) == seen)
    parkWait(pool->workersPark, &pool->region, seen, wakeBit(id));
  __atomic_sub_fetch(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
  return now;
}

void *work(void *argument) {
  Worker *worker = static_cast<Worker *>(argument);
  kiln_pool *pool = worker->pool;
  uint64_t seen = 0;
  for (;;) {
    seen = awaitRegion(pool, seen, worker->id);
    uint64_t parts = seen & partsMask;
    if (parts == shutDown)
      return nullptr;
    uint64_t done = uint64_t(worker->id) < parts ? takePart(pool, worker->id, seen) : 0;
    if (done != 0 && __atomic_sub_fetch(&pool->pending, done, __ATOMIC_SEQ_CST) == callerAsleep)
      parkWake(pool->callerPark, &pool->pending, allWorkers);
  }
}

// The region after the present one.
uint64_t regionOf(const kiln_pool *pool, uint64_t parts) { return (pool->region & ~partsMask) + nextRegion + parts; }

void announce(kiln_pool *pool, uint64_t region, uint32_t mask) {
  __atomic_store_n(&pool->region, region, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST))
    parkWake(pool->workersPark, &pool->region, mask);
}

void awaitWorkers(kiln_pool *pool) {
  for (int32_t spin = 0; spin < pool->spins; ++spin) {
    if (__atomic_load_n(&pool->pending, __ATOMIC_ACQUIRE) == 0)
      return;
    relax();
  }
  uint64_t left = __atomic_or_fetch(&pool->pending, callerAsleep, __ATOMIC_SEQ_CST);
  while (left != callerAsleep) {
    parkWait(pool->callerPark, &pool->pending, left, allWorkers);
    left = __atomic_load_n(&pool->pending, __ATOMIC_SEQ_CST);
  }
}

bool isForeign(const kiln_pool *pool) { return pool->bornAt != __atomic_load_n(&forkCount, __ATOMIC_RELAXED); }

void parallelFor(void *user, int64_t tasks, kiln_task task, void *arg) {
  kiln_pool *pool = static_cast<kiln_pool *>(user);
  if (tasks <= 0)
    return;
  if (tasks == 1 || isForeign(pool) || __atomic_exchange_n(&pool->busy, 1, __ATOMIC_ACQUIRE)) {
    task(arg, 0, tasks);
    return;
  }
  int64_t parts = lesser(tasks, pool->numThreads);
  pool->task = task;
  pool->arg = arg;
  pool->tasks = tasks;
  uint64_t region = regionOf(pool, uint64_t(parts)), pending = 0;
  for (int64_t part = 0; part < parts; ++part) {
    uint64_t grains = uint64_t(countGrains(pool, parts, part));
    __atomic_store_n(&pool->workers[part].left, (region & ~partsMask) + grains, __ATOMIC_RELAXED);
    pending += grains;
  }
  __atomic_store_n(&pool->pending, pending, __ATOMIC_RELAXED);
  announce(pool, region, wakeMask(parts));
  __atomic_sub_fetch(&pool->pending, takePart(pool, 0, region), __ATOMIC_SEQ_CST);
  awaitWorkers(pool);
  __atomic_store_n(&pool->busy, 0, __ATOMIC_RELEASE);
}

Worker *makeWorkers(int32_t count) {
  void *memory = allocateAligned(size_t(count) * sizeof(Worker), alignof(Worker));
  if (memory)
    memset(memory, 0, size_t(count) * sizeof(Worker));
  return static_cast<Worker *>(memory);
}

bool startWorkers(kiln_pool *pool, int32_t numThreads) {
  int32_t started = 1;
  for (; started < numThreads; ++started) {
    Worker *worker = &pool->workers[started];
    worker->pool = pool;
    worker->id = started;
    if (!startThread(&worker->thread, work, worker))
      break;
  }
  pool->numThreads = started;
  return started == numThreads;
}

} // namespace

kiln_status kiln_pool_create(int32_t num_threads, kiln_pool **result) {
  if (!result)
    return KILN_STATUS_NULL_POINTER;
  *result = nullptr;
  if (num_threads < 0 || num_threads > KILN_POOL_MAX_THREADS)
    return KILN_STATUS_INVALID_ARGUMENT;
  int32_t cpus = countCpus();
  if (num_threads == 0)
    num_threads = cpus;

  watchForks(countFork);
  kiln_pool *pool = static_cast<kiln_pool *>(allocateAligned(sizeof(kiln_pool), alignof(kiln_pool)));
  if (!pool)
    return KILN_STATUS_OUT_OF_MEMORY;
  *pool = kiln_pool{};
  pool->numThreads = 1;
  pool->spins = num_threads > cpus ? spinsWhenCrowded : spinsOfThreads;
  pool->bornAt = __atomic_load_n(&forkCount, __ATOMIC_RELAXED);
  pool->workers = makeWorkers(num_threads);
  kiln_status status = !pool->workers                      ? KILN_STATUS_OUT_OF_MEMORY
                       : !startWorkers(pool, num_threads) ? KILN_STATUS_THREAD_FAILURE
                                                          : KILN_STATUS_OK;
  if (status != KILN_STATUS_OK) {
    kiln_pool_destroy(pool);
    return status;
  }
  *result = pool;
  return KILN_STATUS_OK;
}

void kiln_pool_destroy(kiln_pool *pool) {
  if (!pool)
    return;
  if (!isForeign(pool)) {
    announce(pool, regionOf(pool, shutDown), allWorkers);
    for (int32_t i = 1; i < pool->numThreads; ++i)
      joinThread(&pool->workers[i].thread);
  }
  freeAligned(pool->workers);
  freeAligned(pool);
}

void kiln_pool_context(kiln_pool *pool, kiln_context *context) {
  if (!context)
    return;
  *context = KILN_CONTEXT_INIT;
  if (!pool || pool->numThreads == 1)
    return;
  context->num_threads = pool->numThreads;
  context->parallel_for = parallelFor;
  context->parallel_user = pool;
}
