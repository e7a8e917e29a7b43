/* Calls a model with dimensions inside, at and outside of their bounds. */
#include "m.h"
#include <stdio.h>

static float x[64], w[64], y[6];
static _Alignas(64) unsigned char workspace[1 << 16];

static int expect(int64_t n, int64_t m, kiln_status want) {
  m_dims dims = {n, m};
  m_inputs inputs = {x, w};
  m_outputs outputs = {y};
  if (want == KILN_STATUS_OK && m_workspace_size(&dims) > sizeof(workspace))
    return printf("the workspace is too small\n");
  kiln_status got = m_run(&dims, &inputs, &outputs, workspace, NULL);
  return got == want ? 0 : printf("N = %d, M = %d: status %d, expected %d\n", (int)n, (int)m, (int)got, (int)want);
}

int main(void) {
  int wrong = expect(2, 2, KILN_STATUS_OK) + expect(8, 8, KILN_STATUS_OK);
  wrong += expect(1, 1, KILN_STATUS_DIMENSION_OUT_OF_BOUNDS) + expect(9, 8, KILN_STATUS_DIMENSION_OUT_OF_BOUNDS);
  wrong += expect(-1, 8, KILN_STATUS_DIMENSION_OUT_OF_BOUNDS) + expect(8, 0, KILN_STATUS_DIMENSION_OUT_OF_BOUNDS);
  wrong += expect(4, 5, KILN_STATUS_DIMENSION_MISMATCH);
  return wrong != 0;
}
