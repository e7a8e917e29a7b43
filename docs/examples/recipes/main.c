/* Runs a compiled model, softmax over four numbers. */
#include "softmax.h"
#include <stdio.h>

static _Alignas(KILN_ALIGNMENT) unsigned char workspace[SOFTMAX_WORKSPACE_SIZE + 1];

int main(void) {
  const float x[4] = {1, 2, 3, 4};
  float y[4];
  const softmax_inputs inputs = {x};
  const softmax_outputs outputs = {y};
  kiln_status status = softmax_run(&inputs, &outputs, workspace, NULL);
  if (status)
    return (int)status;
  printf("%.4f %.4f %.4f %.4f\n", y[0], y[1], y[2], y[3]);
  return 0;
}
