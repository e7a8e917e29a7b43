/* A model in stages (`kiln --stages=N`) as a pipeline, part of libkiln_runtime.a: while one stage computes a micro-batch, the one before it computes the
 * next. In one process each stage has a thread; across processes each has a rank of a communicator. C ABI, C11 and C++17.
 *
 *     static const kiln_stage stages[] = {KILN_STAGE(net_stage0), KILN_STAGE(net_stage1)};
 *     kiln_pipeline *pipeline;
 *     kiln_pipeline_create(stages, 2, NULL, &pipeline);
 *     kiln_pipeline_run(pipeline, batches, count, 0);
 *     kiln_pipeline_destroy(pipeline);
 *
 * Stages are put together by what their metadata says: kiln.stage and kiln.stages, and for each tensor where it comes from and goes to. Nothing is allocated
 * in a run. Borders between stages of one process are buffers of the pipeline, which nobody copies.
 *
 * The stages of a sharded model (`--stages=N --ranks=M`) are a pipeline on each rank, with that rank's weights; every stage's context has a communicator of
 * its own, with the M ranks of that stage. Borders go from a rank of one stage to the same rank of another. */
#ifndef KILN_PIPELINE_H
#define KILN_PIPELINE_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stage: the functions of its library. */
typedef struct kiln_stage {
  const kiln_model_info *info;
  void (*run)(void);            /* NAME_run, whatever its arguments */
  void (*workspace_size)(void); /* NAME_workspace_size */
  const void *weights;          /* the contents of the weights file where there is one, of the rank's if it is sharded, else NULL */
} kiln_stage;

/* The stage of this name, with embedded weights. */
#define KILN_STAGE(name) {&name##_info, (void (*)(void))name##_run, (void (*)(void))name##_workspace_size, NULL}

/* The inputs and outputs of the whole model for one micro-batch, in the order that they have in the model. Where a process has one stage only, those that
 * the stage has none of may be NULL. */
typedef struct kiln_micro_batch {
  const void *const *inputs;
  void *const *outputs;
} kiln_micro_batch;

/* What a pipeline needs besides its stages. A NULL pointer to it means zeros. */
typedef struct kiln_pipeline_options {
  uint32_t abi_version; /* KILN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(kiln_pipeline_options) when it was filled in */
  const int64_t *dims;  /* the dimensions of the model, the fields of NAME_dims in their order; NULL if it has none */
  const kiln_context *const *contexts; /* one for each of `stages`, or NULL: one thread for each. They must outlive the pipeline */
  const int32_t *ranks; /* the rank of each stage of the model, for stages of other processes; NULL: stage K has rank K */
  int32_t depth;        /* the most micro-batches that are on their way at one time; 0: one more than there are stages */
  uint32_t reserved;    /* 0 */
  /* Over which borders go to stages of other processes; NULL: that of the stage's context. Stages that are sharded need it, because the one in their context
   * is among the ranks of the stage. */
  const kiln_communicator *communicator;
} kiln_pipeline_options;

/* Stages with their workspaces, borders and threads. */
typedef struct kiln_pipeline kiln_pipeline;

/* Makes a pipeline of all stages of a model, in their order, each with a thread; or of one stage, the others of which are at other ranks of the options'
 * communicator, or of that of its context. The caller owns *pipeline and frees it with kiln_pipeline_destroy(). Fails with
 * INVALID_ARGUMENT (stages that do not belong together, metadata that is none of Kiln's, or neither all stages nor one of them), NULL_POINTER (no dimensions,
 * or no weights), ABI_MISMATCH, SIZE_OVERFLOW, MISSING_COMMUNICATOR (one stage of several, and no communicator that has the ranks), OUT_OF_MEMORY or
 * THREAD_FAILURE, and then *pipeline is NULL. Any thread. */
kiln_status kiln_pipeline_create(const kiln_stage *stages, int32_t count, const kiln_pipeline_options *options, kiln_pipeline **pipeline);

/* Ends the threads and frees all memory. NULL is allowed. No run may be in progress. */
void kiln_pipeline_destroy(kiln_pipeline *pipeline);

/* The tensor that is input or output `number` of the model, NULL if no stage of this process has it. It belongs to the stage's library. */
const kiln_tensor_info *kiln_pipeline_input(const kiln_pipeline *pipeline, int32_t number);
const kiln_tensor_info *kiln_pipeline_output(const kiln_pipeline *pipeline, int32_t number);

/* Runs `count` micro-batches through the stages, in their order, and returns when all are done. The first error of a stage ends all others: no stage
 * begins another micro-batch, and the error is returned after those that had begun. So it is with deadline_ns nanoseconds, if it is not 0: no stage begins
 * anything after them, and the status is KILN_STATUS_PEER_LATE. Outputs of a run that failed are unspecified. With stages of other processes, all ranks must
 * call it with the same `count`, on one thread each; an error of one is KILN_STATUS_PEER_FAILED, or a status of the communicator's, on the others, within
 * the communicator's deadline. One thread at a time. */
kiln_status kiln_pipeline_run(kiln_pipeline *pipeline, const kiln_micro_batch *batches, int64_t count, int64_t deadline_ns);

/* The number of the stage whose error ended the last run; -1 if there was none, or if it was not of a stage. */
int32_t kiln_pipeline_failed_stage(const kiln_pipeline *pipeline);

#ifdef __cplusplus
}
#endif

#endif /* KILN_PIPELINE_H */
