// What a profiler has collected: sums for each launch of a model, and for a trace each launch of each run by itself.
#ifndef KILN_RUNTIME_PROFILER_H
#define KILN_RUNTIME_PROFILER_H

#include "kiln/runtime.h"

namespace kiln {

// A launch, or the tasks [first, end) of one that a thread ran at a stretch.
struct Event {
  const char *model;
  const char *name;
  const char *nodes;
  const char *algorithm;
  uint64_t thread;
  int64_t begin_ns;
  int64_t end_ns;
  int64_t first;
  int64_t end;
  int64_t flops; // of a launch; a part has none
  int64_t bytes;
  bool isLaunch;
};

} // namespace kiln

struct kiln_profiler {
  kiln_profile_entry *entries;
  int32_t capacity;
  int32_t count;
  int32_t last; // entry of the launch before; the next one usually stands right behind it
  int64_t begin;
  int64_t dropped;
  // Of the trace: the launch that runs, and room for events, which threads take by counting up.
  kiln_kernel_info current;
  kiln::Event *events;
  int64_t eventCapacity;
  int64_t eventCount;
  // The threads of the context that is recorded.
  kiln_parallel_for parallelFor;
  void *parallelUser;
};

namespace kiln {

// Has the profiler record the parts that threads run of the context's launches.
void recordParts(kiln_profiler *profiler, kiln_context *context);

// Adds an event of the launch that runs, on the thread that calls.
void recordEvent(kiln_profiler *profiler, bool isLaunch, int64_t begin, int64_t end, int64_t firstTask, int64_t endTask);

} // namespace kiln

#endif // KILN_RUNTIME_PROFILER_H
