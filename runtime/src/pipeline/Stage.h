// One stage of a pipeline: where its inputs come from, where its outputs go to, and its call.
#ifndef KILN_RUNTIME_PIPELINE_STAGE_H
#define KILN_RUNTIME_PIPELINE_STAGE_H

#include "kiln/pipeline.h"

namespace kiln {

struct StageOutput {
  const char *name;
  int32_t result;      // the number among the model's outputs, or -1: a border
  const char *readers; // the numbers of later stages, with spaces between them; empty: none
  int64_t bytes;
  size_t stride; // from one micro-batch to the next in `buffer`
  char *buffer;  // null for outputs of the model
};

struct StageInput {
  const char *name;
  int32_t given; // the number among the model's inputs, or -1: a border
  int32_t from;  // the stage that it comes from
  const StageOutput *source; // null: that stage is in another process
  int64_t bytes;
  char *buffer; // for what another process sends
};

struct Stage {
  kiln_stage library;
  const kiln_context *context;
  const int64_t *dims;
  int32_t number, count; // of the model's stages
  StageInput *inputs;
  StageOutput *outputs;
  const void **inputPointers;
  void **outputPointers;
  void *workspace;
  size_t workspaceBytes;

  bool isSharded() const { return KILN_HAS_FIELD(kiln_model_info, library.info, num_ranks) && library.info->num_ranks > 0; }
  // Whether its run takes the weights as an argument.
  bool takesWeights() const { return library.info->weights_file || isSharded(); }
  // Reads the library's table. The fields above the pointers are set.
  kiln_status read();
  bool readOutput(const char *text, StageOutput *output) const;
  // Allocates the workspace and the buffers of borders, `depth` of each.
  kiln_status allocate(int64_t depth);
  void free();
  kiln_status run(const kiln_micro_batch *batches, int64_t batch, int64_t depth);
  // The memory of an output in a micro-batch.
  static void *place(const StageOutput &output, const kiln_micro_batch &batch, int64_t slot) {
    return output.result >= 0 ? batch.outputs[output.result] : output.buffer + size_t(slot) * output.stride;
  }
};

// Takes the next number of a list with spaces; false at its end.
bool takeNumber(const char **list, int32_t *number);

} // namespace kiln

#endif // KILN_RUNTIME_PIPELINE_STAGE_H
