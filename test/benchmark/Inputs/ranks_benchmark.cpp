// Times of the calls of a communicator: of threads with the argument RANKS, or of processes under MPI where KILN_BENCHMARK_MPI is defined.
// Usage: ranks_benchmark SECONDS LARGEST [RANKS]    rank 0 prints lines `CALL BYTES MICROSECONDS`; each number takes about so many seconds
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#if defined(KILN_BENCHMARK_MPI)
#include "kiln/mpi.h"
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

class Benchmark {
public:
  Benchmark(const kiln_communicator &c, double seconds, int64_t largest)
      : c(c), all(size_t(c.size)), seconds(seconds), largest(largest), first(size_t(largest * c.size), 1), second(first) {
    std::iota(all.begin(), all.end(), 0);
    group = {all.data(), c.size, c.rank};
  }

  void run() {
    for (int64_t bytes = 8; bytes <= largest; bytes *= 8) {
      int64_t floats = bytes / 4, part = std::max<int64_t>(bytes / c.size / 4 * 4, 4);
      // There and back, so half of it is a message.
      measure("message", bytes, 0.5, [&] {
        if (c.rank == 0)
          check(c.send(c.user, 1, first.data(), bytes)), check(c.receive(c.user, 1, second.data(), bytes));
        else if (c.rank == 1)
          check(c.receive(c.user, 0, second.data(), bytes)), check(c.send(c.user, 0, first.data(), bytes));
      });
      measure("exchange", bytes, 1, [&] {
        int32_t next = (c.rank + 1) % c.size, before = (c.rank + c.size - 1) % c.size;
        check(c.exchange(c.user, next, first.data(), bytes, before, second.data(), bytes));
      });
      measure("all_reduce", bytes, 1, [&] { check(c.all_reduce(c.user, &group, first.data(), floats, KILN_ELEMENT_F32, KILN_REDUCE_MAX)); });
      measure("reduce_scatter", bytes, 1, [&] {
        check(c.reduce_scatter(c.user, &group, first.data(), second.data(), part / 4, KILN_ELEMENT_F32, KILN_REDUCE_SUM));
      });
      measure("all_gather", bytes, 1, [&] { check(c.all_gather(c.user, &group, first.data(), second.data(), part)); });
      measure("all_to_all", bytes, 1, [&] { check(c.all_to_all(c.user, &group, first.data(), second.data(), part)); });
    }
  }

private:
  using Clock = std::chrono::steady_clock;

  void check(kiln_status status) {
    if (status == KILN_STATUS_OK)
      return;
    std::fprintf(stderr, "rank %d: %s\n", c.rank, kiln_status_string(status));
    std::exit(1);
  }

  double timeCalls(const std::function<void()> &call, int64_t calls) {
    float barrier = 0;
    check(c.all_reduce(c.user, &group, &barrier, 1, KILN_ELEMENT_F32, KILN_REDUCE_SUM));
    Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < calls; ++i)
      call();
    return std::chrono::duration<double>(Clock::now() - begin).count() / double(calls);
  }

  // The best of many short turns: others use the machine, too.
  void measure(const char *name, int64_t bytes, double factor, const std::function<void()> &call) {
    constexpr int turns = 20;
    double time = timeCalls(call, 3);
    check(c.all_reduce(c.user, &group, &time, 1, KILN_ELEMENT_F64, KILN_REDUCE_MAX)); // all must make as many calls
    int64_t calls = std::min<int64_t>(std::max<int64_t>(int64_t(seconds / turns / std::max(time, 1e-7)), 1), 100000);
    double best = time;
    for (int turn = 0; turn < turns; ++turn) {
      double mean = timeCalls(call, calls);
      check(c.all_reduce(c.user, &group, &mean, 1, KILN_ELEMENT_F64, KILN_REDUCE_MAX));
      best = std::min(best, mean);
    }
    if (c.rank == 0)
      std::printf("%s %lld %.3f\n", name, static_cast<long long>(bytes), best * factor * 1e6);
  }

  const kiln_communicator &c;
  std::vector<int32_t> all;
  kiln_ranks group;
  double seconds;
  int64_t largest;
  std::vector<char> first, second;
};

} // namespace

int main(int argc, char **argv) {
#if defined(KILN_BENCHMARK_MPI)
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  kiln_communicator *c = nullptr;
  if (argc < 3 || kiln_mpi_communicator_create(MPI_COMM_WORLD, 0, &c) != KILN_STATUS_OK)
    return 2;
  Benchmark(*c, std::atof(argv[1]), std::atoll(argv[2])).run();
  kiln_mpi_communicator_destroy(c);
  MPI_Finalize();
#else
  kiln_local_ranks *ranks = nullptr;
  int32_t size = argc == 4 ? std::atoi(argv[3]) : 0;
  if (kiln_local_ranks_create(size, 0, &ranks) != KILN_STATUS_OK)
    return 2;
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([=] { Benchmark(*kiln_local_ranks_get(ranks, rank), std::atof(argv[1]), std::atoll(argv[2])).run(); });
  for (std::thread &thread : threads)
    thread.join();
  kiln_local_ranks_destroy(ranks);
#endif
  return 0;
}
