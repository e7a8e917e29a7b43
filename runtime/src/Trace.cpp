// The trace of a profiler, in the format of Chrome, which Perfetto reads. A launch is an event on the thread that runs the model. The stretches of tasks
// that threads took are events below it, and on the threads of the pool.
#include "Profiler.h"
#include "System.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

using namespace kiln;

namespace {

struct Part {
  kiln_profiler *profiler;
  kiln_task task;
  void *arg;
};

void runPart(void *arg, int64_t begin, int64_t end) {
  const Part *part = static_cast<const Part *>(arg);
  const int64_t start = kiln_clock_ns();
  part->task(part->arg, begin, end);
  recordEvent(part->profiler, false, start, kiln_clock_ns(), begin, end);
}

void parallelFor(void *user, int64_t tasks, kiln_task task, void *arg) {
  kiln_profiler *profiler = static_cast<kiln_profiler *>(user);
  Part part = {profiler, task, arg};
  profiler->parallelFor(profiler->parallelUser, tasks, runPart, &part);
}

int64_t countEvents(const kiln_profiler *profiler) {
  return profiler->eventCount < profiler->eventCapacity ? profiler->eventCount : profiler->eventCapacity;
}

// The threads in the order of their first event, those that ran a model first.
struct ThreadNames {
  uint64_t *threads; // room for one for each event
  int32_t count;
  int32_t callers;

  int32_t find(uint64_t thread) {
    for (int32_t i = 0; i < count; ++i)
      if (threads[i] == thread)
        return i;
    threads[count] = thread;
    return count++;
  }
};

void writeText(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; ++text) {
    const unsigned char byte = static_cast<unsigned char>(*text);
    if (byte < 0x20 || byte == '"' || byte == '\\')
      fprintf(file, "\\u%04x", byte);
    else
      fputc(byte, file);
  }
  fputc('"', file);
}

void writeField(FILE *file, const char *name, const char *text) {
  fprintf(file, "\"%s\":", name);
  writeText(file, text);
  fputc(',', file);
}

// A number with three decimals; the point of floating-point formats depends on the program's locale.
void writeThousandths(FILE *file, const char *name, int64_t number) {
  fprintf(file, "\"%s\":%" PRId64 ".%03d", name, number / 1000, int(number % 1000));
}

void writeEvent(FILE *file, const Event &event, int32_t thread, int64_t start) {
  fprintf(file, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"cat\":\"%s\",", thread, event.isLaunch ? "launch" : "tasks");
  writeField(file, "name", event.nodes);
  // Microseconds.
  writeThousandths(file, "ts", event.begin_ns - start);
  fputc(',', file);
  writeThousandths(file, "dur", event.end_ns - event.begin_ns);
  fprintf(file, ",\"args\":{");
  writeField(file, "kernel", event.name);
  if (!event.isLaunch) {
    fprintf(file, "\"first_task\":%" PRId64 ",\"end_task\":%" PRId64 "}}", event.first, event.end);
    return;
  }
  const double ns = event.end_ns > event.begin_ns ? double(event.end_ns - event.begin_ns) : 1;
  writeField(file, "model", event.model);
  writeField(file, "algorithm", event.algorithm);
  fprintf(file, "\"tasks\":%" PRId64 ",\"flops\":%" PRId64 ",\"bytes\":%" PRId64 ",", event.end, event.flops, event.bytes);
  writeThousandths(file, "gflops", int64_t(double(event.flops) / ns * 1000));
  fputc(',', file);
  writeThousandths(file, "gbps", int64_t(double(event.bytes) / ns * 1000));
  fprintf(file, "}}");
}

void writeNames(FILE *file, const ThreadNames &threads, const char *model) {
  fprintf(file, "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
  writeText(file, model);
  fprintf(file, "}}");
  for (int32_t i = 0; i < threads.count; ++i) {
    const bool isCaller = i < threads.callers;
    fprintf(file, ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s %d\"}}", i, isCaller ? "caller" : "worker",
            isCaller ? i : i - threads.callers + 1);
  }
}

void writeTrace(FILE *file, const kiln_profiler *profiler, ThreadNames *threads) {
  const int64_t count = countEvents(profiler);
  const Event *events = profiler->events;
  int64_t start = events[0].begin_ns;
  for (int64_t i = 0; i < count; ++i) {
    start = events[i].begin_ns < start ? events[i].begin_ns : start;
    if (events[i].isLaunch)
      threads->find(events[i].thread);
  }
  threads->callers = threads->count;
  for (int64_t i = 0; i < count; ++i)
    threads->find(events[i].thread);
  fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped_events\":%" PRId64 "},\"traceEvents\":[\n", profiler->eventCount - count);
  writeNames(file, *threads, events[0].model);
  for (int64_t i = 0; i < count; ++i)
    writeEvent(file, events[i], threads->find(events[i].thread), start);
  fprintf(file, "\n]}\n");
}

} // namespace

void kiln::recordParts(kiln_profiler *profiler, kiln_context *context) {
  if (!context->parallel_for || context->parallel_for == parallelFor)
    return;
  profiler->parallelFor = context->parallel_for;
  profiler->parallelUser = context->parallel_user;
  context->parallel_for = parallelFor;
  context->parallel_user = profiler;
}

void kiln::recordEvent(kiln_profiler *profiler, bool isLaunch, int64_t begin, int64_t end, int64_t firstTask, int64_t endTask) {
  const int64_t position = __atomic_fetch_add(&profiler->eventCount, 1, __ATOMIC_RELAXED);
  if (position >= profiler->eventCapacity)
    return;
  const kiln_kernel_info &kernel = profiler->current;
  profiler->events[position] = {kernel.model, kernel.name, kernel.nodes, kernel.algorithm, currentThread(), begin, end, firstTask, endTask,
                                isLaunch ? kernel.flops : 0, isLaunch ? kernel.bytes : 0, isLaunch};
}

kiln_status kiln_profiler_record(kiln_profiler *profiler, int64_t max_events) {
  if (!profiler)
    return KILN_STATUS_NULL_POINTER;
  if (max_events < 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  free(profiler->events);
  profiler->eventCount = profiler->eventCapacity = 0;
  profiler->events = max_events ? static_cast<Event *>(calloc(size_t(max_events), sizeof(Event))) : nullptr;
  if (max_events && !profiler->events)
    return KILN_STATUS_OUT_OF_MEMORY;
  profiler->eventCapacity = max_events;
  return KILN_STATUS_OK;
}

int64_t kiln_profiler_events(const kiln_profiler *profiler) { return profiler ? countEvents(profiler) : 0; }

kiln_status kiln_profiler_write_trace(const kiln_profiler *profiler, const char *path) {
  if (!profiler || !path)
    return KILN_STATUS_NULL_POINTER;
  if (countEvents(profiler) == 0)
    return KILN_STATUS_INVALID_ARGUMENT;
  ThreadNames threads = {static_cast<uint64_t *>(calloc(size_t(countEvents(profiler)), sizeof(uint64_t))), 0, 0};
  if (!threads.threads)
    return KILN_STATUS_OUT_OF_MEMORY;
  FILE *file = openToWrite(path);
  bool isWritten = file != nullptr;
  if (file) {
    writeTrace(file, profiler, &threads);
    isWritten = ferror(file) == 0;
    isWritten = fclose(file) == 0 && isWritten;
  }
  free(threads.threads);
  return isWritten ? KILN_STATUS_OK : KILN_STATUS_INVALID_ARGUMENT;
}
