/* Calls `found` with buffers of exactly the size that its header asks for. */
#include "found.h"
#include <stdio.h>
#include <stdlib.h>

#if FOUND_COMPUTED_DIMS != 2
#error "two dimensions are computed"
#endif

int show(const char *what, int64_t rows, const float *x, const int64_t *ids);

int show(const char *what, int64_t rows, const float *x, const int64_t *ids) {
  found_dims dims = {rows, -1, -1};
  int64_t words[FOUND_WORDS_MOST_ELEMENTS], *at = malloc((size_t)FOUND_AT_MOST_ELEMENTS(&dims) * sizeof *at);
  float total;
  void *workspace = aligned_alloc(KILN_ALIGNMENT, (found_workspace_size(&dims) + KILN_ALIGNMENT) / KILN_ALIGNMENT * KILN_ALIGNMENT);
  found_inputs in = {x, ids};
  found_outputs out = {at, words, &total};
  kiln_status status = found_run(&dims, &in, &out, workspace, NULL);
  printf("%s: %d at", what, (int)dims.at_count);
  for (int64_t i = 0; i < dims.at_count; ++i)
    printf(" (%d,%d)", (int)at[i], (int)at[dims.at_count + i]);
  printf(", %d words", (int)dims.words_count);
  for (int64_t i = 0; i < dims.words_count; ++i)
    printf(" %d", (int)words[i]);
  printf("\n");
  free(at);
  free(workspace);
  return status != KILN_STATUS_OK || dims.rows != rows;
}
