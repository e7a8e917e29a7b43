// What the runtime says when the system gives it nothing. The linker has calls of these functions go to their __wrap_ forms.
#include "kiln/pipeline.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

/// The calls from now on, 1 for the next one, at which each function fails; 0: never.
struct Failures {
  int posix_memalign, calloc, pthread_create, mmap, sched_getaffinity;
} failures;

bool isDue(int &calls) { return calls > 0 && --calls == 0; }

} // namespace

extern "C" {
int __real_posix_memalign(void **, size_t, size_t);
int __wrap_posix_memalign(void **result, size_t alignment, size_t size) {
  return isDue(failures.posix_memalign) ? ENOMEM : __real_posix_memalign(result, alignment, size);
}
void *__real_calloc(size_t, size_t);
void *__wrap_calloc(size_t count, size_t size) { return isDue(failures.calloc) ? nullptr : __real_calloc(count, size); }
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
  return isDue(failures.pthread_create) ? EAGAIN : __real_pthread_create(thread, attributes, function, argument);
}
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return isDue(failures.mmap) ? MAP_FAILED : __real_mmap(address, size, protection, flags, file, offset);
}
int __real_sched_getaffinity(pid_t, size_t, cpu_set_t *);
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) {
  return isDue(failures.sched_getaffinity) ? -1 : __real_sched_getaffinity(process, size, set);
}
}

namespace {

class Failure : public testing::Test {
protected:
  void SetUp() override { failures = {}; }
  void TearDown() override { failures = {}; }
};

void expectNoPool(kiln_status status) {
  kiln_pool *pool = reinterpret_cast<kiln_pool *>(1);
  EXPECT_EQ(kiln_pool_create(4, &pool), status);
  EXPECT_EQ(pool, nullptr);
}

TEST_F(Failure, PoolWithoutMemory) {
  failures.posix_memalign = 1;
  expectNoPool(KILN_STATUS_OUT_OF_MEMORY);
  failures.posix_memalign = 2;
  expectNoPool(KILN_STATUS_OUT_OF_MEMORY);
}

TEST_F(Failure, PoolWithoutThreads) {
  for (int thread = 1; thread < 4; ++thread) {
    failures.pthread_create = thread;
    expectNoPool(KILN_STATUS_THREAD_FAILURE);
  }
}

TEST_F(Failure, PoolThatMayNotAskForItsCpusCountsThoseOnline) {
  failures.sched_getaffinity = 1;
  kiln_pool *pool = nullptr;
  ASSERT_EQ(kiln_pool_create(0, &pool), KILN_STATUS_OK);
  kiln_context context;
  kiln_pool_context(pool, &context);
  EXPECT_EQ(context.num_threads, std::min<long>(sysconf(_SC_NPROCESSORS_ONLN), KILN_POOL_MAX_THREADS));
  kiln_pool_destroy(pool);
}

TEST_F(Failure, RanksWithoutMemory) {
  auto create = [](int &function, int call) {
    function = call;
    kiln_local_ranks *ranks = reinterpret_cast<kiln_local_ranks *>(1);
    kiln_status status = kiln_local_ranks_create(2, 0, &ranks);
    EXPECT_EQ(ranks == nullptr, status == KILN_STATUS_OUT_OF_MEMORY);
    kiln_local_ranks_destroy(ranks);
    return status == KILN_STATUS_OUT_OF_MEMORY;
  };
  int calls = 0;
  for (int *function : {&failures.calloc, &failures.posix_memalign})
    for (int call = 1; create(*function, call); ++call)
      ++calls;
  EXPECT_EQ(calls, 35); // three for all ranks, and sixteen for each
}

TEST_F(Failure, ProfilerWithoutMemory) {
  for (int call : {1, 2}) {
    failures.calloc = call;
    kiln_profiler *profiler = reinterpret_cast<kiln_profiler *>(1);
    EXPECT_EQ(kiln_profiler_create(8, &profiler), KILN_STATUS_OUT_OF_MEMORY);
    EXPECT_EQ(profiler, nullptr);
  }
}

TEST_F(Failure, TraceWithoutMemory) {
  kiln_profiler *profiler = nullptr;
  ASSERT_EQ(kiln_profiler_create(1, &profiler), KILN_STATUS_OK);
  failures.calloc = 1;
  EXPECT_EQ(kiln_profiler_record(profiler, 8), KILN_STATUS_OUT_OF_MEMORY);
  ASSERT_EQ(kiln_profiler_record(profiler, 8), KILN_STATUS_OK);
  kiln_context context = KILN_CONTEXT_INIT;
  kiln_profiler_attach(profiler, &context);
  kiln_kernel_info kernel = {"net", "gemm_0", "fc(Gemm)", "gemm_tiled", 0, 1, 1, 1, 1};
  context.on_kernel(context.on_kernel_user, &kernel, KILN_KERNEL_BEGIN);
  context.on_kernel(context.on_kernel_user, &kernel, KILN_KERNEL_END);
  failures.calloc = 1;
  EXPECT_EQ(kiln_profiler_write_trace(profiler, "/dev/null"), KILN_STATUS_OUT_OF_MEMORY);
  kiln_profiler_destroy(profiler);
}

TEST_F(Failure, WorkspaceWithoutMemory) {
  void *workspace = this;
  failures.posix_memalign = 1;
  EXPECT_EQ(kiln_workspace_create(64, &workspace), KILN_STATUS_OUT_OF_MEMORY);
  EXPECT_EQ(workspace, nullptr);
  failures.mmap = 1;
  EXPECT_EQ(kiln_workspace_create(size_t(16) << 20, &workspace), KILN_STATUS_OUT_OF_MEMORY);
  EXPECT_EQ(workspace, nullptr);
}

kiln_status runNothing(const void *const *, void *const *, void *, const kiln_context *) { return KILN_STATUS_OK; }

TEST_F(Failure, PipelineWithoutMemoryOrThreads) {
  const int64_t dims[] = {8};
  const kiln_tensor_info x = {"x", "x", dims, nullptr, nullptr, 32, KILN_ELEMENT_F32, 1}, b = {"b", "b", dims, nullptr, nullptr, 32, KILN_ELEMENT_F32, 1};
  const kiln_metadata_entry first[] = {{"kiln.stage", "0"}, {"kiln.stages", "2"}, {"kiln.input.x", "given 0"}, {"kiln.output.b", "to 1"}};
  const kiln_metadata_entry second[] = {{"kiln.stage", "1"}, {"kiln.stages", "2"}, {"kiln.input.b", "from 0"}, {"kiln.output.x", "result 0"}};
  kiln_model_info infos[2] = {};
  kiln_stage stages[2] = {};
  for (int i = 0; i < 2; ++i) {
    infos[i].abi_version = KILN_ABI_VERSION;
    infos[i].struct_size = sizeof(kiln_model_info);
    infos[i].name = "net_stage";
    infos[i].inputs = i ? &b : &x;
    infos[i].outputs = i ? &x : &b;
    infos[i].num_inputs = infos[i].num_outputs = 1;
    infos[i].metadata = i ? second : first;
    infos[i].num_metadata = 4;
    infos[i].workspace_size = 64;
    stages[i] = {&infos[i], reinterpret_cast<void (*)(void)>(runNothing), reinterpret_cast<void (*)(void)>(runNothing), nullptr};
  }
  kiln_pipeline *pipeline = nullptr;
  auto create = [&] { return kiln_pipeline_create(stages, 2, nullptr, &pipeline); };
  // The pipeline, its workers, two workspaces and a border; stages, and four lists of each.
  for (int call = 1; call <= 5; ++call) {
    failures.posix_memalign = call;
    EXPECT_EQ(create(), KILN_STATUS_OUT_OF_MEMORY) << call;
    EXPECT_EQ(pipeline, nullptr);
  }
  for (int call = 1; call <= 9; ++call) {
    failures = {};
    failures.calloc = call;
    EXPECT_EQ(create(), KILN_STATUS_OUT_OF_MEMORY) << call;
  }
  for (int call = 1; call <= 2; ++call) {
    failures = {};
    failures.pthread_create = call;
    EXPECT_EQ(create(), KILN_STATUS_THREAD_FAILURE) << call;
  }
  failures = {};
  ASSERT_EQ(create(), KILN_STATUS_OK);
  kiln_pipeline_destroy(pipeline);
}

TEST_F(Failure, WeightsThatCannotBeMapped) {
  std::string path = testing::TempDir() + "kiln-failure-" + std::to_string(getpid());
  FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_TRUE(file);
  ASSERT_EQ(std::fwrite("bytes", 1, 5, file), 5u);
  std::fclose(file);
  kiln_weights weights = {};
  failures.mmap = 1;
  EXPECT_EQ(kiln_weights_map(path.c_str(), 5, 0, &weights), KILN_STATUS_WEIGHTS_UNREADABLE);
  EXPECT_EQ(weights.data, nullptr);
  unlink(path.c_str());
}

} // namespace
