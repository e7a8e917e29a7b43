// A model as the program around it calls it, whatever the model's name and the parameters of its functions are. No model can define these names.
#ifndef KILN_RUNNER_MODEL_H
#define KILN_RUNNER_MODEL_H

#include "kiln/abi.h"

extern "C" {
const kiln_model_info *model_info(void) __asm__("kiln.model_info");
const char *model_target(void) __asm__("kiln.model_target");
// `dims` is null for a model without dimensions, `weights` for one that has its weights in it.
size_t model_workspace_size(const int64_t *dims) __asm__("kiln.model_workspace_size");
kiln_status model_run(int64_t *dims, const void *const *in, char *const *out, const char *weights, void *workspace,
                      const kiln_context *context) __asm__("kiln.model_run");
}

#endif // KILN_RUNNER_MODEL_H
