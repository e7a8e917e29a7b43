/* Kernels of libacme.a on a few numbers, with threads of the runtime. */
#include "acme.h"
#include <kiln/runtime.h>
#include <stdio.h>

static _Alignas(KILN_ALIGNMENT) unsigned char workspace[1 << 16];

int main(void) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 1, 1, 1}, x[] = {0, 0, 0, 0}, w[] = {0, 0, 0, 0};
  float c[4], y[4], gated[4];
  kiln_pool *pool = NULL;
  kiln_context context = KILN_CONTEXT_INIT;
  if (kiln_pool_create(2, &pool))
    return 1;
  kiln_pool_context(pool, &context);
  if (acme_gemm_f32_workspace_size(2, 2, 3) > sizeof workspace || acme_soft_workspace_size(1, 4) > sizeof workspace)
    return 2;
  if (acme_gemm_f32(2, 2, 3, a, b, c, workspace, &context) || acme_soft(1, 4, x, y, workspace, NULL) || acme_gate(4, c, w, gated, workspace, NULL))
    return 3;
  printf("%g %g %g %g; %g; %g %g\n", c[0], c[1], c[2], c[3], y[3], gated[0], gated[3]);
  printf("%s\n", kiln_status_string(acme_gemm_f32(-1, 2, 3, a, b, c, workspace, NULL)));
  kiln_pool_destroy(pool);
  return 0;
}
