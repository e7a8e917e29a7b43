/* Reads the layouts from the table, and runs the model on tensors that have them. */
#include "net.h"
#include <stdio.h>
#include <string.h>

int main(void) {
  static float x[6 * 7 * 3], line[2 * 5 * 9], y[6 * 7 * 8], r[2 * 5 * 9];
  static _Alignas(64) char workspace[1 << 20];
  net_dims dims = {1};
  net_inputs inputs = {x, line};
  net_outputs outputs = {y, r};
  if (!KILN_HAS_FIELD(kiln_model_info, &net_info, output_layouts) || !net_info.input_layouts || !net_info.output_layouts)
    return 1;
  if (!net_info.input_layouts[0] || strcmp(net_info.input_layouts[0], "nhwc") || net_info.input_layouts[1])
    return 2;
  if (!net_info.output_layouts[0] || strcmp(net_info.output_layouts[0], "nhwc") || net_info.output_layouts[1] || net_info.inputs[0].dims[3] != 3)
    return 3;
  if (net_workspace_size(&dims) > sizeof workspace || net_run(&dims, &inputs, &outputs, workspace, NULL))
    return 4;
  printf("layouts agree\n");
  return 0;
}
