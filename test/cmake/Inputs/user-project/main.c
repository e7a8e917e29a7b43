/* Runs one model three ways: status 0 when all agree; prints the result. */
#include "mapped.h"
#include "own_model.h"
#include "packaged.h"

#include "kiln/runtime.h"
#include <stdio.h>

int main(void) {
  const float x[4] = {1, 2, 3, 4};
  float a[4], b[4], c[4];
  packaged_inputs in_a = {x};
  own_model_inputs in_b = {x};
  mapped_inputs in_c = {x};
  packaged_outputs out_a = {a};
  own_model_outputs out_b = {b};
  mapped_outputs out_c = {c};
  kiln_weights weights;
  if (kiln_weights_map(WEIGHTS_FILE, MAPPED_WEIGHTS_SIZE, MAPPED_WEIGHTS_CHECKSUM, &weights))
    return 1;
  if (packaged_run(&in_a, &out_a, NULL, NULL) || own_model_run(&in_b, &out_b, NULL, NULL) || mapped_run(&in_c, &out_c, weights.data, NULL, NULL))
    return 2;
  for (int i = 0; i < 4; ++i)
    if (a[i] != b[i] || a[i] != c[i])
      return 3;
  printf("%g %g %g %g\n", a[0], a[1], a[2], a[3]);
  kiln_weights_unmap(&weights);
  return 0;
}
