// The thread pool. One word, `region`, tells the workers everything they need to decide: its upper bits count
// regions, its lower bits say how many threads take part in the current one. A worker with a part claims it, runs
// it and counts down `pending`; a worker without one never reads the rest, so the caller need not wait for it. Parts
// that nobody has claimed when the caller is done with its own are the caller's, too: a worker that still wakes up,
// or that the system does not let run, holds nobody up.
#include "kiln/runtime.h"

#include "Park.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

using namespace kiln;

namespace {

constexpr uint64_t partsMask = 0xffff;
constexpr uint64_t nextRegion = partsMask + 1;
constexpr uint64_t shutDown = partsMask; // more parts than a pool has threads
constexpr uint64_t callerAsleep = uint64_t(1) << 32;
constexpr uint32_t allWorkers = ~uint32_t(0);
constexpr int spinsOfThreads = 2000; // 50 to 150 us, about the serial gap between two kernels
constexpr int spinsWhenCrowded = 20; // more threads than CPUs: the thread waited for needs this CPU

// Counts forks that made this process: a pool made before the last one has no workers here.
uint32_t forkCount;

void countFork() { __atomic_add_fetch(&forkCount, 1, __ATOMIC_SEQ_CST); }
void watchForks() { pthread_atfork(nullptr, nullptr, countFork); }

struct Worker {
  kiln_pool *pool;
  pthread_t thread;
  int32_t id;       // 1 ... numThreads-1; the caller of a region is 0
  uint64_t claimed; // the last region whose part `id` is taken
};

} // namespace

struct kiln_pool {
  alignas(64) uint64_t region;  // region count and parts, see above
  alignas(64) uint64_t pending; // parts not done yet, besides the caller's; plus callerAsleep
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

void runPart(kiln_pool *pool, int64_t part, int64_t parts) {
  // The first `rest` parts are one task longer. Products would overflow for huge task counts.
  int64_t size = pool->tasks / parts, rest = pool->tasks % parts;
  int64_t begin = part * size + (part < rest ? part : rest);
  pool->task(pool->arg, begin, begin + size + (part < rest ? 1 : 0));
}

// Takes a worker's part of `region` for the calling thread, which then must run it; false when it is taken. Claims only
// grow, so a worker that comes late gets nothing, and reads nothing of a later region.
bool claimPart(Worker *worker, uint64_t region) {
  uint64_t last = __atomic_load_n(&worker->claimed, __ATOMIC_RELAXED);
  return last < region && __atomic_compare_exchange_n(&worker->claimed, &last, region, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
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
    if (uint64_t(worker->id) >= parts || !claimPart(worker, seen))
      continue;
    runPart(pool, worker->id, int64_t(parts));
    if (__atomic_fetch_sub(&pool->pending, 1, __ATOMIC_SEQ_CST) == callerAsleep + 1)
      parkWake(pool->callerPark, &pool->pending, allWorkers);
  }
}

void announce(kiln_pool *pool, uint64_t parts, uint32_t mask) {
  uint64_t next = (pool->region & ~partsMask) + nextRegion + parts;
  __atomic_store_n(&pool->region, next, __ATOMIC_SEQ_CST);
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
  int64_t parts = tasks < pool->numThreads ? tasks : pool->numThreads;
  pool->task = task;
  pool->arg = arg;
  pool->tasks = tasks;
  __atomic_store_n(&pool->pending, uint64_t(parts - 1), __ATOMIC_RELAXED);
  announce(pool, uint64_t(parts), wakeMask(parts));
  runPart(pool, 0, parts);
  for (int64_t part = 1; part < parts; ++part)
    if (claimPart(&pool->workers[part], pool->region)) {
      runPart(pool, part, parts);
      __atomic_sub_fetch(&pool->pending, 1, __ATOMIC_SEQ_CST);
    }
  awaitWorkers(pool);
  __atomic_store_n(&pool->busy, 0, __ATOMIC_RELEASE);
}

int32_t countCpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > KILN_POOL_MAX_THREADS ? KILN_POOL_MAX_THREADS : int32_t(online);
}

// Starts the workers with all signals blocked, so that the program's handlers run on its own threads.
bool startWorkers(kiln_pool *pool, int32_t numThreads) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int32_t started = 1;
  for (; started < numThreads; ++started) {
    Worker *worker = &pool->workers[started];
    worker->pool = pool;
    worker->id = started;
    if (pthread_create(&worker->thread, nullptr, work, worker) != 0)
      break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watchForks);

  void *memory = nullptr;
  if (posix_memalign(&memory, alignof(kiln_pool), sizeof(kiln_pool)) != 0)
    return KILN_STATUS_OUT_OF_MEMORY;
  kiln_pool *pool = static_cast<kiln_pool *>(memory);
  *pool = kiln_pool{};
  pool->numThreads = 1;
  pool->spins = num_threads > cpus ? spinsWhenCrowded : spinsOfThreads;
  pool->bornAt = __atomic_load_n(&forkCount, __ATOMIC_RELAXED);
  pool->workers = static_cast<Worker *>(calloc(size_t(num_threads), sizeof(Worker)));
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
    announce(pool, shutDown, allWorkers);
    for (int32_t i = 1; i < pool->numThreads; ++i)
      pthread_join(pool->workers[i].thread, nullptr);
  }
  free(pool->workers);
  free(pool);
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
