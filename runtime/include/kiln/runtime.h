/* The Kiln runtime, libkiln_runtime.a: workspaces, threads, profiling, CPU features and weights files for
 * programs that run compiled models. Optional: a model itself needs none of it. C ABI, C11 and C++17.
 *
 * No function prints, aborts or sets a signal handler. A NULL argument where an object is needed gives
 * KILN_STATUS_NULL_POINTER (or does nothing in functions that return nothing). */
#ifndef KILN_RUNTIME_H
#define KILN_RUNTIME_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A lower-case sentence part for a status: "workspace is not aligned". Constant, any thread, never NULL. */
const char *kiln_status_string(kiln_status status);

/* ---- Workspaces ------------------------------------------------------------------------------------ */

/* Memory for NAME_run(), aligned to KILN_ALIGNMENT, its contents unspecified. From 4 MiB on it lies in pages of its own that the
 * system is advised to make huge ones (MADV_HUGEPAGE), which shortens the first run by most of the time that first touches
 * take. `size` is NAME_WORKSPACE_SIZE or NAME_workspace_size(); 0 is allowed. The caller owns *workspace and ends it with
 * kiln_workspace_destroy(). Fails with OUT_OF_MEMORY, and then *workspace is NULL. Any thread. */
kiln_status kiln_workspace_create(size_t size, void **workspace);

/* Frees a workspace; NULL is allowed. `size` must be the one that it was created with. No run may be using it. */
void kiln_workspace_destroy(void *workspace, size_t size);

/* ---- Threads ------------------------------------------------------------------------------------- */

/* A pool of sleeping workers. Workers spin for some microseconds between regions, then sleep in the kernel. */
typedef struct kiln_pool kiln_pool;

enum { KILN_POOL_MAX_THREADS = 1024 };

/* Starts a pool in which `num_threads` threads work, the caller of each region among them; 0 means one for
 * each CPU this process may run on. The caller owns *pool and ends it with kiln_pool_destroy(). Fails with
 * INVALID_ARGUMENT, OUT_OF_MEMORY or THREAD_FAILURE, and then *pool is NULL. Any thread. */
kiln_status kiln_pool_create(int32_t num_threads, kiln_pool **pool);

/* Ends the workers and frees the pool; NULL is allowed. No region may be running in it. In a process forked
 * after kiln_pool_create() it only frees the memory. Any thread. */
void kiln_pool_destroy(kiln_pool *pool);

/* Fills *context (all of it: hooks are set to NULL) to run on the pool, which must outlive its use. Any number
 * of contexts may share a pool. A region that finds the pool busy, from another thread or from within a task,
 * and a region in a forked child, run on the calling thread alone: same result, no waiting, no deadlock.
 * A NULL pool gives a context of one thread. Any thread. */
void kiln_pool_context(kiln_pool *pool, kiln_context *context);

/* ---- Profiler ------------------------------------------------------------------------------------ */

/* Collects the time of every kernel launch. One profiler serves one run at a time. */
typedef struct kiln_profiler kiln_profiler;

/* What a launch took over all runs since the last reset. Strings are the model's. */
typedef struct kiln_profile_entry {
  const char *model;
  const char *name;
  const char *nodes;
  const char *algorithm;
  int32_t index; /* launch number within the model */
  int32_t reserved;
  int64_t calls;
  int64_t total_ns;
  int64_t min_ns;
  int64_t max_ns;
  int64_t flops; /* sums over all calls */
  int64_t bytes;
} kiln_profile_entry;

KILN_STATIC_ASSERT(sizeof(kiln_profile_entry) == 56 + 4 * sizeof(void *), "kiln_profile_entry changed");

/* Makes a profiler with room for `max_kernels` launches (kiln_model_info.num_kernels, summed over models).
 * The caller owns it. Fails with INVALID_ARGUMENT or OUT_OF_MEMORY, and then *profiler is NULL. */
kiln_status kiln_profiler_create(int32_t max_kernels, kiln_profiler **profiler);

/* Frees the profiler; NULL is allowed. No context that still runs may refer to it. */
void kiln_profiler_destroy(kiln_profiler *profiler);

/* Sets the on_kernel hook of *context to this profiler, which must outlive the context's use. */
void kiln_profiler_attach(kiln_profiler *profiler, kiln_context *context);

/* Forgets all times. Not while a run is under way. */
void kiln_profiler_reset(kiln_profiler *profiler);

/* Number of launches seen, in order of their first call. Not while a run is under way. */
int32_t kiln_profiler_count(const kiln_profiler *profiler);

/* Copies entry number `position` to *entry; INVALID_ARGUMENT when there is none. */
kiln_status kiln_profiler_entry(const kiln_profiler *profiler, int32_t position, kiln_profile_entry *entry);

/* Launches that found no room since the last reset. */
int64_t kiln_profiler_dropped(const kiln_profiler *profiler);

/* Nanoseconds of a clock that never goes back. Any thread. */
int64_t kiln_clock_ns(void);

/* ---- CPU ------------------------------------------------------------------------------------------ */

/* 1 when this CPU has the feature and the operating system keeps its registers, else 0; 0 for an unknown name.
 * Names: those that compilers take after -m (the table in cpu.h: avx2, sse4.2, avx512vnni, amx-int8); `_`, `-` and `.` make no difference, so the
 * names of /proc/cpuinfo fit, too. Other CPUs: neon dotprod i8mm bf16 fp16 sve (AArch64); v (RISC-V). Any thread. */
int kiln_cpu_supports(const char *feature);

/* The x86-64 micro-architecture level, 1 to 4 for x86-64 to x86-64-v4; 0 on other machines. Any thread. */
int kiln_cpu_level(void);

/* ---- Weights files --------------------------------------------------------------------------------- */

/* A read-only mapping of a weights file. */
typedef struct kiln_weights {
  const void *data; /* aligned to KILN_ALIGNMENT and more */
  size_t size;
} kiln_weights;

/* Maps the file at `path`. Its length must be `size` and, unless `checksum` is 0, kiln_checksum() of its bytes
 * must be `checksum` (this reads the whole file once); both stand in the model's kiln_model_info. The caller
 * owns the mapping, which any number of threads may read, and ends it with kiln_weights_unmap(). Fails with
 * WEIGHTS_UNREADABLE or WEIGHTS_MISMATCH, and then *weights is zero. The file must not change while mapped. */
kiln_status kiln_weights_map(const char *path, size_t size, uint64_t checksum, kiln_weights *weights);

/* Ends a mapping and zeroes *weights; a zero one is allowed. */
void kiln_weights_unmap(kiln_weights *weights);

/* A 64-bit checksum against damage and mix-ups, not against attackers; never 0. Any thread. */
uint64_t kiln_checksum(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_H */
