/* A program that calls a model, without a C library's headers. */
#include "net.h"

int main(void) {
  static float x[768], y[10];
  static uint8_t a[29 * 37];
  static int32_t z[29 * 21];
  static _Alignas(64) char workspace[NET_WORKSPACE_SIZE + 1];
  const net_inputs in = {x, a};
  const net_outputs out = {y, z};
  return (int)net_run(&in, &out, workspace, 0);
}
