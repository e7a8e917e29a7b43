// Ranks under MPI. Usage: mpirun -np N ranks cases|mismatch|killed|stopped|error DEADLINE_MS
// Each rank prints a line `rank R: WHAT STATUS after T ms`. Rank 1 is the one that dies, stops, differs or has an error.
#include "../../../unit/runtime/MergedCases.h"

#include "kiln/mpi.h"
#include "kiln/runtime.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace {

int64_t deadlineNs;
const uint8_t fingerprint[16] = {5};

struct Program {
  explicit Program(int64_t deadline) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD); // processes of a busy machine start at very different times
    check(kiln_mpi_communicator_create(MPI_COMM_WORLD, deadline, &c), "create");
    all.resize(size_t(size));
    std::iota(all.begin(), all.end(), 0);
    group = {all.data(), size, rank};
  }
  ~Program() { kiln_mpi_communicator_destroy(c); }

  void check(kiln_status status, const char *what) {
    if (status == KILN_STATUS_OK)
      return;
    std::printf("rank %d: %s gave: %s\n", rank, what, kiln_status_string(status));
    std::fflush(stdout);
    _exit(1);
  }
  kiln_status reduce(int64_t count) {
    // The memory is gone when the call has returned.
    std::unique_ptr<float[]> data(new float[size_t(count)]());
    return c->all_reduce(c->user, &group, data.get(), count, KILN_ELEMENT_F32, KILN_REDUCE_SUM);
  }
  void report(const char *what, kiln_status status) {
    int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
    std::printf("rank %d: %s: %s after %d ms\n", rank, what, kiln_status_string(status), int(ms));
    std::fflush(stdout);
  }

  int rank = 0, size = 0;
  kiln_communicator *c = nullptr;
  std::vector<int32_t> all;
  kiln_ranks group;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

int runCases() {
  Program program(int64_t(60) * 1000000000);
  std::string wrong = kiln_test::RankCases(*program.c).run({0, 1, 34001}, 700000);
  for (const std::vector<int64_t> &counts : {std::vector<int64_t>{1, 0, 1500}, std::vector<int64_t>{20001, 7, 30000, 5}})
    wrong = wrong.empty() ? kiln_test::MergedCases(*program.c).run(counts) : wrong;
  std::printf("rank %d of %d: %s\n", program.rank, program.size, wrong.empty() ? "the bits of a plain computation" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

// Each time with a new communicator.
int runMismatches() {
  for (int64_t other : {7, 100000}) {
    Program program(deadlineNs);
    // What the others fail with may reach a rank before it has begun.
    kiln_status status = program.c->begin(program.c->user, fingerprint);
    if (status == KILN_STATUS_OK)
      status = program.reduce(program.rank == 1 ? other : 8);
    program.report("all_reduce", program.c->end(program.c->user, status));
  }
  Program program(deadlineNs);
  uint8_t mine[16] = {uint8_t(program.rank == 1)};
  program.report("begin", program.c->begin(program.c->user, mine));
  program.check(program.c->begin(program.c->user, fingerprint), "begin");
  program.check(program.reduce(8), "all_reduce");
  program.check(program.c->end(program.c->user, KILN_STATUS_OK), "end");
  return 0;
}

// Rank 1 has an error of its own while the others wait.
int runError() {
  Program program(deadlineNs);
  kiln_status status = program.c->begin(program.c->user, fingerprint);
  if (status == KILN_STATUS_OK)
    status = program.rank == 1 ? KILN_STATUS_INDEX_OUT_OF_BOUNDS : program.reduce(1000);
  program.report("end", program.c->end(program.c->user, status));
  return 0;
}

// MPI_Finalize() would wait for the dead, so whoever has seen a failure leaves without it.
int runSignal(int signal) {
  Program program(deadlineNs);
  program.check(program.c->begin(program.c->user, fingerprint), "begin");
  std::vector<int64_t> processes(size_t(program.size));
  processes[size_t(program.rank)] = getpid();
  program.check(program.c->all_gather(program.c->user, &program.group, &processes[size_t(program.rank)], processes.data(), 8), "all_gather");
  if (program.rank == 1)
    raise(signal);
  program.begin = std::chrono::steady_clock::now();
  kiln_status status = program.reduce(100000);
  program.report("end", program.c->end(program.c->user, status));
  // The last of the others wakes the one that was stopped: it then learns that it failed them.
  if (signal == SIGSTOP && program.rank == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(pid_t(processes[1]), SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  _exit(0);
}

} // namespace

int main(int argc, char **argv) {
  std::string mode = argc == 3 ? argv[1] : "";
  deadlineNs = argc == 3 ? std::atoll(argv[2]) * 1000000 : 0;
  std::signal(SIGUSR1, SIG_IGN); // by which mpirun of MPICH says that a process has died
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int result = mode == "cases"      ? runCases()
               : mode == "mismatch" ? runMismatches()
               : mode == "killed"   ? runSignal(SIGKILL)
               : mode == "stopped"  ? runSignal(SIGSTOP)
               : mode == "error"    ? runError()
                                    : 2;
  MPI_Finalize();
  return result;
}
