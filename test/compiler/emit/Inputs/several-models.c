/* Runs the models of several-models.onnxtxt: PROGRAM WEIGHTS. */
#include "digits.h"
#include "lstm.h"
#include "soft_a.h"
#include "soft_b.h"

#include "kiln/runtime.h"
#include <math.h>
#include <stdio.h>

static _Alignas(KILN_ALIGNMENT) unsigned char workspace[1 << 20];

static int run_softmax(void) {
  const float x[8] = {1, 2, 3, 4, -1, 0, 1, 100};
  float a[8], b[8];
  soft_a_dims dims_a = {2};
  soft_b_dims dims_b = {2};
  soft_a_inputs in_a = {x};
  soft_b_inputs in_b = {x};
  soft_a_outputs out_a = {a};
  soft_b_outputs out_b = {b};
  if (soft_a_run(&dims_a, &in_a, &out_a, workspace, NULL) || soft_b_run(&dims_b, &in_b, &out_b, workspace, NULL))
    return 1;
  int equal = 1;
  for (int i = 0; i < 8; ++i)
    equal &= fabsf(a[i] - b[i]) < 1e-6f;
  printf("two names: %s\n", equal ? "equal" : "different");
  return 0;
}

static int run_digits(void) {
  static float images[2 * 64], y[20];
  for (int i = 0; i < 128; ++i)
    images[i] = (float)(i * 7 % 17);
  digits_inputs in = {images};
  digits_outputs out = {y};
  if (digits_workspace_size() > sizeof(workspace) || digits_run(&in, &out, workspace, NULL))
    return 2;
  float sums[2] = {0, 0};
  for (int i = 0; i < 20; ++i)
    sums[i / 10] += y[i];
  printf("digits: sums %.3f %.3f\n", sums[0], sums[1]);
  return 0;
}

/* One step of the LSTM at a time in double; W runs from -1 to 1 and R from 1 to -1. */
static int is_lstm(const float *x, const float *y) {
  double h[2] = {0, 0}, c[2] = {0, 0};
  for (int t = 0; t < 5; ++t) {
    double gates[8];
    for (int g = 0; g < 8; ++g) {
      gates[g] = 0;
      for (int k = 0; k < 3; ++k)
        gates[g] += x[t * 3 + k] * (-1 + 2.0 * (g * 3 + k) / 23);
      for (int k = 0; k < 2; ++k)
        gates[g] += h[k] * (1 - 2.0 * (g * 2 + k) / 15);
    }
    for (int k = 0; k < 2; ++k) { /* ONNX's order: input, output, forget, cell */
      double input = 1 / (1 + exp(-gates[k])), output = 1 / (1 + exp(-gates[2 + k])), forget = 1 / (1 + exp(-gates[4 + k]));
      c[k] = forget * c[k] + input * tanh(gates[6 + k]);
      h[k] = output * tanh(c[k]);
      if (fabs(y[t * 2 + k] - h[k]) > 1e-5)
        return 0;
    }
  }
  return 1;
}

static int run_lstm(const char *path) {
  kiln_weights weights;
  if (kiln_weights_map(path, LSTM_WEIGHTS_SIZE, LSTM_WEIGHTS_CHECKSUM, &weights))
    return 3;
  float x[15], y[10];
  for (int i = 0; i < 15; ++i)
    x[i] = (float)(i % 4) - 1.5f;
  lstm_inputs in = {x};
  lstm_outputs out = {y};
  if (lstm_run(&in, &out, weights.data, workspace, NULL))
    return 4;
  kiln_status without = lstm_run(&in, &out, NULL, workspace, NULL);
  printf("lstm: %s, without its weights: %s\n", is_lstm(x, y) ? "ok" : "wrong", kiln_status_string(without));
  kiln_weights_unmap(&weights);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 5;
  int status = run_softmax();
  if (!status)
    status = run_digits();
  return status ? status : run_lstm(argv[1]);
}
