/* Runs the model by generated kernels and in oneDNN, with several batches on one and two threads, and compares. */
#include "mapped.h"
#include "own.h"

#include <kiln/onednn.h>
#include <kiln/runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { pixels = 64, classes = 10, most = 5 };

static int compare(int64_t batch, const kiln_context *context) {
  static float image[most * pixels], expected[most * classes], got[most * classes];
  for (int i = 0; i < most * pixels; ++i)
    image[i] = (float)(i * 7 % 17) / 16;
  own_dims own = {batch};
  mapped_dims dims = {batch};
  own_inputs own_in = {image};
  own_outputs own_out = {expected};
  mapped_inputs in = {image};
  mapped_outputs out = {got};
  void *own_workspace = aligned_alloc(KILN_ALIGNMENT, (own_workspace_size(&own) + 63) / 64 * 64);
  void *workspace = aligned_alloc(KILN_ALIGNMENT, (mapped_workspace_size(&dims) + 63) / 64 * 64);
  int failed = own_run(&own, &own_in, &own_out, own_workspace, context) || mapped_run(&dims, &in, &out, workspace, context);
  for (int i = 0; i < batch * classes; ++i)
    failed |= !(fabsf(expected[i] - got[i]) < 1e-5f);
  free(own_workspace);
  free(workspace);
  return failed;
}

int main(void) {
  kiln_pool *pool;
  kiln_context context;
  if (kiln_pool_create(2, &pool))
    return 1;
  kiln_pool_context(pool, &context);
  int failed = 0;
  for (int round = 0; round < 2; ++round)
    for (int64_t batch = 1; batch <= most; batch += 2)
      failed |= compare(batch, NULL) | compare(batch, &context);
  puts(failed ? "different results" : "same results");
  /* The shared library has functions of its own; these are harmless there. */
  kiln_onednn_release();
  failed |= compare(1, NULL);
  puts(failed ? "lost memory" : "kept memory");
  kiln_pool_destroy(pool);
  return failed;
}
