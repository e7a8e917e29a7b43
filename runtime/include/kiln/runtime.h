/* The Kiln runtime, libkiln_runtime.a: workspaces, threads, profiling, CPU features and weights files for
 * programs that run compiled models. Optional: a model itself needs none of it. C ABI, C11 and C++17.
 *
 * No function prints, aborts or sets a signal handler. A NULL argument where an object is needed gives
 * KILN_STATUS_NULL_POINTER; functions without a result then do nothing. */
#ifndef KILN_RUNTIME_H
#define KILN_RUNTIME_H

#include "kiln/abi.h"
#include "kiln/convert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text for a status, such as "workspace is not aligned". Constant, any thread, never NULL. */
const char *kiln_status_string(kiln_status status);

/* ---- Workspaces ------------------------------------------------------------------------------------ */

/* Allocates memory for NAME_run(), aligned to KILN_ALIGNMENT, with unspecified contents. 4 MiB or more have pages of their own, for which
 * the system is asked to use huge pages (MADV_HUGEPAGE). Up to 1 GiB are touched, so that the first run takes no page faults. `size` is
 * NAME_WORKSPACE_SIZE or NAME_workspace_size(); 0 is allowed. The caller owns *workspace and frees it with kiln_workspace_destroy().
 * Fails with OUT_OF_MEMORY, and then *workspace is NULL. Any thread. */
kiln_status kiln_workspace_create(size_t size, void **workspace);

/* Frees a workspace; NULL is allowed. `size` must be that of its creation. No run may be using it. */
void kiln_workspace_destroy(void *workspace, size_t size);

/* ---- Threads ------------------------------------------------------------------------------------- */

/* A pool of worker threads. Between regions, workers spin for some microseconds and then sleep. */
typedef struct kiln_pool kiln_pool;

enum { KILN_POOL_MAX_THREADS = 1024 };

/* Starts a pool of `num_threads` threads, including the caller of each region. 0 means one thread for each
 * CPU that this process may run on. The caller owns *pool and frees it with kiln_pool_destroy(). Fails with
 * INVALID_ARGUMENT, OUT_OF_MEMORY or THREAD_FAILURE, and then *pool is NULL. Any thread. */
kiln_status kiln_pool_create(int32_t num_threads, kiln_pool **pool);

/* Ends the workers and frees the pool. NULL is allowed. No region may be running in it. In a process that was
 * forked after kiln_pool_create() it only frees the memory. Any thread. */
void kiln_pool_destroy(kiln_pool *pool);

/* Sets all fields of *context (hooks to NULL) to run on the pool, which must outlive the use of the context. Any number
 * of contexts may share a pool. A region that finds the pool busy, from another thread or from within a task,
 * and a region in a forked child, run on the calling thread alone, with the same result, without waiting or deadlock.
 * A NULL pool gives a context of one thread. Any thread. */
void kiln_pool_context(kiln_pool *pool, kiln_context *context);

/* ---- Profiler ------------------------------------------------------------------------------------ */

/* Collects the time of every kernel launch. One profiler serves one run at a time. */
typedef struct kiln_profiler kiln_profiler;

/* The times of a launch over all runs since the last reset. The strings belong to the model. */
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

/* Creates a profiler with room for `max_kernels` launches (kiln_model_info.num_kernels, summed over models).
 * The caller owns it. Fails with INVALID_ARGUMENT or OUT_OF_MEMORY, and then *profiler is NULL. */
kiln_status kiln_profiler_create(int32_t max_kernels, kiln_profiler **profiler);

/* Frees the profiler. NULL is allowed. No running context may refer to it. */
void kiln_profiler_destroy(kiln_profiler *profiler);

/* Sets the on_kernel hook of *context to this profiler, which must outlive the context's use. */
void kiln_profiler_attach(kiln_profiler *profiler, kiln_context *context);

/* Clears all times. Not while a run is in progress. */
void kiln_profiler_reset(kiln_profiler *profiler);

/* The number of launches seen. Entries are in the order of their first call. Not while a run is in progress. */
int32_t kiln_profiler_count(const kiln_profiler *profiler);

/* Copies entry number `position` to *entry. Fails with INVALID_ARGUMENT if there is none. */
kiln_status kiln_profiler_entry(const kiln_profiler *profiler, int32_t position, kiln_profile_entry *entry);

/* The number of launches that did not fit since the last reset. */
int64_t kiln_profiler_dropped(const kiln_profiler *profiler);

/* Records each launch by itself from now on, and the tasks that each thread runs of it, for a trace: at most `max_events`, which take about 100 bytes
 * each; later ones are only counted. 0 ends the recording. Forgets what was recorded before. A context that is attached afterwards has its threads
 * recorded, too; attach it after kiln_pool_context(). Fails with INVALID_ARGUMENT or OUT_OF_MEMORY. Not while a run is in progress. */
kiln_status kiln_profiler_record(kiln_profiler *profiler, int64_t max_events);

/* The number of events that are recorded. Not while a run is in progress. */
int64_t kiln_profiler_events(const kiln_profiler *profiler);

/* Writes the recorded events to the file at `path`, which is UTF-8 on Windows, as JSON in the trace format of Chrome; https://ui.perfetto.dev shows it. The
 * models must still be loaded. Fails with OUT_OF_MEMORY, and with INVALID_ARGUMENT if there are no events or the file cannot be written. Not while a
 * run is in progress. */
kiln_status kiln_profiler_write_trace(const kiln_profiler *profiler, const char *path);

/* Nanoseconds of a monotonic clock. Any thread. */
int64_t kiln_clock_ns(void);

/* ---- CPU ------------------------------------------------------------------------------------------ */

/* 1 if this CPU has the feature and the operating system saves its registers, otherwise 0. 0 for an unknown name.
 * Names are those that compilers take after -m (the table in cpu.h: avx2, sse4.2, avx512vnni, amx-int8). `_`, `-` and `.` are
 * equivalent, so the names of /proc/cpuinfo work, too. Other CPUs: neon dotprod i8mm bf16 fp16 sve (AArch64); v (RISC-V). Any thread. */
int kiln_cpu_supports(const char *feature);

/* The x86-64 micro-architecture level, 1 to 4 for x86-64 to x86-64-v4; 0 on other machines. Any thread. */
int kiln_cpu_level(void);

/* ---- Weights files --------------------------------------------------------------------------------- */

/* A read-only mapping of a weights file. */
typedef struct kiln_weights {
  const void *data; /* aligned to KILN_ALIGNMENT and more */
  size_t size;
} kiln_weights;

/* Maps the file at `path`, which is UTF-8 on Windows. Its length must be `size` and, unless `checksum` is 0, kiln_checksum() of its bytes
 * must be `checksum` (this reads the whole file once). The model's kiln_model_info has both. The caller owns the
 * mapping, which any number of threads may read, and frees it with kiln_weights_unmap(). Fails with
 * WEIGHTS_UNREADABLE or WEIGHTS_MISMATCH, and then *weights is zero. The file must not change while it is mapped. */
kiln_status kiln_weights_map(const char *path, size_t size, uint64_t checksum, kiln_weights *weights);

/* Unmaps the file and zeroes *weights. A zeroed *weights is allowed. */
void kiln_weights_unmap(kiln_weights *weights);

/* A 64-bit checksum that detects damage and mix-ups, but not attacks. Never 0. Any thread. */
uint64_t kiln_checksum(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_H */
