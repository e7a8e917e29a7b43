#include "Profiler.h"
#include "System.h"

#include <stdlib.h>
#include <string.h>

namespace {

bool isEntryOf(const kiln_profile_entry &entry, const kiln_kernel_info *kernel) {
  return entry.index == kernel->index && (entry.model == kernel->model || strcmp(entry.model, kernel->model) == 0);
}

// The entry of a launch, made on its first call; NULL when there is no room.
kiln_profile_entry *findEntry(kiln_profiler *profiler, const kiln_kernel_info *kernel) {
  for (int32_t step = 1; step <= profiler->count; ++step) {
    int32_t position = (profiler->last + step) % profiler->count;
    if (isEntryOf(profiler->entries[position], kernel)) {
      profiler->last = position;
      return &profiler->entries[position];
    }
  }
  if (profiler->count == profiler->capacity)
    return nullptr;
  profiler->last = profiler->count++;
  kiln_profile_entry *entry = &profiler->entries[profiler->last];
  *entry = kiln_profile_entry{};
  entry->model = kernel->model;
  entry->name = kernel->name;
  entry->nodes = kernel->nodes;
  entry->algorithm = kernel->algorithm;
  entry->index = kernel->index;
  entry->min_ns = INT64_MAX;
  return entry;
}

/// The most that 64 bits hold when the sum passes it.
int64_t addUpTo64Bits(int64_t sum, int64_t count) { return __builtin_add_overflow(sum, count, &sum) ? INT64_MAX : sum; }

void onKernel(void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase) {
  kiln_profiler *profiler = static_cast<kiln_profiler *>(user);
  if (phase == KILN_KERNEL_BEGIN) {
    profiler->current = *kernel;
    profiler->begin = kiln_clock_ns();
    return;
  }
  int64_t end = kiln_clock_ns(), time = end - profiler->begin;
  if (profiler->events)
    kiln::recordEvent(profiler, true, profiler->begin, end, 0, kernel->tasks);
  kiln_profile_entry *entry = findEntry(profiler, kernel);
  if (!entry) {
    ++profiler->dropped;
    return;
  }
  ++entry->calls;
  entry->total_ns += time;
  entry->min_ns = time < entry->min_ns ? time : entry->min_ns;
  entry->max_ns = time > entry->max_ns ? time : entry->max_ns;
  entry->flops = addUpTo64Bits(entry->flops, kernel->flops);
  entry->bytes = addUpTo64Bits(entry->bytes, kernel->bytes);
}

} // namespace

int64_t kiln_clock_ns(void) { return kiln::readClock(); }

kiln_status kiln_profiler_create(int32_t max_kernels, kiln_profiler **result) {
  if (!result)
    return KILN_STATUS_NULL_POINTER;
  *result = nullptr;
  if (max_kernels < 1)
    return KILN_STATUS_INVALID_ARGUMENT;
  kiln_profiler *profiler = static_cast<kiln_profiler *>(calloc(1, sizeof(kiln_profiler)));
  if (!profiler)
    return KILN_STATUS_OUT_OF_MEMORY;
  profiler->entries = static_cast<kiln_profile_entry *>(calloc(size_t(max_kernels), sizeof(kiln_profile_entry)));
  if (!profiler->entries) {
    free(profiler);
    return KILN_STATUS_OUT_OF_MEMORY;
  }
  profiler->capacity = max_kernels;
  *result = profiler;
  return KILN_STATUS_OK;
}

void kiln_profiler_destroy(kiln_profiler *profiler) {
  if (!profiler)
    return;
  free(profiler->entries);
  free(profiler->events);
  free(profiler);
}

void kiln_profiler_attach(kiln_profiler *profiler, kiln_context *context) {
  if (!profiler || !context)
    return;
  context->on_kernel = onKernel;
  context->on_kernel_user = profiler;
  if (profiler->events)
    kiln::recordParts(profiler, context);
}

void kiln_profiler_reset(kiln_profiler *profiler) {
  if (!profiler)
    return;
  profiler->count = 0;
  profiler->last = 0;
  profiler->dropped = 0;
  profiler->eventCount = 0;
}

int32_t kiln_profiler_count(const kiln_profiler *profiler) { return profiler ? profiler->count : 0; }

int64_t kiln_profiler_dropped(const kiln_profiler *profiler) { return profiler ? profiler->dropped : 0; }

kiln_status kiln_profiler_entry(const kiln_profiler *profiler, int32_t position, kiln_profile_entry *entry) {
  if (!profiler || !entry)
    return KILN_STATUS_NULL_POINTER;
  if (position < 0 || position >= profiler->count)
    return KILN_STATUS_INVALID_ARGUMENT;
  *entry = profiler->entries[position];
  return KILN_STATUS_OK;
}
