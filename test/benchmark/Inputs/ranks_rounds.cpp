// The latency of a model of a shared library: of one that is not sharded with threads, or of one whose ranks are threads of this process, or processes under MPI
// where KILN_BENCHMARK_MPI is defined.
// Usage: ranks_rounds LIBRARY.so FOLDER SECONDS RANKS THREADS INPUT=FILE.npy...
// The model's name is `model`, all of its dimensions are static, and FOLDER has the ranks' weights. Prints the median in milliseconds.
#include "kiln/ranks.h"
#include "test/benchmark/LoadedLibrary.h"
#include "test/benchmark/Rounds.h"
#if defined(KILN_BENCHMARK_MPI)
#include "kiln/mpi.h"
#endif

#include <numeric>
#include <thread>

using namespace kiln::rounds;

namespace {

using RunRank = kiln_status (*)(const void *const *inputs, void *const *outputs, const void *weights, void *workspace, const kiln_context *context);

struct Request {
  kiln::LoadedLibrary model;
  std::string folder;
  double seconds;
  std::vector<Input> inputs;
};

void check(kiln_status status, const char *what) {
  if (status != KILN_STATUS_OK)
    fail(std::string(what) + ": " + kiln_status_string(status));
}

/// One rank, or the whole model where there is no communicator.
class Rank {
public:
  Rank(const Request &request, kiln_context context) : request(request), context(context) {
    const kiln_model_info &info = *request.model.info;
    for (int32_t i = 0; i < info.num_inputs; ++i)
      inputs.push_back(find(info.inputs[i]));
    for (int32_t i = 0; i < info.num_outputs; ++i)
      outputs.push_back(buffers.emplace_back(allocate(size_t(info.outputs[i].byte_size))).get());
    check(kiln_workspace_create(size_t(info.workspace_size), &workspace), "workspace");
    if (!context.communicator)
      return;
    if (info.num_ranks != context.communicator->size)
      fail("the model is cut for another number of ranks");
    const kiln_rank_weights &own = info.rank_weights[context.communicator->rank];
    check(kiln_weights_map((request.folder + "/" + own.file).c_str(), size_t(own.size), own.checksum, &weights), own.file);
  }

  double measure() {
    double time = 0;
    for (int warm = 0; warm < 3; ++warm)
      time = runOnce();
    // All ranks make as many runs.
    time = findLongest(time);
    std::vector<double> times(size_t(std::min(std::max(request.seconds * 1e3 / time, 5.0), 1e5)));
    for (double &each : times)
      each = runOnce();
    std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

private:
  const void *find(const kiln_tensor_info &info) const {
    for (const Input &input : request.inputs)
      if (input.name == info.name && input.bytes == size_t(info.byte_size))
        return input.data.get();
    fail(std::string("no values of the right size for input ") + info.name);
  }

  double runOnce() {
    double begin = getMilliseconds();
    if (context.communicator)
      check(reinterpret_cast<RunRank>(reinterpret_cast<void *>(request.model.run))(inputs.data(), outputs.data(), weights.data, workspace, &context), "run");
    else
      check(request.model.run(inputs.data(), outputs.data(), workspace, &context), "run");
    return getMilliseconds() - begin;
  }

  double findLongest(double time) const {
    const kiln_communicator *c = context.communicator;
    if (!c)
      return time;
    std::vector<int32_t> all(size_t(c->size));
    std::iota(all.begin(), all.end(), 0);
    kiln_ranks group = {all.data(), c->size, c->rank};
    check(c->all_reduce(c->user, &group, &time, 1, KILN_ELEMENT_F64, KILN_REDUCE_MAX), "all_reduce");
    return time;
  }

  const Request &request;
  kiln_context context;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  std::vector<Buffer> buffers;
  void *workspace = nullptr;
  kiln_weights weights = {};
};

double measureWhole(const Request &request, int32_t threads) {
  kiln_pool *pool = nullptr;
  kiln_context context = KILN_CONTEXT_INIT;
  if (threads > 1) {
    check(kiln_pool_create(threads, &pool), "threads");
    kiln_pool_context(pool, &context);
  }
  double time = Rank(request, context).measure();
  kiln_pool_destroy(pool);
  return time;
}

#if !defined(KILN_BENCHMARK_MPI)
double measureThreads(const Request &request, int32_t count) {
  kiln_local_ranks *ranks = nullptr;
  check(kiln_local_ranks_create(count, 0, &ranks), "ranks");
  std::vector<double> times(size_t(count), 0);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      kiln_context context = KILN_CONTEXT_INIT;
      context.communicator = kiln_local_ranks_get(ranks, rank);
      times[size_t(rank)] = Rank(request, context).measure();
    });
  for (std::thread &thread : threads)
    thread.join();
  kiln_local_ranks_destroy(ranks);
  return times.front();
}
#endif

} // namespace

int main(int argc, char **argv) {
#if defined(KILN_BENCHMARK_MPI)
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#endif
  if (argc < 6)
    fail("usage: ranks_rounds LIBRARY.so FOLDER SECONDS RANKS THREADS INPUT=FILE.npy...");
  std::string error;
  Request request{kiln::loadLibrary(argv[1], "model", error), argv[2], std::atof(argv[3]), {}};
  if (!request.model.run)
    fail(error);
  for (int i = 6; i < argc; ++i)
    request.inputs.push_back(readInput(argv[i]));
  int32_t ranks = std::atoi(argv[4]);
#if defined(KILN_BENCHMARK_MPI)
  kiln_communicator *communicator = nullptr;
  check(kiln_mpi_communicator_create(MPI_COMM_WORLD, 0, &communicator), "communicator");
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = communicator;
  double time = Rank(request, context).measure();
  if (communicator->rank == 0)
    std::printf("%.6f\n", time);
  kiln_mpi_communicator_destroy(communicator);
  MPI_Finalize();
  (void)ranks, (void)measureWhole;
#else
  std::printf("%.6f\n", ranks > 1 ? measureThreads(request, ranks) : measureWhole(request, std::atoi(argv[5])));
#endif
  return 0;
}
