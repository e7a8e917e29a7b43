// What the entry of a model and its kernels share: launches, and the status that a kernel can set.
#ifndef KILN_ENTRY_H
#define KILN_ENTRY_H

#include "kiln/abi.h"
#include "kiln/vector.h"

// Kernels are seen by the translation units of their own model only.
#define KILN_KERNEL extern "C" __attribute__((visibility("hidden")))

namespace kiln {

// Records that an input value is at fault. Tasks on several threads may do it at once; the first one stays.
KILN_INLINE void fail(int32_t *status, kiln_status code) {
  int32_t expected = KILN_STATUS_OK;
  __atomic_compare_exchange_n(status, &expected, int32_t(code), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// The same for what an external function returns.
KILN_INLINE void report(int32_t *status, kiln_status code) {
  if (code != KILN_STATUS_OK)
    fail(status, code);
}

// A size as NAME_workspace_size answers it: SIZE_MAX when it is negative, or too large for a pointer's width.
KILN_INLINE size_t as_size(int64_t bytes) { return bytes < 0 || uint64_t(size_t(bytes)) != uint64_t(bytes) ? SIZE_MAX : size_t(bytes); }

// The threads that the caller allows.
KILN_INLINE int64_t count_threads(const kiln_context *context) {
  return context && context->parallel_for && context->num_threads > 1 ? context->num_threads : 1;
}

KILN_INLINE kiln_status check_context(const kiln_context *context) {
  if (!context)
    return KILN_STATUS_OK;
  bool complete = KILN_HAS_FIELD(kiln_context, context, parallel_user);
  return context->abi_version == KILN_ABI_VERSION && complete ? KILN_STATUS_OK : KILN_STATUS_ABI_MISMATCH;
}

// The largest whole number that is not above. The C library's floor is none of what a model may call, and not all CPUs have an instruction.
KILN_INLINE double whole_part(double number) {
  constexpr double allWhole = 4503599627370496.0; // 2^52
  if (!(number > -allWhole && number < allWhole))
    return number;
  const double cut = double(int64_t(number));
  return cut > number ? cut - 1 : cut;
}

// The work of a launch, counted in double, which no dimensions overflow. What passes 64 bits is the most they hold.
KILN_INLINE int64_t count_work(double work) { return work > 0 ? work < 0x1p63 ? int64_t(work) : INT64_MAX : 0; }
KILN_INLINE double work_above_zero(double work) { return work > 0 ? work : 0; }
KILN_INLINE double work_quotient(double work, double parts) { return whole_part(work / (parts > 1 ? parts : 1)); }
KILN_INLINE double work_remainder(double work, double parts) { return work - parts * work_quotient(work, parts); }

// Sets the work of a launch from the arguments of its kernel.
using work_counter = void (*)(const void *argument, kiln_kernel_info &info);

// Runs a kernel over its tasks: split by the context when it can, and reported to the profiler when there is one, which
// alone has the work counted. Without a counter, the work is that of the table of launches.
KILN_INLINE void run_tasks(const kiln_context *context, const kiln_kernel_info &kernel, kiln_task task, void *argument, int64_t tasks, bool parallel,
                           work_counter count) {
  if (tasks <= 0)
    return;
  const bool profiled = context && KILN_HAS_FIELD(kiln_context, context, on_kernel_user) && context->on_kernel;
  kiln_kernel_info info;
  if (profiled) {
    info = kernel;
    info.tasks = tasks;
    if (count)
      count(argument, info);
    context->on_kernel(context->on_kernel_user, &info, KILN_KERNEL_BEGIN);
  }
  if (parallel && tasks > 1 && context && context->parallel_for)
    context->parallel_for(context->parallel_user, tasks, task, argument);
  else
    task(argument, 0, tasks);
  if (profiled)
    context->on_kernel(context->on_kernel_user, &info, KILN_KERNEL_END);
}

// The same, as one function for all: in entries of very many launches a copy for each takes a compiler long, and where programs lie in flash it takes room.
// Kiln finds it by its name when it adds up what the stack must hold: its callers name the tasks that it calls.
[[maybe_unused]] __attribute__((noinline)) static void launch_shared(const kiln_context *context, const kiln_kernel_info &kernel, kiln_task task,
                                                                     void *argument, int64_t tasks, bool parallel, work_counter count = nullptr) {
  run_tasks(context, kernel, task, argument, tasks, parallel, count);
}

// The same for an entry of some launches.
KILN_INLINE void launch(const kiln_context *context, const kiln_kernel_info &kernel, kiln_task task, void *argument, int64_t tasks, bool parallel,
                        work_counter count = nullptr) {
#if (defined(__arm__) && !defined(__linux__)) || (defined(__riscv) && __riscv_xlen == 32)
  launch_shared(context, kernel, task, argument, tasks, parallel, count);
#else
  run_tasks(context, kernel, task, argument, tasks, parallel, count);
#endif
}

// Whether a struct of `count` pointers, of whatever types, has one that is NULL.
KILN_INLINE bool has_null(const void *pointers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const void *pointer;
    __builtin_memcpy(&pointer, static_cast<const unsigned char *>(pointers) + i * sizeof pointer, sizeof pointer);
    if (!pointer)
      return true;
  }
  return false;
}

} // namespace kiln

#endif // KILN_ENTRY_H
