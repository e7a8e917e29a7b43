/* Uses the model of header.mlir from C. */
#include "model.h"
#include "model.h"

int run_from_c(void);
int run_from_c(void) {
  float a[4] = {1, 2, 3, 4}, out[4] = {0};
  int64_t b[4] = {10, 20, 30, 40};
  model_dims dims = {2, 2};
  model_inputs inputs = {a, b};
  model_outputs outputs = {out};
  if (model_run(&dims, &inputs, &outputs, NULL, NULL) != KILN_STATUS_OK || out[3] != 44.0f)
    return 1;
  dims.batch = 9;
  if (model_run(&dims, &inputs, &outputs, NULL, NULL) != KILN_STATUS_DIMENSION_OUT_OF_BOUNDS)
    return 2;
  dims.batch = 3;
  if (model_run(&dims, &inputs, &outputs, NULL, NULL) != KILN_STATUS_DIMENSION_MISMATCH)
    return 3;
  inputs.run = NULL;
  if (model_run(&dims, &inputs, &outputs, NULL, NULL) != KILN_STATUS_NULL_POINTER)
    return 4;
  if (MODEL_WORKSPACE_SIZE != 0 || MODEL_BATCH_MAX != 8 || model_info.num_symbols != 2)
    return 5;
  return 0;
}
