// Primitives of oneDNN 2 that are kept, and how they run.
//
// A state has a list of plans, each a primitive for one shape, and a list of weights in the orders that primitives asked for. Lists only grow,
// at their front and under one lock; a call that finds its plan takes no lock.
#include "Plans.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>

using namespace kiln_onednn;

namespace {

// The same weights in an order of oneDNN's.
struct Packed {
  Packed *next, *nextOfAll;
  int64_t constantAt;
  dnnl_memory_desc_t desc;
  void *data;
};

struct Plan {
  Plan *next, *nextOfAll;
  Operation operation;
  dnnl_primitive_t primitive;
  Arguments arguments;
  // The placeholder of the constant argument.
  const Packed *packed;
  // For arguments that the primitive wants in another order: what brings them there (the result: back), and their places in the scratch memory.
  dnnl_primitive_t reorders[maxArguments];
  size_t places[maxArguments];
  dnnl_memory_desc_t scratchDesc;
  size_t scratchBytes;
};

struct State {
  std::atomic<Plan *> plans;
  std::atomic<uint64_t> generation;
  Packed *packed;
  int64_t planCount;
};
static_assert(sizeof(State) <= KILN_ONEDNN_STATE_BYTES, "a state has room");

// A state keeps this many plans: sizes that change with every call do not fill the memory.
constexpr int64_t maxPlans = 64;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<dnnl_engine_t> engine;
Plan *allPlans;
Packed *allPacked;
// Zero is what a state of zeros has: none is up to date before the first call.
std::atomic<uint64_t> generation{1};

class Lock {
public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock &) = delete;
};

//===- Threads --------------------------------------------------------------===//

int (*getThreads)();
void (*setThreads)(int);

// OpenMP's functions as oneDNN itself finds them: the program's first, then those that oneDNN brings.
void *findOpenMP(const char *name) {
  if (void *found = dlsym(RTLD_DEFAULT, name))
    return found;
  Dl_info library;
  void *handle = dladdr(reinterpret_cast<void *>(&dnnl_engine_create), &library) ? dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  return handle ? dlsym(handle, name) : nullptr;
}

// Sets one OpenMP thread for the calling thread during a call, because the callers split the work.
class OneThread {
public:
  OneThread() : before(getThreads && setThreads ? getThreads() : 1) {
    if (before != 1)
      setThreads(1);
  }
  ~OneThread() {
    if (before != 1)
      setThreads(before);
  }
  OneThread(const OneThread &) = delete;

private:
  int before;
};

// What each thread that calls has for itself.
struct PerThread {
  dnnl_stream_t stream;
  void *scratch;
  size_t scratchBytes;
};

pthread_key_t threadKey;
thread_local PerThread *own;

void freeThread(void *pointer) {
  auto *thread = static_cast<PerThread *>(pointer);
  dnnl_stream_destroy(thread->stream);
  std::free(thread->scratch);
  std::free(thread);
  own = nullptr;
}

bool prepare() {
  if (engine.load(std::memory_order_acquire))
    return true;
  Lock lock;
  dnnl_engine_t made = engine.load(std::memory_order_relaxed);
  if (made)
    return true;
  getThreads = reinterpret_cast<int (*)()>(findOpenMP("omp_get_max_threads"));
  setThreads = reinterpret_cast<void (*)(int)>(findOpenMP("omp_set_num_threads"));
  if (dnnl_engine_create(&made, dnnl_cpu, 0) != dnnl_success)
    return false;
  if (pthread_key_create(&threadKey, freeThread)) {
    dnnl_engine_destroy(made);
    return false;
  }
  engine.store(made, std::memory_order_release);
  return true;
}

PerThread *getThread() {
  if (own)
    return own;
  auto *made = static_cast<PerThread *>(std::calloc(1, sizeof(PerThread)));
  if (!made)
    return nullptr;
  if (dnnl_stream_create(&made->stream, engine, dnnl_stream_default_flags) != dnnl_success) {
    std::free(made);
    return nullptr;
  }
  pthread_setspecific(threadKey, made);
  return own = made;
}

size_t roundUp(size_t bytes) { return (bytes + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT; }

// Memory that is aligned for vectors.
void *allocate(size_t bytes) { return std::aligned_alloc(KILN_ALIGNMENT, roundUp(bytes)); }

void *getScratch(PerThread *thread, size_t bytes) {
  if (bytes > thread->scratchBytes) {
    std::free(thread->scratch);
    thread->scratch = allocate(bytes);
    thread->scratchBytes = thread->scratch ? bytes : 0;
  }
  return thread->scratch;
}

kiln_status translate(dnnl_status_t status) {
  return status == dnnl_success ? KILN_STATUS_OK : status == dnnl_out_of_memory ? KILN_STATUS_OUT_OF_MEMORY : KILN_STATUS_LIBRARY_FAILURE;
}

//===- Plans ----------------------------------------------------------------===//

dnnl_status_t run(dnnl_primitive_t primitive, dnnl_stream_t stream, const Argument *arguments, void *const *data, int count) {
  dnnl_memory_t memories[maxArguments + 1] = {};
  dnnl_exec_arg_t list[maxArguments + 1] = {};
  dnnl_status_t status = dnnl_success;
  int used = 0;
  for (int i = 0; i < count && status == dnnl_success; ++i) {
    if (arguments[i].desc.ndims == 0)
      continue;
    status = dnnl_memory_create(&memories[used], &arguments[i].desc, engine, data[i]);
    list[used] = {arguments[i].id, memories[used]};
    ++used;
  }
  if (status == dnnl_success)
    status = dnnl_primitive_execute(primitive, stream, used, list);
  if (status == dnnl_success)
    status = dnnl_stream_wait(stream);
  for (int i = 0; i < used; ++i)
    dnnl_memory_destroy(memories[i]);
  return status;
}

dnnl_status_t makeReorder(const dnnl_memory_desc_t &from, const dnnl_memory_desc_t &to, dnnl_primitive_t &reorder) {
  dnnl_primitive_desc_t description = nullptr;
  dnnl_status_t status = dnnl_reorder_primitive_desc_create(&description, &from, engine, &to, engine, nullptr);
  if (status == dnnl_success)
    status = dnnl_primitive_create(&reorder, description);
  dnnl_primitive_desc_destroy(description);
  return status;
}

dnnl_status_t runReorder(dnnl_primitive_t reorder, const dnnl_memory_desc_t &from, const dnnl_memory_desc_t &to, const void *source, void *target) {
  Argument arguments[2] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  void *buffers[2] = {const_cast<void *>(source), target};
  return run(reorder, own->stream, arguments, buffers, 2);
}

// The weights in this order, created at the first request.
kiln_status pack(State *state, int64_t constantAt, const dnnl_memory_desc_t &given, const dnnl_memory_desc_t &wanted, const void *weights,
                 const Packed *&packed) {
  for (Packed *have = state->packed; have; have = have->next)
    if (have->constantAt == constantAt && dnnl_memory_desc_equal(&have->desc, &wanted)) {
      packed = have;
      return KILN_STATUS_OK;
    }
  auto *made = static_cast<Packed *>(std::calloc(1, sizeof(Packed)));
  void *data = allocate(dnnl_memory_desc_get_size(&wanted));
  dnnl_primitive_t reorder = nullptr;
  dnnl_status_t status = made && data ? makeReorder(given, wanted, reorder) : dnnl_out_of_memory;
  if (status == dnnl_success)
    status = runReorder(reorder, given, wanted, weights, data);
  dnnl_primitive_destroy(reorder);
  if (status != dnnl_success) {
    std::free(data);
    std::free(made);
    return translate(status);
  }
  *made = {state->packed, allPacked, constantAt, wanted, data};
  packed = state->packed = allPacked = made;
  return KILN_STATUS_OK;
}

void freePlan(Plan *plan) {
  dnnl_primitive_destroy(plan->primitive);
  for (dnnl_primitive_t reorder : plan->reorders)
    dnnl_primitive_destroy(reorder);
  std::free(const_cast<int64_t *>(plan->operation.numbers));
  std::free(plan);
}

void describe(const Operation &operation, Maker &maker, Arguments &arguments) {
  switch (operation.kind) {
  case Kind::Matmul:
    return makeMatmul(operation.numbers, maker, arguments);
  case Kind::Conv:
    return makeConv(operation.numbers, maker, arguments);
  case Kind::Softmax:
    return makeSoftmax(operation.numbers, maker, arguments);
  case Kind::LayerNorm:
    return makeLayerNorm(operation.numbers, operation.epsilon, maker, arguments);
  }
}

// Arguments in other orders than the caller's: the constant one once and for all, the others in each run.
kiln_status arrange(State *state, Plan &plan, void *const *data) {
  const Arguments &arguments = plan.arguments;
  kiln_status status = KILN_STATUS_OK;
  for (int i = 0; i < arguments.count && status == KILN_STATUS_OK; ++i) {
    const dnnl_memory_desc_t &given = arguments.given[i], &wanted = arguments.list[i].desc;
    if (wanted.ndims == 0 || dnnl_memory_desc_equal(&given, &wanted))
      continue;
    if (i == arguments.constant) {
      status = pack(state, plan.operation.constantAt, given, wanted, data[i], plan.packed);
      continue;
    }
    bool isResult = arguments.list[i].id == DNNL_ARG_DST;
    status = translate(isResult ? makeReorder(wanted, given, plan.reorders[i]) : makeReorder(given, wanted, plan.reorders[i]));
    plan.places[i] = plan.scratchBytes;
    plan.scratchBytes += roundUp(dnnl_memory_desc_get_size(&wanted));
  }
  return status;
}

kiln_status makePlan(State *state, const Operation &operation, void *const *data, Plan *&plan) {
  Maker maker(engine);
  Arguments arguments;
  describe(operation, maker, arguments);
  if (maker.status != dnnl_success)
    return translate(maker.status);
  plan = static_cast<Plan *>(std::calloc(1, sizeof(Plan)));
  auto *numbers = static_cast<int64_t *>(std::malloc(operation.count * sizeof(int64_t)));
  if (!plan || !numbers) {
    std::free(plan);
    std::free(numbers);
    return KILN_STATUS_OUT_OF_MEMORY;
  }
  std::memcpy(numbers, operation.numbers, operation.count * sizeof(int64_t));
  plan->operation = operation;
  plan->operation.numbers = numbers;
  plan->arguments = arguments;
  plan->scratchDesc = *maker.query(dnnl_query_scratchpad_md);
  plan->scratchBytes = roundUp(dnnl_memory_desc_get_size(&plan->scratchDesc));
  kiln_status status = translate(dnnl_primitive_create(&plan->primitive, maker.made));
  if (status == KILN_STATUS_OK)
    status = arrange(state, *plan, data);
  if (status != KILN_STATUS_OK)
    freePlan(plan);
  return status;
}

bool isSame(const Operation &a, const Operation &b) {
  return a.kind == b.kind && a.epsilon == b.epsilon && a.constantAt == b.constantAt && a.count == b.count &&
         std::memcmp(a.numbers, b.numbers, a.count * sizeof(int64_t)) == 0;
}

Plan *findPlan(const State *state, const Operation &operation) {
  if (state->generation.load(std::memory_order_acquire) != generation.load(std::memory_order_relaxed))
    return nullptr;
  for (Plan *plan = state->plans.load(std::memory_order_acquire); plan; plan = plan->next)
    if (isSame(plan->operation, operation))
      return plan;
  return nullptr;
}

// The plan of the operation, made when no other thread has done so meanwhile; whether the state keeps it.
kiln_status getPlan(State *state, const Operation &operation, void *const *data, Plan *&plan, bool &kept) {
  Lock lock;
  uint64_t now = generation.load(std::memory_order_relaxed);
  if (state->generation.load(std::memory_order_relaxed) != now) {
    state->plans.store(nullptr, std::memory_order_relaxed);
    state->packed = nullptr;
    state->planCount = 0;
    state->generation.store(now, std::memory_order_release);
  }
  plan = findPlan(state, operation);
  kept = plan != nullptr;
  if (kept)
    return KILN_STATUS_OK;
  if (kiln_status status = makePlan(state, operation, data, plan); status != KILN_STATUS_OK)
    return status;
  if (state->planCount < maxPlans) {
    plan->next = state->plans.load(std::memory_order_relaxed);
    plan->nextOfAll = allPlans;
    allPlans = plan;
    ++state->planCount;
    state->plans.store(plan, std::memory_order_release);
    kept = true;
  }
  return KILN_STATUS_OK;
}

kiln_status execute(const Plan &plan, PerThread *thread, void *const *data) {
  Argument arguments[maxArguments + 1];
  void *buffers[maxArguments + 1];
  int count = plan.arguments.count, result = noArgument;
  auto *scratch = static_cast<char *>(getScratch(thread, plan.scratchBytes));
  if (plan.scratchBytes && !scratch)
    return KILN_STATUS_OUT_OF_MEMORY;
  for (int i = 0; i < count; ++i) {
    arguments[i] = plan.arguments.list[i];
    buffers[i] = plan.packed && i == plan.arguments.constant ? plan.packed->data : data[i];
    if (!plan.reorders[i])
      continue;
    buffers[i] = scratch + plan.places[i];
    if (arguments[i].id == DNNL_ARG_DST)
      result = i;
    else if (dnnl_status_t status = runReorder(plan.reorders[i], plan.arguments.given[i], arguments[i].desc, data[i], buffers[i]); status != dnnl_success)
      return translate(status);
  }
  arguments[count] = {DNNL_ARG_SCRATCHPAD, plan.scratchDesc};
  buffers[count] = scratch;
  dnnl_status_t status = run(plan.primitive, thread->stream, arguments, buffers, count + 1);
  if (status == dnnl_success && result != noArgument)
    status = runReorder(plan.reorders[result], arguments[result].desc, plan.arguments.given[result], buffers[result], data[result]);
  return translate(status);
}

} // namespace

namespace kiln_onednn {

kiln_status call(void *pointer, const Operation &operation, void *const *data) {
  auto *state = static_cast<State *>(pointer);
  if (!prepare())
    return KILN_STATUS_LIBRARY_FAILURE;
  PerThread *thread = getThread();
  if (!thread)
    return KILN_STATUS_OUT_OF_MEMORY;
  OneThread limit;
  if (Plan *plan = findPlan(state, operation))
    return execute(*plan, thread, data);
  Plan *plan = nullptr;
  bool kept = false;
  kiln_status status = getPlan(state, operation, data, plan, kept);
  if (status != KILN_STATUS_OK)
    return status;
  status = execute(*plan, thread, data);
  if (!kept)
    freePlan(plan);
  return status;
}

} // namespace kiln_onednn

extern "C" void kiln_onednn_release(void) {
  Lock lock;
  for (Plan *plan = allPlans, *next; plan; plan = next) {
    next = plan->nextOfAll;
    freePlan(plan);
  }
  for (Packed *packed = allPacked, *next; packed; packed = next) {
    next = packed->nextOfAll;
    std::free(packed->data);
    std::free(packed);
  }
  allPlans = nullptr;
  allPacked = nullptr;
  generation.fetch_add(1, std::memory_order_release);
}
