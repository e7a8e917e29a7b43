// What the functions of kiln/onednn.h say when the system or oneDNN refuses something. The linker has calls of these functions go to their
// __wrap_ forms. Each case is a process of its own: what a process has made once is there for all calls that follow.
#include "kiln/onednn.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

enum Function { Calloc, Malloc, AlignedAlloc, KeyCreate, EngineCreate, StreamCreate, PrimitiveCreate, ReorderCreate, MemoryCreate, Execute, Wait };

/// The call from now on, 1 for the next one, at which a function fails; 0: never.
int calls;
Function failing;
/// Whether symbols are only found in libraries that are asked for by their handle; how many were.
bool hidesSymbols;
int foundByHandle;
/// Called once each, before the engine or a primitive is made; how many primitives were.
void (*whenEngineIsMade)(), (*whenPrimitiveIsMade)();
std::atomic<int> primitives;
std::atomic<int> locks;
/// OpenMP's number of threads while oneDNN works.
int threadsOfLastRun;

bool isDue(Function function) { return calls > 0 && function == failing && --calls == 0; }

void callOnce(void (*&function)()) {
  if (auto *now = function) {
    function = nullptr;
    now();
  }
}

int getThreads();

} // namespace

extern "C" {
// Address sanitizer looks for functions before it is there itself.
#define WRAPPED __attribute__((no_sanitize("address", "undefined")))

void *__real_calloc(size_t, size_t);
WRAPPED void *__wrap_calloc(size_t count, size_t size) { return isDue(Calloc) ? nullptr : __real_calloc(count, size); }
void *__real_malloc(size_t);
WRAPPED void *__wrap_malloc(size_t size) { return isDue(Malloc) ? nullptr : __real_malloc(size); }
void *__real_aligned_alloc(size_t, size_t);
WRAPPED void *__wrap_aligned_alloc(size_t alignment, size_t size) { return isDue(AlignedAlloc) ? nullptr : __real_aligned_alloc(alignment, size); }
int __real_pthread_key_create(pthread_key_t *, void (*)(void *));
WRAPPED int __wrap_pthread_key_create(pthread_key_t *key, void (*destroy)(void *)) {
  return isDue(KeyCreate) ? EAGAIN : __real_pthread_key_create(key, destroy);
}
int __real_pthread_mutex_lock(pthread_mutex_t *);
WRAPPED int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
  ++locks;
  return __real_pthread_mutex_lock(mutex);
}
void *__real_dlsym(void *, const char *);
WRAPPED void *__wrap_dlsym(void *handle, const char *name) {
  if (hidesSymbols && handle == RTLD_DEFAULT)
    return nullptr;
  void *found = __real_dlsym(handle, name);
  foundByHandle += hidesSymbols && found;
  return found;
}
// What looks for oneDNN's library by this function would find its __wrap_ form.
dnnl_status_t __wrap_dnnl_engine_create(dnnl_engine_t *, dnnl_engine_kind_t, size_t);
int __real_dladdr(const void *, Dl_info *);
WRAPPED int __wrap_dladdr(const void *address, Dl_info *library) {
  const bool isEngine = address == reinterpret_cast<void *>(&__wrap_dnnl_engine_create);
  return __real_dladdr(isEngine ? __real_dlsym(RTLD_DEFAULT, "dnnl_engine_create") : address, library);
}

dnnl_status_t __real_dnnl_engine_create(dnnl_engine_t *, dnnl_engine_kind_t, size_t);
dnnl_status_t __wrap_dnnl_engine_create(dnnl_engine_t *engine, dnnl_engine_kind_t kind, size_t index) {
  callOnce(whenEngineIsMade);
  return isDue(EngineCreate) ? dnnl_runtime_error : __real_dnnl_engine_create(engine, kind, index);
}
dnnl_status_t __real_dnnl_stream_create(dnnl_stream_t *, dnnl_engine_t, unsigned);
dnnl_status_t __wrap_dnnl_stream_create(dnnl_stream_t *stream, dnnl_engine_t engine, unsigned flags) {
  return isDue(StreamCreate) ? dnnl_out_of_memory : __real_dnnl_stream_create(stream, engine, flags);
}
dnnl_status_t __real_dnnl_primitive_create(dnnl_primitive_t *, const_dnnl_primitive_desc_t);
dnnl_status_t __wrap_dnnl_primitive_create(dnnl_primitive_t *primitive, const_dnnl_primitive_desc_t description) {
  ++primitives;
  callOnce(whenPrimitiveIsMade);
  return isDue(PrimitiveCreate) ? dnnl_out_of_memory : __real_dnnl_primitive_create(primitive, description);
}
dnnl_status_t __real_dnnl_reorder_primitive_desc_create(dnnl_primitive_desc_t *, const dnnl_memory_desc_t *, dnnl_engine_t, const dnnl_memory_desc_t *,
                                                        dnnl_engine_t, const_dnnl_primitive_attr_t);
dnnl_status_t __wrap_dnnl_reorder_primitive_desc_create(dnnl_primitive_desc_t *reorder, const dnnl_memory_desc_t *from, dnnl_engine_t source,
                                                        const dnnl_memory_desc_t *to, dnnl_engine_t target, const_dnnl_primitive_attr_t attributes) {
  return isDue(ReorderCreate) ? dnnl_unimplemented : __real_dnnl_reorder_primitive_desc_create(reorder, from, source, to, target, attributes);
}
dnnl_status_t __real_dnnl_memory_create(dnnl_memory_t *, const dnnl_memory_desc_t *, dnnl_engine_t, void *);
dnnl_status_t __wrap_dnnl_memory_create(dnnl_memory_t *memory, const dnnl_memory_desc_t *description, dnnl_engine_t engine, void *data) {
  return isDue(MemoryCreate) ? dnnl_out_of_memory : __real_dnnl_memory_create(memory, description, engine, data);
}
dnnl_status_t __real_dnnl_primitive_execute(const_dnnl_primitive_t, dnnl_stream_t, int, const dnnl_exec_arg_t *);
dnnl_status_t __wrap_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count, const dnnl_exec_arg_t *arguments) {
  threadsOfLastRun = getThreads();
  return isDue(Execute) ? dnnl_runtime_error : __real_dnnl_primitive_execute(primitive, stream, count, arguments);
}
dnnl_status_t __real_dnnl_stream_wait(dnnl_stream_t);
dnnl_status_t __wrap_dnnl_stream_wait(dnnl_stream_t stream) { return isDue(Wait) ? dnnl_runtime_error : __real_dnnl_stream_wait(stream); }
}

namespace {

template <typename F> F *findOpenMP(const char *name) { return reinterpret_cast<F *>(__real_dlsym(RTLD_DEFAULT, name)); }

int getThreads() {
  auto *get = findOpenMP<int()>("omp_get_max_threads");
  return get ? get() : 1;
}

struct alignas(KILN_ALIGNMENT) State {
  char bytes[KILN_ONEDNN_STATE_BYTES] = {};
};

/// A convolution of one image by Winograd's algorithm, where this machine has it: in two parts, with weights and images in orders of oneDNN's.
struct Convolution {
  static constexpr int64_t channels = 32, size = 9;
  State own, *state = &own;
  std::vector<float> input, weight, out;

  Convolution() : input(channels * size * size), weight(channels * channels * 9), out(input.size()) {
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = static_cast<float>(i % 17) * 0.125f - 1;
    for (size_t i = 0; i < weight.size(); ++i)
      weight[i] = static_cast<float>(i % 5) * 0.25f - 0.5f;
  }
  kiln_status run() {
    const int64_t shape[] = {KILN_ONEDNN_WINOGRAD, 1, 2, 1, 1, channels, channels, size, size, size, size, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
    kiln_status status = KILN_STATUS_OK;
    out.assign(out.size(), 1e9f);
    for (int64_t part = 0; part < 2 && status == KILN_STATUS_OK; ++part)
      status = kiln_onednn_conv(state->bytes, part, part + 1, 2, input.data(), weight.data(), nullptr, out.data(), shape);
    return status;
  }
  double sum(int64_t y, int64_t x, int64_t filter) const {
    double result = 0;
    for (int64_t i = -1; i <= 1; ++i)
      for (int64_t j = -1; j <= 1; ++j)
        for (int64_t c = 0; c < channels; ++c)
          if (y + i >= 0 && y + i < size && x + j >= 0 && x + j < size)
            result += double(input[((y + i) * size + x + j) * channels + c]) * weight[((filter * channels + c) * 3 + i + 1) * 3 + j + 1];
    return result;
  }
  void expectRight() const {
    for (int64_t i = 0; i < static_cast<int64_t>(out.size()); i += 7)
      ASSERT_NEAR(out[i], sum(i / channels / size, i / channels % size, i % channels), 1e-3) << i;
  }
};

/// The exit status of a process that does this: 0 when nothing was found wrong with it, and no memory lost.
template <typename F> int inProcess(const F &body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    kiln_onednn_release();
    std::exit(testing::Test::HasFailure());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int noSuchCall = 77;

/// A first call whose `call`-th use of the function fails, and a second one.
void failOnce(Function function, int call, kiln_status expected) {
  Convolution convolution;
  failing = function, calls = call;
  const kiln_status status = convolution.run();
  if (calls > 0)
    std::exit(noSuchCall);
  EXPECT_EQ(status, expected);
  EXPECT_EQ(convolution.run(), KILN_STATUS_OK);
  convolution.expectRight();
}

struct Refusal {
  Function function;
  const char *name;
  kiln_status expected;
};
void PrintTo(const Refusal &refusal, std::ostream *out) { *out << refusal.name; }

class OneDnnFailure : public testing::TestWithParam<Refusal> {};

TEST_P(OneDnnFailure, IsReportedAndTheNextCallIsRight) {
  int call = 1;
  for (int status = 0; status == 0 && call < 100; ++call) {
    status = inProcess([&] { failOnce(GetParam().function, call, GetParam().expected); });
    if (status == noSuchCall)
      break;
    EXPECT_EQ(status, 0) << "call " << call;
  }
  EXPECT_GT(call, 1) << "never called";
}

constexpr kiln_status library = KILN_STATUS_LIBRARY_FAILURE, memory = KILN_STATUS_OUT_OF_MEMORY;
INSTANTIATE_TEST_SUITE_P(Of, OneDnnFailure,
                         testing::Values(Refusal{Calloc, "calloc", memory}, Refusal{Malloc, "malloc", memory},
                                         Refusal{AlignedAlloc, "aligned_alloc", memory}, Refusal{KeyCreate, "pthread_key_create", library},
                                         Refusal{EngineCreate, "dnnl_engine_create", library}, Refusal{StreamCreate, "dnnl_stream_create", memory},
                                         Refusal{PrimitiveCreate, "dnnl_primitive_create", memory},
                                         Refusal{ReorderCreate, "dnnl_reorder_primitive_desc_create", library},
                                         Refusal{MemoryCreate, "dnnl_memory_create", memory}, Refusal{Execute, "dnnl_primitive_execute", library},
                                         Refusal{Wait, "dnnl_stream_wait", library}),
                         [](const auto &info) { return std::string(info.param.name); });

// A process has so many keys of thread-specific data, and a program that tries again must not use them up.
TEST(OneDnnFailures, OfTheEngineLoseNoThreadKeys) {
  EXPECT_EQ(inProcess([] {
              Convolution convolution;
              for (int i = 0; i <= PTHREAD_KEYS_MAX; ++i) {
                failing = EngineCreate, calls = 1;
                ASSERT_EQ(convolution.run(), library);
              }
              EXPECT_EQ(convolution.run(), KILN_STATUS_OK);
              convolution.expectRight();
            }),
            0);
}

/// A second call, which has begun when start() returns: it waits for what the first one locks.
struct SecondCall {
  static inline SecondCall *self;
  Convolution convolution;
  std::thread thread;

  SecondCall() { self = this; }
  static void start() {
    const int before = locks;
    self->thread = std::thread([] { EXPECT_EQ(self->convolution.run(), KILN_STATUS_OK); });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (locks == before && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    EXPECT_GT(locks, before);
  }
  void expectRight() {
    ASSERT_TRUE(thread.joinable());
    thread.join();
    convolution.expectRight();
  }
};

TEST(OneDnnStart, SecondCallWaitsForTheEngine) {
  EXPECT_EQ(inProcess([] {
              Convolution first;
              SecondCall second;
              whenEngineIsMade = [] {
                whenEngineIsMade = [] { ADD_FAILURE() << "a second engine"; };
                SecondCall::start();
              };
              EXPECT_EQ(first.run(), KILN_STATUS_OK);
              first.expectRight();
              second.expectRight();
            }),
            0);
}

TEST(OneDnnStart, SecondCallTakesThePlanOfTheFirst) {
  EXPECT_EQ(inProcess([] {
              Convolution first, alone;
              SecondCall second;
              second.convolution.state = first.state;
              whenPrimitiveIsMade = &SecondCall::start;
              EXPECT_EQ(first.run(), KILN_STATUS_OK);
              first.expectRight();
              second.expectRight();
              const int together = primitives;
              EXPECT_EQ(alone.run(), KILN_STATUS_OK);
              EXPECT_EQ(primitives, 2 * together);
            }),
            0);
}

// A program that has loaded oneDNN for itself alone: OpenMP's functions are those of oneDNN's own libraries.
TEST(OneDnnStart, FindsOpenMPBehindOneDnn) {
  if (!findOpenMP<int()>("omp_get_max_threads"))
    GTEST_SKIP() << "this oneDNN is not built on OpenMP";
  EXPECT_EQ(inProcess([] {
              findOpenMP<void(int)>("omp_set_num_threads")(3);
              hidesSymbols = true;
              Convolution convolution;
              EXPECT_EQ(convolution.run(), KILN_STATUS_OK);
              convolution.expectRight();
              EXPECT_EQ(foundByHandle, 2);
              EXPECT_EQ(threadsOfLastRun, 1);
              EXPECT_EQ(getThreads(), 3);
            }),
            0);
}

} // namespace
