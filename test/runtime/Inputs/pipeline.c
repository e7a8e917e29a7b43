/* A model in three stages and the same model in one piece: by hand, as a pipeline of threads, and as ranks
 * that have one stage each, in threads and in processes. All must have the same bits. */
#include "kiln/pipeline.h"
#include "kiln/ranks.h"
#include "kiln/runtime.h"
#include "net.h"
#include "whole.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 12, IN = 4 * 48, OUT = 4 * 48 };

static float x[COUNT][IN], expected[COUNT][OUT];
static float (*got)[OUT]; /* shared with child processes */
static const void *inputs[COUNT][1];
static void *outputs[COUNT][1];
static kiln_micro_batch batches[COUNT];
static const kiln_stage stages[] = {KILN_STAGE(net_stage0), KILN_STAGE(net_stage1), KILN_STAGE(net_stage2)};

static void check(const char *how, kiln_status status) {
  int same = memcmp(expected, got, sizeof(expected)) == 0;
  printf("%s: %s, %s\n", how, kiln_status_string(status), same ? "the same bits" : "OTHER BITS");
  if (status || !same)
    exit(1);
  memset(got, 0, sizeof(expected));
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
  kiln_pipeline_options options = {KILN_ABI_VERSION, sizeof(options), NULL, contexts, NULL, 0, 0, NULL};
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

/* A communicator of the program's own: a socket to each of the other processes. */
typedef struct sockets {
  int rank, to[3];
} sockets;

static kiln_status put(void *user, int32_t rank, const void *data, int64_t bytes) {
  const char *from = data;
  for (ssize_t done; bytes > 0; from += done, bytes -= done)
    if ((done = write(((sockets *)user)->to[rank], from, (size_t)bytes)) <= 0)
      return KILN_STATUS_PEER_FAILED;
  return KILN_STATUS_OK;
}

static kiln_status take(void *user, int32_t rank, void *data, int64_t bytes) {
  char *to = data;
  for (ssize_t done; bytes > 0; to += done, bytes -= done)
    if ((done = read(((sockets *)user)->to[rank], to, (size_t)bytes)) <= 0)
      return KILN_STATUS_PEER_FAILED;
  return KILN_STATUS_OK;
}

/* Whether all have the same bytes. */
static kiln_status agree(sockets *self, const void *bytes, int64_t count, kiln_status otherwise) {
  char others[16];
  for (int32_t k = 0; k < 3; ++k)
    if (k != self->rank && put(self, k, bytes, count))
      return KILN_STATUS_PEER_FAILED;
  for (int32_t k = 0; k < 3; ++k)
    if (k != self->rank && (take(self, k, others, count) || memcmp(others, bytes, (size_t)count) != 0))
      return otherwise;
  return KILN_STATUS_OK;
}

static kiln_status begin(void *user, const uint8_t fingerprint[16]) { return agree(user, fingerprint, 16, KILN_STATUS_RANKS_MISMATCH); }

static kiln_status end(void *user, kiln_status status) {
  kiln_status all = agree(user, &status, sizeof(status), KILN_STATUS_PEER_FAILED);
  return status ? status : all;
}

static kiln_status run_processes(void) {
  int pairs[3][3];
  for (int a = 0; a < 3; ++a)
    for (int b = a + 1; b < 3; ++b) {
      int ends[2];
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return KILN_STATUS_PEER_FAILED;
      pairs[a][b] = ends[0];
      pairs[b][a] = ends[1];
    }
  for (int k = 0; k < 3; ++k)
    if (fork() == 0) {
      sockets own = {k, {pairs[k][0], pairs[k][1], pairs[k][2]}};
      kiln_communicator communicator = {.abi_version = KILN_ABI_VERSION, .struct_size = sizeof(communicator), .rank = k, .size = 3, .user = &own,
                                        .begin = begin, .end = end, .send = put, .receive = take};
      rank self = {.number = k, .communicator = &communicator};
      run_rank(&self);
      _exit((int)self.status);
    }
  kiln_status status = KILN_STATUS_OK;
  for (int k = 0, how; k < 3; ++k)
    if (wait(&how) < 0 || !WIFEXITED(how) || WEXITSTATUS(how))
      status = KILN_STATUS_PEER_FAILED;
  return status;
}

int main(void) {
  got = mmap(NULL, sizeof(expected), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED)
    return 1;
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
  fflush(stdout);
  check("processes", run_processes());
  printf("weights: %lld of %lld bytes\n", (long long)net_stage0_info.weights_size, (long long)whole_info.weights_size);
  return 0;
}
