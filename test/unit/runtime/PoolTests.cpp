#include "TestSystem.h"
#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define KILN_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KILN_UNDER_TSAN 1
#endif
#endif
#ifndef KILN_UNDER_TSAN
#define KILN_UNDER_TSAN 0
#endif

#if !defined(_WIN32)
/// Of a build that counts lines: a child that leaves by _exit() keeps no counts on its own.
#if defined(__APPLE__) // where a weak name must have a definition
extern "C" __attribute__((weak)) int __llvm_profile_write_file() { return 0; }
#else
extern "C" __attribute__((weak)) int __llvm_profile_write_file();
#endif
#endif

namespace {

using kiln_test::cpuSeconds;

struct Pool {
  explicit Pool(int32_t threads) {
    EXPECT_EQ(kiln_pool_create(threads, &pool), KILN_STATUS_OK);
    kiln_pool_context(pool, &context);
  }
  ~Pool() { kiln_pool_destroy(pool); }
  void run(int64_t tasks, kiln_task task, void *arg) {
    if (context.parallel_for)
      context.parallel_for(context.parallel_user, tasks, task, arg);
    else
      task(arg, 0, tasks);
  }
  kiln_pool *pool = nullptr;
  kiln_context context;
};

// Not atomic: a number visited twice at once is a data race that the thread sanitizer reports.
struct Visits {
  explicit Visits(int64_t tasks) : count(size_t(tasks)) {}
  static void visit(void *arg, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ++static_cast<Visits *>(arg)->count[size_t(i)];
  }
  bool allEqual(int expected) const {
    for (int visits : count)
      if (visits != expected)
        return false;
    return true;
  }
  std::vector<int> count;
};

#if !defined(_WIN32)
// A worker's own fault reaches the program's handler, and a signal from outside reaches none of its workers.
void faultOnWorker(int32_t status) {
  static pthread_t caller = pthread_self();
  static std::atomic<int> arrived = 0;
  static int exitStatus = status;
  static volatile char *page = static_cast<char *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action = {};
  action.sa_handler = [](int) { _exit(exitStatus); };
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  Pool pool(2);
  auto task = [](void *, int64_t, int64_t) {
    for (++arrived; arrived < 2;)
      std::this_thread::yield();
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    if (!pthread_equal(pthread_self(), caller) && sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGPROF))
      *page = 1;
    sleep(10);
  };
  pool.run(2, task, nullptr);
  _exit(1);
}

TEST(PoolDeathTest, OwnFaultsReachHandlers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(faultOnWorker(42), testing::ExitedWithCode(42), "");
}
#endif

TEST(Pool, VisitsEveryTaskOnce) {
  for (int32_t threads : {1, 2, 3, 4, 7, 33}) {
    Pool pool(threads);
    for (int64_t tasks : {0, 1, 2, 3, 5, 8, 32, 33, 34, 1000}) {
      Visits visits(tasks);
      pool.run(tasks, Visits::visit, &visits);
      EXPECT_TRUE(visits.allEqual(1)) << threads << " threads, " << tasks << " tasks";
    }
  }
}

TEST(Pool, ManyRegionsInARow) {
  Pool pool(4);
  Visits visits(7);
  const int regions = KILN_UNDER_TSAN ? 2000 : 20000;
  for (int i = 0; i < regions; ++i)
    pool.run(1 + i % 7, Visits::visit, &visits);
  int expected = 0;
  for (int i = 0; i < regions; ++i)
    expected += i % 7 >= 6;
  EXPECT_EQ(visits.count[6], expected);
  EXPECT_EQ(visits.count[0], regions);
}

struct Ranges {
  static void record(void *arg, int64_t begin, int64_t end) {
    Ranges *ranges = static_cast<Ranges *>(arg);
    size_t slot = ranges->used.fetch_add(1);
    ranges->length[slot] = end - begin;
    for (int i = 0; ranges->used < ranges->awaited && i < 5000; ++i)
      usleep(1000);
  }
  size_t awaited = 0; // a range ends only when so many have begun
  std::atomic<size_t> used{0};
  int64_t length[64] = {};
};

TEST(Pool, PartsAreEven) {
  Pool pool(4);
  Ranges ranges;
  ranges.awaited = 4;
  pool.run(10, Ranges::record, &ranges);
  ASSERT_EQ(ranges.used, 4u);
  for (int64_t length : {ranges.length[0], ranges.length[1], ranges.length[2], ranges.length[3]})
    EXPECT_TRUE(length == 2 || length == 3) << length;
}

TEST(Pool, TaskCountsDoNotOverflow) {
  Pool pool(3);
  Ranges ranges;
  pool.run(INT64_MAX, Ranges::record, &ranges);
  uint64_t sum = 0;
  for (size_t slot = 0; slot < ranges.used; ++slot) {
    EXPECT_GT(ranges.length[slot], 0);
    sum += uint64_t(ranges.length[slot]);
  }
  EXPECT_EQ(sum, uint64_t(INT64_MAX));
}

/// Two threads: the worker's first range ends only when somebody else has done the worker's last task.
struct SlowWorker {
  static constexpr int64_t tasks = 64;
  static void run(void *arg, int64_t begin, int64_t end) {
    SlowWorker *self = static_cast<SlowWorker *>(arg);
    if (begin == tasks / 2)
      self->begun = true;
    for (int i = 0; begin == 0 && !self->begun && i < 5000; ++i)
      usleep(1000);
    for (int i = 0; begin == tasks / 2 && !self->lastDone && i < 5000; ++i)
      usleep(1000);
    if (end == tasks)
      self->lastDone = std::this_thread::get_id() == self->caller && begin > tasks / 2;
  }
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> begun{false}, lastDone{false};
};

TEST(Pool, OthersDoTheLastGrainsOfASlowThread) {
  Pool pool(2);
  for (int i = 0; i < 20; ++i) {
    SlowWorker worker;
    pool.run(SlowWorker::tasks, SlowWorker::run, &worker);
    EXPECT_TRUE(worker.begun && worker.lastDone);
  }
}

struct Nested {
  static void outer(void *arg, int64_t begin, int64_t end) {
    Nested *nested = static_cast<Nested *>(arg);
    for (int64_t i = begin; i < end; ++i)
      nested->pool->run(100, Visits::visit, &nested->inner[size_t(i)]);
  }
  Pool *pool;
  std::vector<Visits> inner;
};

TEST(Pool, RegionsMayNest) {
  Pool pool(3);
  Nested nested{&pool, std::vector<Visits>(8, Visits(100))};
  pool.run(8, Nested::outer, &nested);
  for (const Visits &visits : nested.inner)
    EXPECT_TRUE(visits.allEqual(1));
}

TEST(Pool, ServesSeveralCallersAtOnce) {
  Pool pool(3);
  std::vector<std::thread> callers;
  std::vector<Visits> visits(4, Visits(50));
  const int regions = KILN_UNDER_TSAN ? 300 : 3000;
  for (Visits &own : visits)
    callers.emplace_back([&] {
      for (int i = 0; i < regions; ++i)
        pool.run(50, Visits::visit, &own);
    });
  for (std::thread &caller : callers)
    caller.join();
  for (const Visits &own : visits)
    EXPECT_TRUE(own.allEqual(regions));
}

TEST(Pool, TwoPoolsAtOnce) {
  Pool first(2), second(3);
  Visits a(100), b(100);
  std::thread other([&] { second.run(100, Visits::visit, &b); });
  first.run(100, Visits::visit, &a);
  other.join();
  EXPECT_TRUE(a.allEqual(1) && b.allEqual(1));
}

TEST(Pool, IdleWorkersSleep) {
  Pool pool(4);
  Visits visits(4);
  pool.run(4, Visits::visit, &visits);
  usleep(100000); // the spinning ends long before
  double before = cpuSeconds();
  usleep(500000);
  EXPECT_LT(cpuSeconds() - before, 0.02);
  pool.run(4, Visits::visit, &visits);
  EXPECT_TRUE(visits.allEqual(2));
}

struct Takers {
  static void note(void *arg, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      static_cast<Takers *>(arg)->thread[i] = std::this_thread::get_id();
  }
  std::thread::id thread[4];
};

TEST(Pool, CallerTakesPartsOfSleepers) {
  Pool pool(4);
  int taken = 0;
  for (int i = 0; i < 200 && taken == 0; ++i) {
    usleep(20000); // the workers sleep, and waking up takes longer than these tasks
    Takers takers;
    pool.run(4, Takers::note, &takers);
    for (int task = 1; task < 4; ++task)
      taken += takers.thread[task] == std::this_thread::get_id();
  }
  EXPECT_GT(taken, 0);
}

void sleepOneTask(void *, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    if (i == 3)
      usleep(300000);
}

/// The caller's task ends once the worker has the other one, which takes long.
void sleepInTheWorker(void *started, int64_t begin, int64_t) {
  std::atomic<bool> &flag = *static_cast<std::atomic<bool> *>(started);
  if (begin != 0) {
    flag = true;
    usleep(100000);
  }
  for (int i = 0; begin == 0 && !flag && i < 5000; ++i)
    usleep(1000);
}

TEST(Pool, AWorkerWakesTheCaller) {
  Pool pool(2);
  std::atomic<bool> started = false;
  double before = cpuSeconds();
  pool.run(2, sleepInTheWorker, &started);
  EXPECT_TRUE(started);
  EXPECT_LT(cpuSeconds() - before, 0.09);
}

TEST(Pool, CallerSleepsWhileItWaits) {
  Pool pool(4);
  double before = cpuSeconds();
  pool.run(4, sleepOneTask, nullptr);
  EXPECT_LT(cpuSeconds() - before, 0.05);
}

#if !defined(_WIN32) && !KILN_UNDER_TSAN // which does not follow a fork of a threaded process
TEST(Pool, RunsSeriallyInAForkedChild) {
  Pool pool(4);
  Visits visits(100);
  pool.run(100, Visits::visit, &visits);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(10); // a worker that is not there would be waited for without end
    pool.run(100, Visits::visit, &visits);
    Pool own(2);
    own.run(100, Visits::visit, &visits);
    kiln_pool_destroy(pool.pool);
    if (&__llvm_profile_write_file)
      __llvm_profile_write_file();
    _exit(visits.allEqual(3) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  pool.run(100, Visits::visit, &visits);
  EXPECT_TRUE(visits.allEqual(2)) << "the parent's pool goes on";
}
#endif

TEST(Pool, CountsCpusByDefault) {
  Pool pool(0);
  EXPECT_GE(pool.context.num_threads, 1);
  EXPECT_LE(pool.context.num_threads, int32_t(std::thread::hardware_concurrency()));
}

TEST(Pool, ContextIsComplete) {
  Pool pool(2);
  EXPECT_EQ(pool.context.abi_version, uint32_t(KILN_ABI_VERSION));
  EXPECT_EQ(pool.context.struct_size, sizeof(kiln_context));
  EXPECT_EQ(pool.context.num_threads, 2);
  EXPECT_EQ(pool.context.on_kernel, nullptr);
  EXPECT_EQ(pool.context.allocate, nullptr);
}

TEST(Pool, OneThreadNeedsNoPool) {
  kiln_context context;
  kiln_pool_context(nullptr, &context);
  EXPECT_EQ(context.parallel_for, nullptr);
  EXPECT_EQ(context.num_threads, 1);
  EXPECT_EQ(Pool(1).context.parallel_for, nullptr);
}

TEST(Pool, RefusesBadArguments) {
  EXPECT_EQ(kiln_pool_create(2, nullptr), KILN_STATUS_NULL_POINTER);
  for (int32_t threads : {-1, KILN_POOL_MAX_THREADS + 1}) {
    kiln_pool *pool = reinterpret_cast<kiln_pool *>(1);
    EXPECT_EQ(kiln_pool_create(threads, &pool), KILN_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(pool, nullptr);
  }
  kiln_pool_destroy(nullptr);
  kiln_pool_context(nullptr, nullptr);
}

} // namespace
