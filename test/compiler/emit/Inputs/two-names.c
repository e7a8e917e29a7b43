/* Runs the model of source-folder.mlir under both its names. */
#include "first.h"
#include "second.h"

int main(void) {
  const float x[4] = {1, 10, 100, 1000};
  float y[4] = {0}, z[4] = {0};
  first_inputs inputs = {x};
  first_outputs outputs = {y};
  second_inputs others = {x};
  second_outputs results = {z};
  if (first_run(&inputs, &outputs, NULL, NULL) != KILN_STATUS_OK || second_run(&others, &results, NULL, NULL) != KILN_STATUS_OK)
    return 1;
  for (int i = 0; i < 4; ++i)
    if (y[i] != x[i] * (float)(4 - i) || z[i] != y[i])
      return 2;
  kiln_context context = KILN_CONTEXT_INIT;
  context.abi_version = 99;
  return first_run(&inputs, &outputs, NULL, &context) == KILN_STATUS_ABI_MISMATCH ? 0 : 3;
}
