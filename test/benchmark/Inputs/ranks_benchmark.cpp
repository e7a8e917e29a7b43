// Times of the calls of a communicator, beside what the model of kiln plan says of them: of threads, or of processes under MPI where KILN_BENCHMARK_MPI is
// defined.
// Usage: ranks_benchmark SECONDS LARGEST RANKS RUNNING [LATENCY MESSAGE RATE REDUCED LONG]
// RUNNING is the number of ranks that run at one time. Rank 0 prints lines `CALL BYTES MICROSECONDS PREDICTED`; each number takes about so many seconds. Behind
// them is a line `link LATENCY MESSAGE RATE REDUCED LONG TURN` in seconds and bytes per second: the model's numbers, fitted to the times, or those that were given.
#include "compiler/plan/NetworkProbe.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#if defined(KILN_BENCHMARK_MPI)
#include "kiln/mpi.h"
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace kiln;

static void run(const kiln_communicator &c, int argc, char **argv) {
  CallTimes times;
  kiln_status status = probeNetwork(c, std::atof(argv[1]), std::atoll(argv[2]), times);
  if (status != KILN_STATUS_OK) {
    std::fprintf(stderr, "rank %d: %s\n", c.rank, kiln_status_string(status));
    std::exit(1);
  }
  if (c.rank != 0)
    return;
  Placement placement;
  placement.ranks = placement.ranksPerMachine = c.size;
  placement.running = std::atof(argv[4]);
  placement.inside = argc > 9 ? Link{std::atof(argv[5]), std::atof(argv[6]), std::atof(argv[7]), std::atof(argv[8]), std::atof(argv[9])} : fitLink(times, c.size);
  double turn = 0;
  if (placement.countTurns() > 1)
    turn = std::max(times.at("all_reduce").begin()->second - predictCall("all_reduce", times.at("all_reduce").begin()->first, placement), 0.0);
  placement.turn = turn;
  for (const auto &[call, sizes] : times)
    for (auto [bytes, seconds] : sizes)
      std::printf("%s %lld %.3f %.3f\n", call.c_str(), static_cast<long long>(bytes), seconds * 1e6, predictCall(call, bytes, placement) * 1e6);
  const Link &link = placement.inside;
  std::printf("link %.6g %.6g %.6g %.6g %.6g %.6g\n", link.latency, link.message, link.bytesPerSecond, link.reducedBytesPerSecond, link.longBytesPerSecond, turn);
}

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
#if defined(KILN_BENCHMARK_MPI)
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  kiln_communicator *c = nullptr;
  if (kiln_mpi_communicator_create(MPI_COMM_WORLD, 0, &c) != KILN_STATUS_OK)
    return 2;
  run(*c, argc, argv);
  kiln_mpi_communicator_destroy(c);
  MPI_Finalize();
#else
  kiln_local_ranks *ranks = nullptr;
  int32_t size = std::atoi(argv[3]);
  if (kiln_local_ranks_create(size, 0, &ranks) != KILN_STATUS_OK)
    return 2;
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([=] { run(*kiln_local_ranks_get(ranks, rank), argc, argv); });
  for (std::thread &thread : threads)
    thread.join();
  kiln_local_ranks_destroy(ranks);
#endif
  return 0;
}
