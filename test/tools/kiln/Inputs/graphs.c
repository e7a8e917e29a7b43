/* Two models of one library: the table, the sizes, and a tensor that one writes and the other reads. graphs [WEIGHTS] */
#include "mt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 3, WIDTH = 64, PICKED = 2 };

static _Alignas(64) unsigned char workspace[1 << 16], weights[1 << 15];
static float x[ROWS * WIDTH], middle[ROWS * WIDTH], y[ROWS * WIDTH], rows[PICKED * WIDTH];

static float weight(int row, int column) { return (float)(-1 + 2.0 * (row * WIDTH + column) / (WIDTH * WIDTH - 1)); }

/* The product with the weights, times `sign`, beside what the model gives. */
static int is_product(const float *in, const float *out, double sign) {
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < WIDTH; ++j) {
      double sum = 0, size = 0;
      for (int k = 0; k < WIDTH; ++k) {
        sum += sign * in[i * WIDTH + k] * weight(k, j);
        size += fabs(in[i * WIDTH + k] * (double)weight(k, j));
      }
      if (!(fabs(sum - out[i * WIDTH + j]) <= 1e-5 * size))
        return 0;
    }
  return 1;
}

static int run(void) {
  const int64_t ids[PICKED] = {63, -64};
  mt_first_dims dims = {.N = ROWS};
  mt_second_dims more_dims = {.N = ROWS, .K = PICKED};
  mt_first_inputs in = {x};
  mt_first_outputs out = {middle};
  mt_second_inputs more_in = {middle, ids};
  mt_second_outputs more_out = {y, rows};
  if (mt_first_workspace_size(&dims) > sizeof workspace || mt_second_workspace_size(&more_dims) > sizeof workspace)
    return 0;
#ifdef MT_WEIGHTS_FILE
  return mt_first_run(&dims, &in, &out, weights, workspace, NULL) == KILN_STATUS_OK &&
         mt_second_run(&more_dims, &more_in, &more_out, weights, workspace, NULL) == KILN_STATUS_OK;
#else
  return mt_first_run(&dims, &in, &out, workspace, NULL) == KILN_STATUS_OK &&
         mt_second_run(&more_dims, &more_in, &more_out, workspace, NULL) == KILN_STATUS_OK;
#endif
}

int main(int argc, char **argv) {
  if (argc > 1) {
    FILE *file = fopen(argv[1], "rb");
    if (!file || fread(weights, 1, sizeof weights, file) != MT_WEIGHTS_SIZE)
      return 1;
    fclose(file);
  }
  int dims = 0;
  for (int i = 0; i < MT_NUM_GRAPHS; ++i)
    dims += mt_graphs[i]->num_symbols;
  for (int i = 0; i < MT_NUM_GRAPHS; ++i)
    printf("%s: %d inputs, %d outputs, %d dimensions in all\n", mt_graphs[i]->name, (int)mt_graphs[i]->num_inputs, (int)mt_graphs[i]->num_outputs, dims);
  printf("%d bytes of weights, of the first %d\n", (int)MT_WEIGHTS_SIZE, (int)MT_FIRST_WEIGHTS_SIZE);
  for (int i = 0; i < ROWS * WIDTH; ++i)
    x[i] = (float)(i % 7 - 3);
  if (!run())
    return 1;
  int picks = 1;
  for (int j = 0; j < WIDTH; ++j)
    picks &= fabs(rows[j] - weight(63, j)) < 1e-6 && fabs(rows[WIDTH + j] - weight(0, j)) < 1e-6;
  printf("the second takes what the first has written: %s, %s\n", is_product(x, middle, 1) && is_product(middle, y, -1) ? "equal" : "different",
         picks ? "equal" : "different");
  return 0;
}
