#include "packaged.h"

#include <stdio.h>

int main(void) {
  const float x[4] = {1, 2, 3, 4};
  float y[4];
  packaged_inputs inputs = {x};
  packaged_outputs outputs = {y};
  if (packaged_run(&inputs, &outputs, NULL, NULL))
    return 1;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  return 0;
}
