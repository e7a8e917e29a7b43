/* Fills the inputs by the scales of the table, runs the model and reads the output by its scale. */
#include "kiln/convert.h"
#include "net.h"
#include <math.h>
#include <stdio.h>

int main(void) {
  const kiln_quantization_info *in = net_info.input_quantization, *out = net_info.output_quantization;
  const float numbers[6] = {-3.0f, -1.5f, 0.0f, 0.5f, 2.0f, 7.5f};
  float result[6];
  uint8_t x[6], other[6] = {0}, w[6];
  int8_t v[6], y[6];
  float z[6];
  int i;
  if (!KILN_HAS_FIELD(kiln_model_info, &net_info, output_quantization) || !in || !out || in[0].count != 1 || in[1].count != 3 || in[1].axis != 1 ||
      in[2].count != 0 || in[3].count != 0 || in[2].scales || out[0].count != 1 || out[0].axis != -1 || out[1].count != 2 || out[2].count != 0)
    return 1;
  kiln_quantize_u8_array(numbers, x, 1, 1, 6, in[0].scales, in[0].zero_points);
  kiln_quantize_i8_array(numbers, v, 2, 3, 1, in[1].scales, in[1].zero_points);
  net_inputs inputs = {x, v, other, other};
  net_outputs outputs = {y, w, z};
  static _Alignas(64) char workspace[NET_WORKSPACE_SIZE + 1];
  if (net_run(&inputs, &outputs, workspace, NULL))
    return 2;
  kiln_dequantize_i8_array(y, result, 1, 1, 6, out[0].scales, out[0].zero_points);
  for (i = 0; i < 6; ++i) {
    /* Half a step of each of the three. */
    float bound = in[0].scales[0] / 2 + in[1].scales[i % 3] / 2 + out[0].scales[0] / 2;
    if (fabsf(result[i] - 2 * numbers[i]) > bound * 1.0001f)
      return 3;
  }
  if (NET_Y_SCALE != out[0].scales[0] || NET_Y_ZERO_POINT != out[0].zero_points[0])
    return 4;
  printf("y agrees\n");
  return 0;
}
