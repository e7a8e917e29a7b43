// Calls the model of the tests of targets, and prints the sum of a softmax.
#include "net.h"

#include <stdio.h>

int main() {
  static float x[768];
  static uint8_t a[29 * 37];
  static float y[10];
  static int32_t z[29 * 21];
  for (int i = 0; i < 768; ++i)
    x[i] = float(i % 13) - 6;
  const net_inputs in = {x, a};
  const net_outputs out = {y, z};
  alignas(64) static char workspace[NET_WORKSPACE_SIZE + 1];
  if (net_run(&in, &out, workspace, nullptr) != KILN_STATUS_OK)
    return 1;
  float sum = 0;
  for (float value : y)
    sum += value;
  printf("sum %.3f by %s\n", double(sum), net_target());
  return 0;
}
