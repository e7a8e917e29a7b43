/* The rooms of outputs at a corner, and at the one where their products pass 2^64. */
#include "model.h"

int main(void) {
  model_dims dims = {};
  dims.a = 2, dims.b = 3, dims.c = 5, dims.d = 7, dims.n = 11;
  if (MODEL_AT_MOST_ELEMENTS(&dims) != 840 || MODEL_K_MOST_ELEMENTS(&dims) != 221)
    return 1;
  dims.a = dims.b = dims.c = dims.d = 65536;
  if (MODEL_AT_MOST_ELEMENTS(&dims) != INT64_MAX || model_workspace_size(&dims) != SIZE_MAX)
    return 2;
  dims.a = dims.b = dims.c = 1, dims.d = -1;
  if (MODEL_AT_MOST_ELEMENTS(&dims) != INT64_MAX || model_workspace_size(&dims) != SIZE_MAX)
    return 3;
  return model_workspace_size(NULL) == SIZE_MAX ? 0 : 4;
}
