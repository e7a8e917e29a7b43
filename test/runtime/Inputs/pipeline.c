/* A model in three stages and the same model in one piece: by hand, as a pipeline of threads, and as ranks that have one stage each. All must have the same bits. */
#include "kiln/pipeline.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#include "net.h"
#include "whole.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 12, IN = 4 * 48, OUT = 4 * 48 };

static float x[COUNT][IN], expected[COUNT][OUT], got[COUNT][OUT];
static const void *inputs[COUNT][1];
static void *outputs[COUNT][1];
static kiln_micro_batch batches[COUNT];
static const kiln_stage stages[] = {KILN_STAGE(net_stage0), KILN_STAGE(net_stage1), KILN_STAGE(net_stage2)};

static void check(const char *how, kiln_status status) {
  int same = memcmp(expected, got, sizeof(got)) == 0;
  printf("%s: %s, %s\n", how, kiln_status_string(status), same ? "the same bits" : "OTHER BITS");
  if (status || !same)
    exit(1);
  memset(got, 0, sizeof(got));
}

/* What the header has is enough: the outputs of a stage are inputs of later ones under the same names. */
static kiln_status run_by_hand(int m) {
  /* One workspace for all, because one stage runs after the other; of no bytes where all need none. */
  static _Alignas(KILN_ALIGNMENT) char workspace[NET_STAGE0_WORKSPACE_SIZE + NET_STAGE1_WORKSPACE_SIZE + NET_STAGE2_WORKSPACE_SIZE + 1];
  static float skip[4 * 48], first[4 * 48], second[4 * 48]; /* as the header says of relu_0, relu_1 and relu_2 */
  net_stage0_inputs in0 = {.x = x[m]};
  net_stage0_outputs out0 = {.relu_0 = skip, .relu_1 = first};
  kiln_status status = net_stage0_run(&in0, &out0, workspace, NULL);
  net_stage1_inputs in1 = {.relu_1 = first};
  net_stage1_outputs out1 = {.relu_2 = second};
  if (!status)
    status = net_stage1_run(&in1, &out1, workspace, NULL);
  net_stage2_inputs in2 = {.relu_0 = skip, .relu_2 = second};
  net_stage2_outputs out2 = {.y = got[m]};
  return status ? status : net_stage2_run(&in2, &out2, workspace, NULL);
}

typedef struct rank {
  pthread_t thread;
  int number;
  const kiln_communicator *communicator;
  kiln_status status;
} rank;

static void *run_rank(void *argument) {
  rank *self = argument;
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = self->communicator;
  const kiln_context *contexts[] = {&context};
  kiln_pipeline_options options = {KILN_ABI_VERSION, sizeof(options), NULL, contexts, NULL, 0, 0};
  kiln_pipeline *pipeline;
  self->status = kiln_pipeline_create(&stages[self->number], 1, &options, &pipeline);
  if (!self->status)
    self->status = kiln_pipeline_run(pipeline, batches, COUNT, 0);
  kiln_pipeline_destroy(pipeline);
  return NULL;
}

static kiln_status run_ranks(void) {
  kiln_local_ranks *ranks;
  kiln_status status = kiln_local_ranks_create(3, 10000000000, &ranks);
  rank all[3];
  for (int k = 0; k < 3 && !status; ++k) {
    all[k].number = k;
    all[k].communicator = kiln_local_ranks_get(ranks, k);
    pthread_create(&all[k].thread, NULL, run_rank, &all[k]);
  }
  for (int k = 0; k < 3; ++k) {
    pthread_join(all[k].thread, NULL);
    if (!status)
      status = all[k].status;
  }
  kiln_local_ranks_destroy(ranks);
  return status;
}

int main(void) {
  static _Alignas(KILN_ALIGNMENT) char workspace[WHOLE_WORKSPACE_SIZE + 1];
  for (int m = 0; m < COUNT; ++m) {
    for (int i = 0; i < IN; ++i)
      x[m][i] = (float)((i * 37 + m * 11) % 101) / 50 - 1;
    whole_inputs in = {x[m]};
    whole_outputs out = {expected[m]};
    if (whole_run(&in, &out, workspace, NULL))
      return 1;
    inputs[m][0] = x[m];
    outputs[m][0] = got[m];
    batches[m] = (kiln_micro_batch){inputs[m], outputs[m]};
  }
  kiln_status status = KILN_STATUS_OK;
  for (int m = 0; m < COUNT && !status; ++m)
    status = run_by_hand(m);
  check("by hand", status);

  kiln_pipeline *pipeline;
  status = kiln_pipeline_create(stages, 3, NULL, &pipeline);
  for (int round = 0; round < 3 && !status; ++round)
    status = kiln_pipeline_run(pipeline, batches, COUNT, 60000000000);
  if (!status)
    printf("%s -> %s\n", kiln_pipeline_input(pipeline, 0)->name, kiln_pipeline_output(pipeline, 0)->name);
  kiln_pipeline_destroy(pipeline);
  check("threads", status);
  check("ranks", run_ranks());
  printf("weights: %lld of %lld bytes\n", (long long)net_stage0_info.weights_size, (long long)whole_info.weights_size);
  return 0;
}
