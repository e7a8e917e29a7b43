/* A model in two stages, each for two ranks, and the same model for two ranks in one piece: in a pipeline on each rank, and with a thread for each rank of each
 * stage, as processes would be. All must have the same bits.
 *
 * Usage: sharded_stages STAGES-FOLDER WHOLE-FOLDER */
#include "kiln/communicator.h"
#include "kiln/pipeline.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#include "net.h"
#include "whole.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 6, SIZE = 16 * 128, RANKS = 2, STAGES = 2 };
static const int64_t deadline = 20000000000;

static float x[COUNT][SIZE], expected[COUNT][SIZE], got[RANKS][COUNT][SIZE];
static kiln_stage stages[RANKS][STAGES] = {{KILN_STAGE(net_stage0), KILN_STAGE(net_stage1)}, {KILN_STAGE(net_stage0), KILN_STAGE(net_stage1)}};
static const void *whole_weights[RANKS];
static const void *inputs[COUNT][1];
static void *outputs[RANKS][COUNT][1];
static kiln_micro_batch batches[RANKS][COUNT];
/* Of the ranks of each stage, and of the stages on each rank. */
static kiln_local_ranks *of_stage[STAGES], *of_rank[RANKS];

static const void *load(const char *folder, const kiln_model_info *info, int rank) {
  char path[512];
  kiln_weights weights;
  snprintf(path, sizeof(path), "%s/%s", folder, info->rank_weights[rank].file);
  kiln_status status = kiln_weights_map(path, (size_t)info->rank_weights[rank].size, info->rank_weights[rank].checksum, &weights);
  if (status) {
    printf("%s: %s\n", path, kiln_status_string(status));
    exit(1);
  }
  return weights.data;
}

typedef struct worker {
  pthread_t thread;
  int rank, stage;
  kiln_status status;
} worker;

static void *run_whole(void *argument) {
  worker *self = argument;
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = kiln_local_ranks_get(of_stage[0], self->rank);
  void *workspace;
  size_t bytes = whole_workspace_size();
  self->status = kiln_workspace_create(bytes, &workspace);
  for (int m = 0; m < COUNT && !self->status; ++m) {
    whole_inputs in = {x[m]};
    whole_outputs out = {self->rank ? got[0][m] : expected[m]};
    self->status = whole_run(&in, &out, whole_weights[self->rank], workspace, &context);
  }
  kiln_workspace_destroy(workspace, bytes);
  return NULL;
}

/* All stages, with a communicator for each. */
static void *run_rank(void *argument) {
  worker *self = argument;
  kiln_context context[STAGES] = {KILN_CONTEXT_INIT, KILN_CONTEXT_INIT};
  for (int stage = 0; stage < STAGES; ++stage)
    context[stage].communicator = kiln_local_ranks_get(of_stage[stage], self->rank);
  const kiln_context *contexts[] = {&context[0], &context[1]};
  kiln_pipeline_options options = {KILN_ABI_VERSION, sizeof(options), NULL, contexts, NULL, 0, 0, NULL};
  kiln_pipeline *pipeline;
  self->status = kiln_pipeline_create(stages[self->rank], STAGES, &options, &pipeline);
  for (int round = 0; round < 2 && !self->status; ++round)
    self->status = kiln_pipeline_run(pipeline, batches[self->rank], COUNT, 0);
  kiln_pipeline_destroy(pipeline);
  return NULL;
}

/* One stage, whose ranks are in its context; the other stages are ranks of another communicator. */
static void *run_stage(void *argument) {
  worker *self = argument;
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = kiln_local_ranks_get(of_stage[self->stage], self->rank);
  const kiln_context *contexts[] = {&context};
  kiln_pipeline_options options = {KILN_ABI_VERSION, sizeof(options), NULL, contexts, NULL, 0, 0, NULL};
  kiln_pipeline *pipeline;
  if (kiln_pipeline_create(&stages[self->rank][self->stage], 1, &options, &pipeline) != KILN_STATUS_MISSING_COMMUNICATOR)
    exit(1);
  options.communicator = kiln_local_ranks_get(of_rank[self->rank], self->stage);
  self->status = kiln_pipeline_create(&stages[self->rank][self->stage], 1, &options, &pipeline);
  if (!self->status)
    self->status = kiln_pipeline_run(pipeline, batches[self->rank], COUNT, 0);
  kiln_pipeline_destroy(pipeline);
  return NULL;
}

static kiln_status run_all(void *(*run)(void *), int stage_count) {
  worker all[RANKS * STAGES];
  kiln_status status = KILN_STATUS_OK;
  for (int k = 0; k < RANKS * stage_count; ++k) {
    all[k] = (worker){.rank = k % RANKS, .stage = k / RANKS};
    pthread_create(&all[k].thread, NULL, run, &all[k]);
  }
  for (int k = 0; k < RANKS * stage_count; ++k) {
    pthread_join(all[k].thread, NULL);
    if (!status)
      status = all[k].status;
  }
  return status;
}

static void check(const char *how, kiln_status status) {
  int same = !memcmp(expected, got[0], sizeof(expected)) && !memcmp(expected, got[1], sizeof(expected));
  printf("%s: %s, %s\n", how, kiln_status_string(status), same ? "the same bits" : "OTHER BITS");
  if (status || !same)
    exit(1);
  memset(got, 0, sizeof(got));
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  for (int k = 0; k < 2; ++k)
    if (kiln_local_ranks_create(RANKS, deadline, &of_stage[k]) || kiln_local_ranks_create(STAGES, deadline, &of_rank[k]))
      return 1;
  for (int rank = 0; rank < RANKS; ++rank) {
    whole_weights[rank] = load(argv[2], &whole_info, rank);
    stages[rank][0].weights = load(argv[1], &net_stage0_info, rank);
    stages[rank][1].weights = load(argv[1], &net_stage1_info, rank);
  }
  for (int m = 0; m < COUNT; ++m) {
    for (int i = 0; i < SIZE; ++i)
      x[m][i] = (float)((i * 37 + m * 11) % 101) / 50 - 1;
    inputs[m][0] = x[m];
    for (int rank = 0; rank < RANKS; ++rank) {
      outputs[rank][m][0] = got[rank][m];
      batches[rank][m] = (kiln_micro_batch){inputs[m], outputs[rank][m]};
    }
  }
  if (run_all(run_whole, 1))
    return 1;
  check("pipelines", run_all(run_rank, 1));
  check("a stage each", run_all(run_stage, STAGES));
  printf("weights: %lld + %lld of %lld bytes\n", (long long)net_stage0_info.weights_size, (long long)net_stage1_info.weights_size,
         (long long)whole_info.weights_size);
  return 0;
}
