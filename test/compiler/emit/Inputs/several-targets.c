/* Runs the model of several-targets.onnxtxt on the target that its library chooses, and says which. */
#include "net.h"

#include <math.h>
#include <stdio.h>

enum { rows = 3, inner = 16, columns = 40 };

/* Row `row` of the result, in double. */
static void expect(const float *x, double *y) {
  double sum = 0;
  for (int c = 0; c < columns; ++c) {
    double h = 2 - 4.0 * c / (columns - 1);
    for (int k = 0; k < inner; ++k)
      h += x[k] * (-1 + 2.0 * (k * columns + c) / (inner * columns - 1));
    sum += y[c] = exp(h);
  }
  for (int c = 0; c < columns; ++c)
    y[c] /= sum;
}

int main(void) {
  static float x[rows * inner], y[rows * columns];
  static _Alignas(64) unsigned char workspace[1 << 16];
  for (int i = 0; i < rows * inner; ++i)
    x[i] = (float)(i % 7) / 7;
  const char *target = net_target();
  net_dims dims = {rows};
  net_inputs inputs = {x};
  net_outputs outputs = {y};
  if (net_workspace_size(&dims) > sizeof(workspace))
    return 2;
  kiln_status status = net_run(&dims, &inputs, &outputs, workspace, NULL);
  printf("%s of %s: ", target ? target : "nothing", net_info.target);
  if (status != KILN_STATUS_OK) {
    printf("status %d\n", (int)status);
    return 0;
  }
  for (int row = 0; row < rows; ++row) {
    double want[columns];
    expect(x + row * inner, want);
    for (int c = 0; c < columns; ++c)
      if (fabs(y[row * columns + c] - want[c]) > 1e-5 * want[c]) {
        printf("%g at row %d, column %d, expected %g\n", y[row * columns + c], row, c, want[c]);
        return 1;
      }
  }
  puts("ok");
  return 0;
}
