/* A stage of a pipeline as a process under MPI. Usage: mpirun -np 1 stage0 FILE : -np 1 stage1 FILE : -np 1 stage2 FILE
 * Each program has one stage and its weights (-DSTAGE=net_stage1), and rank K has stage K. The last one writes the outputs of all micro-batches to FILE.
 * Compiled with -DWHOLE, it is a process that has the model in one piece, and no MPI. */
#ifdef WHOLE
#include "whole.h"
#else
#include "kiln/mpi.h"
#include "kiln/pipeline.h"
#define QUOTE(text) #text
#define HEADER(name) QUOTE(name.h)
#include HEADER(STAGE)
#endif
#include "kiln/runtime.h"
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 24, SIZE = 4 * 48 };

static float x[COUNT][SIZE], y[COUNT][SIZE];

static void fill(void) {
  for (int m = 0; m < COUNT; ++m)
    for (int i = 0; i < SIZE; ++i)
      x[m][i] = (float)((i * 37 + m * 11) % 101) / 50 - 1;
}

static int write_outputs(const char *path) {
  FILE *file = fopen(path, "wb");
  return file && fwrite(y, 1, sizeof(y), file) == sizeof(y) && fclose(file) == 0 ? 0 : 1;
}

#ifdef WHOLE
int main(int argc, char **argv) {
  static _Alignas(KILN_ALIGNMENT) char workspace[WHOLE_WORKSPACE_SIZE + 1];
  fill();
  for (int m = 0; m < COUNT; ++m) {
    whole_inputs in = {x[m]};
    whole_outputs out = {y[m]};
    if (whole_run(&in, &out, workspace, NULL))
      return 1;
  }
  return argc == 2 ? write_outputs(argv[1]) : 1;
}
#else
/* The stage of this program, whose name is a macro. */
#define STAGE_OF(name) KILN_STAGE(name)

static kiln_status run(kiln_communicator *communicator) {
  const void *inputs[COUNT][1];
  void *outputs[COUNT][1];
  kiln_micro_batch batches[COUNT];
  for (int m = 0; m < COUNT; ++m) {
    inputs[m][0] = x[m];
    outputs[m][0] = y[m];
    batches[m] = (kiln_micro_batch){inputs[m], outputs[m]};
  }
  kiln_context context = KILN_CONTEXT_INIT;
  context.communicator = communicator;
  const kiln_context *contexts[] = {&context};
  kiln_pipeline_options options = {KILN_ABI_VERSION, sizeof(options), NULL, contexts, NULL, 0, 0, NULL};
  kiln_stage stage = STAGE_OF(STAGE);
  kiln_pipeline *pipeline;
  kiln_status status = kiln_pipeline_create(&stage, 1, &options, &pipeline);
  if (!status)
    status = kiln_pipeline_run(pipeline, batches, COUNT, 0);
  kiln_pipeline_destroy(pipeline);
  return status;
}

int main(int argc, char **argv) {
  /* The pipeline makes calls of MPI on the thread that calls it. */
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  kiln_communicator *communicator = NULL;
  kiln_status status = kiln_mpi_communicator_create(MPI_COMM_WORLD, 10000000000, &communicator);
  fill();
  if (!status)
    status = run(communicator);
  int rank = communicator ? communicator->rank : -1, last = communicator ? communicator->size - 1 : -1;
  printf("rank %d: %s\n", rank, kiln_status_string(status));
  fflush(stdout);
  if (status || argc != 2 || (rank == last && write_outputs(argv[1])))
    MPI_Abort(MPI_COMM_WORLD, 1);
  kiln_mpi_communicator_destroy(communicator);
  MPI_Finalize();
  return 0;
}
#endif
