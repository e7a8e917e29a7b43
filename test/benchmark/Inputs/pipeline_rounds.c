/* Micro-batches per second of a model in stages, which are threads, beside the model in one piece on one thread and on two; and the time of each stage alone.
 * stages.h, which test/benchmark/pipelines writes, includes both libraries and lists the stages.
 *
 * Usage: pipeline_rounds ROUNDS SECONDS INPUT=FILE... with the bytes of the inputs; one line of JSON for each round. */
#include "kiln/pipeline.h"
#include "kiln/runtime.h"
#include "stages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = sizeof(stages) / sizeof(stages[0]), MOST = 64 };
typedef kiln_status (*run_function)(const void *inputs, const void *outputs, void *workspace, const kiln_context *context);

static const kiln_stage whole = KILN_STAGE(whole);
static const void *inputs[MOST];
static void *outputs[MOST];

static void stop(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void check(kiln_status status) {
  if (status)
    stop("a run", kiln_status_string(status));
}

static void *allocate(int64_t bytes) {
  if (bytes < 0)
    stop("a tensor", "its size is not known when the model is compiled");
  void *memory;
  check(kiln_workspace_create((size_t)bytes + 1, &memory));
  memset(memory, 0, (size_t)bytes);
  return memory;
}

static void read_inputs(int count, char **arguments) {
  for (int i = 0; i < whole_info.num_inputs; ++i) {
    const kiln_tensor_info *tensor = &whole_info.inputs[i];
    inputs[i] = allocate(tensor->byte_size);
    size_t length = strlen(tensor->name);
    for (int k = 0; k < count; ++k)
      if (strncmp(arguments[k], tensor->name, length) == 0 && arguments[k][length] == '=') {
        FILE *file = fopen(arguments[k] + length + 1, "rb");
        if (!file || fread((void *)inputs[i], 1, (size_t)tensor->byte_size, file) != (size_t)tensor->byte_size)
          stop(arguments[k], "it has fewer bytes than the input");
        fclose(file);
      }
  }
  for (int i = 0; i < whole_info.num_outputs; ++i)
    outputs[i] = allocate(whole_info.outputs[i].byte_size);
}

/* One stage, or the whole model, with its pointers. */
typedef struct call {
  const kiln_stage *stage;
  const void *inputs[MOST];
  void *outputs[MOST];
  void *workspace;
} call;

static kiln_status run(const call *self, const kiln_context *context) {
  return ((run_function)self->stage->run)(self->inputs, self->outputs, self->workspace, context);
}

static const char *find_route(const kiln_model_info *info, const char *kind, const char *tensor) {
  char key[512];
  snprintf(key, sizeof(key), "kiln.%s.%s", kind, tensor);
  for (int64_t i = 0; i < info->num_metadata; ++i)
    if (strcmp(info->metadata[i].key, key) == 0)
      return info->metadata[i].value;
  return "";
}

/* Connects each stage with those before it by the names of borders. */
static void prepare_stage(call *calls, int number) {
  call *self = &calls[number];
  self->stage = &stages[number];
  const kiln_model_info *info = self->stage->info;
  self->workspace = allocate(info->workspace_size);
  for (int i = 0; i < info->num_inputs; ++i) {
    int given;
    if (sscanf(find_route(info, "input", info->inputs[i].name), "given %d", &given) == 1)
      self->inputs[i] = inputs[given];
    for (int from = 0; from < number && !self->inputs[i]; ++from)
      for (int k = 0; k < calls[from].stage->info->num_outputs; ++k)
        if (strcmp(calls[from].stage->info->outputs[k].name, info->inputs[i].name) == 0)
          self->inputs[i] = calls[from].outputs[k];
  }
  for (int i = 0; i < info->num_outputs; ++i)
    self->outputs[i] = allocate(info->outputs[i].byte_size);
}

/* Milliseconds of a call, over at least this many seconds. */
static double measure(const call *self, const kiln_context *context, double seconds) {
  check(run(self, context));
  int64_t start = kiln_clock_ns(), end = start;
  int64_t count = 0;
  for (; end - start < (int64_t)(seconds * 1e9); end = kiln_clock_ns(), ++count)
    check(run(self, context));
  return (double)(end - start) * 1e-6 / (double)count;
}

/* Milliseconds of a micro-batch in the pipeline, when many follow each other. */
static double measure_pipeline(kiln_pipeline *pipeline, int64_t count) {
  kiln_micro_batch *batches = calloc((size_t)count, sizeof(*batches));
  for (int64_t i = 0; i < count; ++i)
    batches[i] = (kiln_micro_batch){inputs, outputs};
  check(kiln_pipeline_run(pipeline, batches, STAGES, 0));
  int64_t start = kiln_clock_ns();
  check(kiln_pipeline_run(pipeline, batches, count, 0));
  double ms = (double)(kiln_clock_ns() - start) * 1e-6 / (double)count;
  free(batches);
  return ms;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  double seconds = atof(argv[2]);
  read_inputs(argc - 3, argv + 3);
  static call one, parts[STAGES];
  one.stage = &whole;
  memcpy(one.inputs, inputs, sizeof(inputs));
  memcpy(one.outputs, outputs, sizeof(outputs));
  one.workspace = allocate(whole_info.workspace_size);
  for (int i = 0; i < STAGES; ++i)
    prepare_stage(parts, i);
  kiln_pool *pool;
  check(kiln_pool_create(STAGES, &pool));
  kiln_context threads = KILN_CONTEXT_INIT;
  kiln_pool_context(pool, &threads);
  kiln_pipeline *pipeline;
  check(kiln_pipeline_create(stages, STAGES, NULL, &pipeline));
  for (int round = 0; round < atoi(argv[1]); ++round) {
    double alone = measure(&one, NULL, seconds), together = measure(&one, &threads, seconds);
    int64_t count = (int64_t)(seconds * 1000 * STAGES / alone) + 2 * STAGES;
    double staged = measure_pipeline(pipeline, count);
    printf("{\"one\": %g, \"threads\": %g, \"pipeline\": %g, \"stages\": [", alone, together, staged);
    for (int i = 0; i < STAGES; ++i)
      printf("%s%g", i ? ", " : "", measure(&parts[i], NULL, seconds));
    printf("]}\n");
  }
  kiln_pipeline_destroy(pipeline);
  kiln_pool_destroy(pool);
  return 0;
}
